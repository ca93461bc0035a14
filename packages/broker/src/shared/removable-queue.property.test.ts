import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RemovableQueue, QueueSlot } from './removable-queue.js';

const action = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('push' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('shift' as const, 'return' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), index: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const), every: fc.integer({ min: 1, max: 3 }) }) },
);

it('behaves like an array that is searched', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 200, size: 'max' }), (actions) => {
      const line = new RemovableQueue<number>();
      const places: QueueSlot<number>[] = [];
      let model: number[] = [];
      const outside: number[] = [];
      const push = (value: number): void => {
        line.push(places[value]!);
        model.push(value);
      };
      const forget = (value: number): void => {
        model = model.filter((other) => other !== value);
        outside.push(value);
      };
      for (const step of actions) {
        if (step.kind === 'push') {
          places.push(new QueueSlot(places.length));
          push(places.length - 1);
        } else if (step.kind === 'return') {
          const value = outside.pop();
          if (value !== undefined) push(value);
        } else if (step.kind === 'shift') {
          const value = line.shift();
          expect(value).toBe(model[0]);
          if (value !== undefined) forget(value);
        } else if (step.kind === 'remove' && step.index < places.length) {
          const here = model.includes(step.index);
          expect(line.remove(places[step.index]!)).toBe(here);
          if (here) forget(step.index);
        } else if (step.kind === 'sweep') {
          let seen = 0;
          for (const value of line.values()) {
            if (seen++ % step.every !== 0) continue;
            line.remove(places[value]!);
            forget(value);
          }
        }
        expect([line.first, ...line.values()]).toEqual([model[0], ...model]);
        expect(line.size).toBe(model.length);
        expect(line.room).toBeLessThanOrEqual(4 * places.length);
      }
      expect(places.filter(({ taken }) => taken).length).toBe(model.length);
    }),
    { numRuns: 100 },
  );
});
