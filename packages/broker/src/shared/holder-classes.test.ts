import { describe, expect, it } from 'vitest';
import { HolderClasses, Holding } from './holder-classes.js';

function holders(amounts: Readonly<Record<string, number>>) {
  const all = new HolderClasses<string>(16);
  const holdings = new Map<string, Holding<string>>();
  for (const [owner, amount] of Object.entries(amounts)) {
    const holding = new Holding(owner);
    holdings.set(owner, holding);
    all.add(holding, amount);
  }
  return { all, change: (owner: string, amount: number) => all.add(holdings.get(owner)!, amount) };
}

const top = (all: HolderClasses<string>, amount: number): string | undefined => [...all.above(amount)][0];

describe('HolderClasses', () => {
  it('names one of the largest holders', () => {
    expect(top(holders({ few: 20, many: 1000, some: 100 }).all, 1)).toBe('many');
  });

  it('names nobody if the largest holds about as much, or less', () => {
    const { all } = holders({ many: 1000 });
    expect([511, 512, 1000, 5000].map((amount) => top(all, amount))).toEqual(['many', undefined, undefined, undefined]);
  });

  it('names nobody who holds less than the minimum', () => {
    expect(top(holders({ few: 15 }).all, 0)).toBeUndefined();
    expect(top(holders({ few: 16 }).all, 0)).toBe('few');
  });

  it('follows what they take and return', () => {
    const { all, change } = holders({ one: 1000, other: 100 });
    change('one', -1000);
    expect(top(all, 1)).toBe('other');
    change('one', 20);
    expect(top(all, 1)).toBe('other');
    change('one', 400);
    expect(top(all, 1)).toBe('one');
    change('one', -420);
    change('other', -100);
    expect(top(all, 0)).toBeUndefined();
  });
});
