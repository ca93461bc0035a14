import { describe, expect, it } from 'vitest';
import { Budget, RESERVE_BYTES } from './budget.js';

describe('Budget', () => {
  it('is spent to the last unit', () => {
    const budget = new Budget(10);
    expect([budget.take(4), budget.take(6), budget.used]).toEqual([true, true, 10]);
  });

  it('takes nothing if too little is left', () => {
    const budget = new Budget(10);
    budget.take(4);
    expect([budget.take(7), budget.used]).toEqual([false, 4]);
  });

  it('can be spent again after it was returned', () => {
    const budget = new Budget(10);
    budget.take(10);
    budget.give(3);
    expect([budget.take(3), budget.used]).toEqual([true, 10]);
  });

  it('has little left for what waits while memory is short, and all of it for what does not', () => {
    const budget = new Budget(100 * RESERVE_BYTES);
    budget.take(10 * RESERVE_BYTES);
    budget.isTight = true;
    expect([budget.take(80 * RESERVE_BYTES), budget.left(true)]).toEqual([true, RESERVE_BYTES]);
    expect([budget.take(RESERVE_BYTES, true), budget.take(1, true)]).toEqual([true, false]);
    budget.isTight = false;
    expect(budget.take(9 * RESERVE_BYTES, true)).toBe(true);
  });

  it('does not let as much wait again as is given back while memory is short', () => {
    const budget = new Budget(100 * RESERVE_BYTES);
    budget.take(10 * RESERVE_BYTES);
    budget.isTight = true;
    budget.take(RESERVE_BYTES, true);
    budget.give(4 * RESERVE_BYTES);
    expect([budget.take(RESERVE_BYTES, true), budget.take(1, true)]).toEqual([true, false]);
    budget.give(8 * RESERVE_BYTES);
    expect(budget.left(true)).toBe(RESERVE_BYTES);
  });

  it('counts what takes the place of others against what may wait', () => {
    const budget = new Budget(100 * RESERVE_BYTES);
    budget.isTight = true;
    budget.take(RESERVE_BYTES, true);
    budget.give(RESERVE_BYTES / 2);
    expect([budget.takeOver(RESERVE_BYTES, true), budget.left(true)]).toEqual([true, -RESERVE_BYTES / 2]);
  });

  it('is no larger while memory is short', () => {
    const budget = new Budget(10);
    budget.isTight = true;
    expect([budget.isTight, budget.left(true)]).toEqual([true, 10]);
  });
});
