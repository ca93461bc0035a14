import { describe, expect, it } from 'vitest';
import { chooseDisplaced, surplusOf } from './displacement.js';
import { HolderClasses, Holding } from './holder-classes.js';

const values = (count: number, cost: number) => Array.from({ length: count }, (_, at) => ({ at, cost }));

describe('chooseDisplaced', () => {
  it('chooses as many as the place and the bytes need, none twice', () => {
    const [a, b, c] = [{ cost: 10 }, { cost: 10 }, { cost: 10 }];
    expect(chooseDisplaced({ places: 1, bytes: 5 }, [a, b], [a, b, c])).toEqual(new Set([a]));
    expect(chooseDisplaced({ places: 1, bytes: 15 }, [a, b], [a, b, c])).toEqual(new Set([a, b]));
    expect(chooseDisplaced({ places: 0, bytes: 15 }, [a], [c, b])).toEqual(new Set([c, b]));
    expect(chooseDisplaced({ places: 0, bytes: -1 }, [a], [b])).toEqual(new Set());
  });

  it('chooses none if all together would not make room', () => {
    expect(chooseDisplaced({ places: 2, bytes: 0 }, values(1, 10), values(9, 10))).toBeUndefined();
    expect(chooseDisplaced({ places: 0, bytes: 91 }, [], values(9, 10))).toBeUndefined();
  });

  it('chooses none if it would take more than 64', () => {
    expect(chooseDisplaced({ places: 0, bytes: 64 }, [], values(100, 1))?.size).toBe(64);
    expect(chooseDisplaced({ places: 0, bytes: 65 }, [], values(100, 1))).toBeUndefined();
    expect(chooseDisplaced({ places: 64, bytes: 0 }, values(100, 1), [])?.size).toBe(64);
    expect(chooseDisplaced({ places: 65, bytes: 0 }, values(100, 1), [])).toBeUndefined();
  });
});

describe('surplusOf', () => {
  it('lists those of each client with far more than the newcomer, the largest client first', () => {
    const holders = new HolderClasses<string>(16);
    for (const [owner, amount] of Object.entries({ some: 40, many: 70, few: 20 }))
      holders.add(new Holding(owner), amount);
    const hoards = { some: values(4, 10), many: values(7, 10), few: values(2, 10) };
    const hoardOf = (owner: string) => {
      const newest = hoards[owner as keyof typeof hoards];
      return { held: newest.length * 10, newest };
    };
    const surplus = [...surplusOf(holders, 17, hoardOf, ({ cost }) => cost)];
    // Each as long as it has 32, where the class above that of 17 begins.
    expect(surplus).toEqual([...hoards.many.slice(0, 4), ...hoards.some.slice(0, 1)]);
  });
});
