import { ManualClock } from '@proj/heartbeat';
import { describe, expect, it } from 'vitest';
import { deadlineOf, Watch } from './watch.js';

function watched(watch: Watch, next: (now: number) => number = () => Infinity) {
  const heard: number[] = [];
  const entry = deadlineOf({
    onDeadline: (now) => {
      heard.push(now);
      watch.set(entry, next(now));
    },
  });
  return { heard, entry };
}

/** A clock whose timers are late by the given time. */
class BusyClock extends ManualClock {
  lateMs = 0;

  override now(): number {
    return super.now() + this.lateMs;
  }
}

describe('a watch', () => {
  it('calls each entry at its deadline, with one timer for all', () => {
    const clock = new ManualClock();
    const watch = new Watch(clock);
    const [a, b] = [watched(watch), watched(watch, (now) => now + 50)];
    watch.set(a.entry, 100);
    watch.set(b.entry, 70);
    expect(clock.armed).toBe(1);
    clock.advanceTo(125);
    expect([a.heard, b.heard, clock.armed]).toEqual([[100], [70, 120], 1]);
  });

  it('leaves no timer behind when it is empty', () => {
    const clock = new ManualClock();
    const watch = new Watch(clock);
    const { entry } = watched(watch);
    watch.set(entry, 100);
    watch.set(entry, Infinity);
    expect(clock.armed).toBe(0);
    watch.set(entry, 100);
    clock.advanceTo(100);
    expect(clock.armed).toBe(0);
  });

  it('does not extend deadlines for a slightly late timer', () => {
    const clock = new BusyClock();
    const watch = new Watch(clock);
    const [first, second] = [watched(watch), watched(watch)];
    watch.set(first.entry, 100);
    watch.set(second.entry, 120);
    clock.lateMs = 50;
    clock.fireNext();
    expect([first.heard, second.heard]).toEqual([[150], [150]]);
  });

  it('does not count the time by which its timer was late', () => {
    const clock = new BusyClock();
    const watch = new Watch(clock);
    const [first, second] = [watched(watch), watched(watch)];
    watch.set(first.entry, 100);
    watch.set(second.entry, 300);
    clock.lateMs = 1_000;
    clock.fireNext();
    expect([first.heard, second.heard, watch.now(), clock.now()]).toEqual([[100], [], 100, 1_100]);
    clock.advance(199);
    expect(second.heard).toEqual([]);
    expect(watch.now()).toBe(299);
  });
});
