import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OrderedList } from './ordered.js';

const ascending = (a: number, b: number): number => a - b;

describe('OrderedList', () => {
  it('holds what a sorted set holds, whatever was added and removed', () => {
    const operation = fc.record({ item: fc.integer({ min: 0, max: 3000 }), isAdd: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(operation, { maxLength: 4000, size: 'max' }),
        fc.integer({ max: 3001 }),
        (operations, from) => {
          const list = new OrderedList(ascending);
          const model = new Set<number>();
          for (const { item, isAdd } of operations) {
            if (!isAdd) list.delete(item);
            else if (!model.has(item)) list.add(item);
            if (isAdd) model.add(item);
            else model.delete(item);
          }
          const expected = [...model].sort(ascending);
          expect(list.first).toBe(expected[0]);
          expect([...list.from(from)]).toEqual(expected.filter((item) => item >= from));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('takes a million items in ascending, descending and mixed order', () => {
    const count = 1_000_000;
    for (const place of [(n: number) => n, (n: number) => count - n, (n: number) => (n * 7919) % 1_000_003]) {
      const list = new OrderedList(ascending);
      for (let n = 0; n < count; n++) list.add(place(n));
      let [found, last] = [0, -1];
      for (const item of list.from(0)) {
        if (item > last) found++;
        last = item;
      }
      expect(found).toBe(count);
    }
  });
});
