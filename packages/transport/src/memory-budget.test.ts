import { ManualClock } from '@proj/heartbeat';
import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryBudget } from './memory-budget.js';
import type { MemoryLevel, MemoryOwner } from './memory-budget.js';

const MAX = 6400;

/** An owner whose memory is set by hand. */
class Holder implements MemoryOwner {
  heldBytes = 0;
  asked: [number, string][] = [];
  levels: MemoryLevel[] = [];
  gives = 0;

  relieve(bytes: number, level: 'tight' | 'full'): number {
    this.asked.push([Math.round(bytes), level]);
    const given = Math.min(bytes, this.gives, this.heldBytes);
    this.heldBytes -= given;
    return given;
  }

  onLevel(level: MemoryLevel): void {
    this.levels.push(level);
  }
}

let clock: ManualClock;
let budget: MemoryBudget;
let one: Holder;
let other: Holder;
beforeEach(() => {
  clock = new ManualClock();
  budget = new MemoryBudget(MAX, clock);
  one = new Holder();
  other = new Holder();
  budget.add(one);
  budget.add(other);
});

function hold(bytes: number): MemoryLevel {
  one.heldBytes = bytes;
  budget.look();
  return budget.level;
}

describe('a budget of memory', () => {
  it('is tight from 80 % on until it is below 70 %, full from 100 % on until it is below 90 %', () => {
    const levels = [0.79, 0.81, 0.71, 0.69, 0.79, 1, 0.91, 0.89, 0.71, 0.69].map((part) => hold(part * MAX));
    expect(levels).toEqual(['ok', 'tight', 'tight', 'ok', 'ok', 'full', 'full', 'tight', 'tight', 'ok']);
    expect(one.levels).toEqual(['tight', 'ok', 'full', 'tight', 'ok']);
    expect(budget.stats()).toMatchObject({ maxBytes: MAX, level: 'ok', tight: 1, full: 1 });
  });

  it('is short at once when it is reduced, and no longer when it is increased', () => {
    expect(hold(MAX / 2)).toBe('ok');
    budget.resize(MAX / 2);
    expect([budget.level, budget.stats().maxBytes]).toEqual(['full', MAX / 2]);
    budget.resize(2 * MAX);
    expect(budget.level).toBe('ok');
    one.heldBytes = 2 * MAX;
    budget.moved(199);
    expect(budget.level).toBe('ok');
    budget.moved(1);
    expect(budget.level).toBe('full');
  });

  it('is checked when a 64th of it has changed, and not before', () => {
    one.heldBytes = MAX;
    budget.moved(99);
    expect(budget.level).toBe('ok');
    budget.moved(1);
    expect(budget.level).toBe('full');
  });

  it('asks the largest owners first to give up the excess, then the others', () => {
    other.gives = 600;
    one.gives = 5000;
    other.heldBytes = 0.8 * MAX;
    hold(0.3 * MAX);
    expect(other.asked).toEqual([[0.3 * MAX, 'full']]);
    expect(one.asked).toEqual([[0.3 * MAX - 600, 'full']]);
    expect(budget.stats().relievedBytes).toBe(Math.round(0.3 * MAX));
    expect(budget.level).toBe('tight');
  });

  it('has its level before it asks anybody to give up memory, so that everybody knows', () => {
    const levels: MemoryLevel[] = [];
    one.gives = 2 * MAX;
    one.relieve = (bytes) => {
      levels.push(budget.level);
      return Holder.prototype.relieve.call(one, bytes, 'full');
    };
    expect(hold(2 * MAX)).toBe('tight');
    expect(levels).toEqual(['full']);
    expect(other.levels).toEqual(['full', 'tight']);
    expect(budget.stats()).toMatchObject({ full: 1, tight: 0 });
  });

  it('counts all that moves, and notices owners that report little', () => {
    let rests = 0;
    budget.add({
      heldBytes: 0,
      onRest: () => {
        rests++;
      },
    });
    for (const bytes of [1, 99, 5]) budget.moved(bytes);
    expect(budget.movedBytes).toBe(105);
    budget.rest();
    expect(rests).toBe(1);
  });

  it('does not ask again until what was given up can be gone', () => {
    one.relieve = (bytes, level) => one.asked.push([bytes, level]);
    hold(MAX);
    hold(MAX);
    expect(one.asked).toHaveLength(1);
    clock.advance(50);
    expect(one.asked).toHaveLength(2);
  });

  it('asks again at once when what was given up is gone', () => {
    one.gives = MAX;
    expect([hold(MAX), hold(MAX)]).toEqual(['tight', 'tight']);
    expect(one.asked).toHaveLength(2);
  });

  it('checks by itself while memory is short, and leaves no timer behind', () => {
    hold(MAX);
    one.heldBytes = 0;
    clock.advance(50);
    expect(budget.level).toBe('ok');
    expect(clock.armed).toBe(0);
  });

  it('tells the level to owners that join late, and nothing to those that have left', () => {
    hold(MAX);
    const late = new Holder();
    const leave = budget.add(late);
    leave();
    hold(0);
    expect(late.levels).toEqual(['full']);
  });

  it('tells changes to listeners until they are removed', () => {
    const heard: MemoryLevel[] = [];
    const end = budget.onChange((level) => heard.push(level));
    hold(MAX);
    end();
    hold(0);
    expect(heard).toEqual(['full']);
  });

  it('is a whole number of bytes', () => {
    for (const bytes of [0, -1, 1.5, NaN]) {
      expect(() => new MemoryBudget(bytes)).toThrow(RangeError);
      expect(() => budget.resize(bytes)).toThrow(RangeError);
    }
    expect(budget.maxBytes).toBe(MAX);
  });
});
