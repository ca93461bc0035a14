import { describe, expect, it } from 'vitest';
import { Budget } from './budget.js';

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

  it('can be spent again after it was given back', () => {
    const budget = new Budget(10);
    budget.take(10);
    budget.give(3);
    expect([budget.take(3), budget.used]).toEqual([true, 10]);
  });
});
