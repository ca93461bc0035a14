/**
 * Checker of rules 10, 11, 16 and 20: in each life of the queue, messages are first offered in the order of their sequences, one at a
 * time, and a returned message goes before all that were never offered. Only without delays, pauses and returned dead letters.
 */
import type { Checker, Sight } from './sight.js';

/** Follows offers. */
export class OrderChecker implements Checker {
  readonly #offered = new Set<number>();
  readonly #returned = new Set<number>();
  readonly #settled = new Set<number>();
  #furthest = 0;
  #open: number | undefined;

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'crashed':
        this.#offered.clear();
        this.#returned.clear();
        this.#settled.clear();
        this.#furthest = 0;
        this.#open = undefined;
        break;
      case 'offered':
        this.#onOffer(sight.seq);
        break;
      case 'blocked':
        if (this.#open !== sight.seq) throw new Error(`#${sight.seq} was offered beside another message`);
        break;
      case 'given-back':
        // While its offer is open, it is unknown whether it was delivered at all.
        if (this.#offered.has(sight.seq) && !this.#settled.has(sight.seq) && this.#open !== sight.seq)
          this.#returned.add(sight.seq);
        break;
      case 'settled':
      case 'removed':
        this.#settled.add(sight.seq);
        this.#returned.delete(sight.seq);
        break;
      default:
        break;
    }
  }

  #onOffer(seq: number): void {
    this.#open = seq;
    this.#returned.delete(seq);
    if (this.#offered.has(seq)) return;
    const [returned] = this.#returned;
    if (returned !== undefined)
      throw new Error(`#${seq} is new and was offered before #${returned}, which was given back`);
    if (seq < this.#furthest) throw new Error(`#${seq} was first offered after #${this.#furthest}`);
    this.#offered.add(seq);
    this.#furthest = seq;
  }
}
