import { ManualClock } from '@proj/heartbeat';
import { describe, expect, it } from 'vitest';
import { LogBudget } from './log-budget.js';

describe('the budget of log lines that peers cause', () => {
  it('allows one a minute for the same reason and peer', () => {
    const clock = new ManualClock();
    const budget = new LogBudget(clock);
    const allowed = () => [budget.allow('ready a'), budget.allow('ready b'), budget.allow('lost a')];
    expect(allowed()).toEqual([true, true, true]);
    clock.advance(59_999);
    expect(allowed()).toEqual([false, false, false]);
    clock.advance(1);
    expect(allowed()).toEqual([true, true, true]);
    expect(budget.takeWithheld()).toBe(3);
    expect(budget.takeWithheld()).toBe(0);
  });

  it('allows a hundred a second in all', () => {
    const clock = new ManualClock();
    const budget = new LogBudget(clock);
    const linesOf = (second: number) =>
      Array.from({ length: 150 }, (_, i) => budget.allow(i % 2 === 0 ? undefined : `ready ${second} ${i}`)).filter(
        Boolean,
      ).length;
    expect(linesOf(1)).toBe(100);
    clock.advance(1000);
    expect(linesOf(2)).toBe(100);
    expect(budget.takeWithheld()).toBe(100);
  });

  it('reports once a second what it withheld', () => {
    const clock = new ManualClock();
    const budget = new LogBudget(clock);
    const withhold = () => [budget.allow('ready a'), budget.allow('ready a')];
    withhold();
    expect(budget.takeWithheld()).toBe(1);
    withhold();
    clock.advance(999);
    expect(budget.takeWithheld()).toBe(0);
    clock.advance(1);
    expect(budget.takeWithheld()).toBe(2);
  });

  it('remembers at most 4096 peers, and allows at most as many lines within a minute', () => {
    const clock = new ManualClock();
    const budget = new LogBudget(clock);
    let lines = 0;
    for (let i = 0; i < 100_000; i++) {
      clock.advance(0.5);
      if (budget.allow(`ready ${i}`)) lines++;
    }
    expect(lines).toBe(4096);
  });
});
