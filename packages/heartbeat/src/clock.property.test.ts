import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ManualClock } from './clock.js';
import type { Timer } from './clock.js';

type Step =
  | { readonly at: number }
  | { readonly cancel: number }
  | { readonly advance: number }
  | { readonly next: true };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ at: fc.nat({ max: 40 }) }) },
    { weight: 2, arbitrary: fc.record({ cancel: fc.nat({ max: 60 }) }) },
    { weight: 1, arbitrary: fc.record({ advance: fc.nat({ max: 15 }) }) },
    { weight: 1, arbitrary: fc.record({ next: fc.constant(true as const) }) },
  ),
  { maxLength: 100, size: 'max' },
);

/** The simplest possible clock: a list that is sorted each time. */
class ListClock {
  now = 0;
  #timers: { readonly id: number; readonly deadline: number }[] = [];
  readonly fired: string[] = [];

  at(id: number, deadline: number): void {
    this.#timers.push({ id, deadline });
  }

  cancel(id: number): void {
    this.#timers = this.#timers.filter((timer) => timer.id !== id);
  }

  advanceTo(until: number): void {
    while ((this.#sorted()[0]?.deadline ?? Infinity) <= until) this.fireNext();
    this.now = Math.max(this.now, until);
  }

  fireNext(): boolean {
    const [timer] = this.#sorted();
    if (timer === undefined) return false;
    this.cancel(timer.id);
    this.now = Math.max(this.now, timer.deadline);
    this.fired.push(`${timer.id} @${this.now}`);
    return true;
  }

  get state(): readonly unknown[] {
    return [this.now, this.#timers.length, this.#sorted()[0]?.deadline ?? Infinity];
  }

  #sorted(): readonly { readonly id: number; readonly deadline: number }[] {
    return [...this.#timers].sort((a, b) => a.deadline - b.deadline || a.id - b.id);
  }
}

it('ManualClock does what a sorted list would do', () => {
  fc.assert(
    fc.property(steps, (script) => {
      const clock = new ManualClock();
      const model = new ListClock();
      const timers: Timer[] = [];
      const fired: string[] = [];
      for (const step of script) {
        if ('at' in step) {
          const id = timers.length;
          timers.push(clock.at(step.at, () => fired.push(`${id} @${clock.now()}`)));
          model.at(id, step.at);
        } else if ('cancel' in step) {
          timers[step.cancel]?.cancel();
          model.cancel(step.cancel);
        } else if ('advance' in step) {
          clock.advance(step.advance);
          model.advanceTo(model.now + step.advance);
        } else expect(clock.fireNext()).toBe(model.fireNext());
        expect([clock.now(), clock.armed, clock.nextDeadline]).toEqual(model.state);
      }
      expect(fired).toEqual(model.fired);
    }),
    { numRuns: 200 },
  );
});
