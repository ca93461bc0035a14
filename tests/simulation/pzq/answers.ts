/** Checker of rule 3: every producer is answered in the order of its messages, once each. */
import type { Checker, Sight } from './sight.js';

/** Follows what arrives and what is answered. */
export class AnswersChecker implements Checker {
  readonly #open = new Map<string, string[]>();

  onSight(sight: Sight): void {
    if (sight.kind === 'crashed') this.#open.clear();
    else if (sight.kind === 'arrived') {
      const { producer, wireId } = sight;
      const open = this.#open.get(producer);
      if (open === undefined) this.#open.set(producer, [wireId]);
      else open.push(wireId);
    } else if (sight.kind === 'answered') {
      const due = this.#open.get(sight.producer)?.shift();
      if (due !== sight.wireId) throw new Error(`${sight.wireId} was answered, due was ${due ?? 'nothing'}`);
    }
  }
}
