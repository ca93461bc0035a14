/**
 * Checker of rules 13, 14 and 19: a message that a consumer has settled is not offered again in this life of the queue, and never once that is on
 * disk.
 */
import type { Checker, Sight } from './sight.js';

/** Follows acknowledgements and offers. */
export class SettledChecker implements Checker {
  readonly #settled = new Set<number>();
  readonly #removed = new Set<number>();

  /** Rule 19: call it when the queue has drained in time. Throws if a settled message is still on disk. */
  requireRemoved(): void {
    for (const seq of this.#settled)
      if (!this.#removed.has(seq)) throw new Error(`#${seq} is settled, and the drain has left it on the disk`);
  }

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'crashed':
        this.#settled.clear();
        break;
      case 'settled':
        this.#settled.add(sight.seq);
        break;
      case 'removed':
        this.#removed.add(sight.seq);
        break;
      case 'offered':
        if (this.#removed.has(sight.seq))
          throw new Error(`#${sight.seq} is removed from the disk and was offered again`);
        if (this.#settled.has(sight.seq)) throw new Error(`#${sight.seq} is settled and was offered again`);
        break;
      default:
        break;
    }
  }
}
