import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Deadline, DeadlineList } from './deadline-list.js';

const DELAYS = [30, 70] as const;
const ENTRIES = 6;

type Step =
  | { readonly kind: 'renew'; readonly entry: number; readonly list: number }
  | { readonly kind: 'remove'; readonly entry: number; readonly list: number }
  | { readonly kind: 'postpone'; readonly list: number; readonly ms: number }
  | { readonly kind: 'take'; readonly list: number }
  | { readonly kind: 'pass'; readonly ms: number };

const entry = fc.nat({ max: ENTRIES - 1 });
const list = fc.nat({ max: DELAYS.length - 1 });
const ms = fc.nat({ max: 40 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('renew' as const), entry, list }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('take' as const), list }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), entry, list }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('postpone' as const), list, ms }) },
  ),
  { maxLength: 80, size: 'max' },
);

/** The simplest possible list: an array in the order of renewal. */
class ArrayList {
  readonly delayMs: number;
  entries: { readonly value: number; readonly at: number }[] = [];
  notBefore = -Infinity;

  constructor(delayMs: number) {
    this.delayMs = delayMs;
  }

  remove(value: number): void {
    this.entries = this.entries.filter((one) => one.value !== value);
  }

  takeDue(now: number): number | undefined {
    const first = this.entries.find(({ at }) => at <= now);
    if (first === undefined || this.notBefore > now) return undefined;
    this.remove(first.value);
    return first.value;
  }

  get state(): readonly unknown[] {
    const earliest = Math.min(...this.entries.map(({ at }) => at));
    const deadline = this.entries.length === 0 ? Infinity : Math.max(earliest, this.notBefore);
    return [this.entries.length, this.entries[0]?.value, deadline, this.entries.map(({ value }) => value)];
  }
}

it('DeadlineList does what an array in the order of renewal would do', () => {
  fc.assert(
    fc.property(steps, (script) => {
      const lists = DELAYS.map((delayMs) => new DeadlineList<number>(delayMs));
      const models = DELAYS.map((delayMs) => new ArrayList(delayMs));
      const entries = Array.from({ length: ENTRIES }, (_, value) => new Deadline(value));
      let now = 0;
      for (const step of script) {
        if (step.kind === 'pass') now += step.ms;
        else {
          const real = lists[step.list]!;
          const model = models[step.list]!;
          if (step.kind === 'take') expect(real.takeDue(now)).toBe(model.takeDue(now));
          else if (step.kind === 'postpone') {
            real.postpone(step.ms, now);
            model.notBefore = Math.max(model.notBefore, now + step.ms);
          } else if (step.kind === 'remove') {
            real.remove(entries[step.entry]!);
            model.remove(step.entry);
          } else {
            real.renew(entries[step.entry]!, now);
            for (const one of models) one.remove(step.entry);
            model.entries.push({ value: step.entry, at: now + model.delayMs });
          }
        }
        expect(lists.map((one) => [one.size, one.first, one.deadline, [...one.values()]])).toEqual(
          models.map(({ state }) => state),
        );
        for (const one of entries) {
          const at = models.flatMap((model) => model.entries).find(({ value }) => value === one.value)?.at;
          expect(one.at).toBe(at ?? Infinity);
        }
      }
    }),
    { numRuns: 200 },
  );
});
