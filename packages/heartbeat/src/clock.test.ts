import { afterEach, describe, expect, it, vi } from 'vitest';
import { ManualClock, systemClock } from './clock.js';

describe('systemClock', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Replaces time and timers of Node.js; `fire` is what its timer calls. */
  function fakeNode(): { now: number; readonly waits: number[]; fire: () => void } {
    const node = { now: 1000.25, waits: [] as number[], fire: () => {} };
    vi.spyOn(performance, 'now').mockImplementation(() => node.now);
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((callback: () => void, ms: number) => {
      node.waits.push(ms);
      node.fire = callback;
    }) as unknown as typeof setTimeout);
    return node;
  }

  it('never goes back', () => {
    const times = Array.from({ length: 1000 }, () => systemClock.now());

    expect(times.every((time, index) => index === 0 || time >= times[index - 1]!)).toBe(true);
  });

  it('fires once, not before its deadline', async () => {
    const deadline = systemClock.now() + 3;
    const fired = await new Promise<number>((resolve) => {
      systemClock.at(deadline, () => {
        resolve(systemClock.now());
      });
    });

    expect(fired).toBeGreaterThanOrEqual(deadline);
  });

  it('does not fire when cancelled, and may be cancelled again', async () => {
    let fired = 0;
    const timer = systemClock.at(systemClock.now() + 1, () => fired++);
    timer.cancel();
    timer.cancel();
    await new Promise<void>((resolve) => {
      systemClock.at(systemClock.now() + 3, resolve);
    });

    expect(fired).toBe(0);
  });

  it.each([
    ['rounds a fraction up', 1005.5, 6],
    ['fires as soon as possible when the deadline has passed', 900, 0],
    ['waits no longer than a Node.js timer can, for a distant deadline', 1e12, 2 ** 31 - 1],
    ['does the same for a deadline that never comes', Infinity, 2 ** 31 - 1],
  ])('%s', (_, deadline, expected) => {
    const node = fakeNode();
    systemClock.at(deadline, () => {});

    expect(node.waits).toEqual([expected]);
  });

  it('keeps waiting if a Node.js timer fires early', () => {
    const node = fakeNode();
    const fired: number[] = [];
    systemClock.at(1010, () => fired.push(node.now));
    for (const now of [1004, 1009.5, 1010]) {
      node.now = now;
      node.fire();
    }

    expect(fired).toEqual([1010]);
    expect(node.waits).toEqual([10, 6, 1]);
  });
});

describe('ManualClock', () => {
  it('stands still until it is advanced', () => {
    const clock = new ManualClock(50);
    expect(clock.now()).toBe(50);
    clock.advance(10);
    expect(clock.now()).toBe(60);
    clock.advanceTo(100);
    expect(clock.now()).toBe(100);
  });

  it('never goes back', () => {
    const clock = new ManualClock(50);
    clock.advanceTo(10);

    expect(clock.now()).toBe(50);
  });

  it('fires what falls due on the way, each timer at its own deadline, ties in arming order', () => {
    const clock = new ManualClock();
    const fired: string[] = [];
    const at = (deadline: number, name: string) => clock.at(deadline, () => fired.push(`${name} @${clock.now()}`));
    at(30, 'c');
    at(10, 'a');
    at(20, 'b1');
    at(20, 'b2');
    at(31, 'd');
    clock.advance(30);

    expect(fired).toEqual(['a @10', 'b1 @20', 'b2 @20', 'c @30']);
    expect([clock.nextDeadline, clock.armed]).toEqual([31, 1]);
  });

  it('fires a timer that is armed on the way, even one that is due at once', () => {
    const clock = new ManualClock();
    const fired: string[] = [];
    clock.at(10, () => {
      fired.push('outer');
      clock.at(15, () => fired.push(`later @${clock.now()}`));
      clock.at(5, () => fired.push(`overdue @${clock.now()}`));
    });
    clock.advance(20);

    expect(fired).toEqual(['outer', 'overdue @10', 'later @15']);
    expect(clock.now()).toBe(20);
  });

  it('does not fire a timer that was cancelled, nor cancel one that has fired', () => {
    const clock = new ManualClock();
    const fired: string[] = [];
    const first = clock.at(10, () => {
      fired.push('first');
      second.cancel();
    });
    const second = clock.at(20, () => fired.push('second'));
    clock.advance(15);
    first.cancel();
    second.cancel();
    clock.advance(15);

    expect(fired).toEqual(['first']);
    expect(clock.armed).toBe(0);
  });

  it('jumps from timer to timer', () => {
    const clock = new ManualClock();
    const fired: number[] = [];
    for (const deadline of [30, 10, 10]) clock.at(deadline, () => fired.push(clock.now()));

    expect([clock.fireNext(), fired]).toEqual([true, [10]]);
    expect([clock.fireNext(), clock.fireNext(), clock.fireNext()]).toEqual([true, true, false]);
    expect([fired, clock.now(), clock.nextDeadline]).toEqual([[10, 10, 30], 30, Infinity]);
  });

  it('passes on an exception of a timer and keeps the others', () => {
    const clock = new ManualClock();
    clock.at(10, () => {
      throw new Error('bug');
    });
    clock.at(20, () => {});

    expect(() => {
      clock.advance(30);
    }).toThrow('bug');
    expect([clock.now(), clock.armed]).toEqual([10, 1]);
  });
});
