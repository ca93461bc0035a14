/**
 * Checker of rules 2, 6 and 13: a message that was answered `1` is on disk, only settled messages leave the disk, and with a
 * dedupe window no id is on it twice.
 */
import type { Checker, Sight } from './sight.js';

/** Compares answers with what was written to disk. */
export class KeptChecker implements Checker {
  readonly #dedupes: boolean;
  /** What was ever stored, by the workload's name: how often. */
  readonly #stored = new Map<string, number>();
  readonly #settled = new Set<number>();
  /** Which message a producer means by an id. */
  readonly #means = new Map<string, string>();

  constructor(dedupes: boolean) {
    this.#dedupes = dedupes;
  }

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'arrived':
        this.#means.set(sight.wireId, sight.id);
        break;
      case 'stored': {
        const copies = (this.#stored.get(sight.id) ?? 0) + 1;
        this.#stored.set(sight.id, copies);
        if (this.#dedupes && copies > 1) throw new Error(`${sight.id} is stored ${copies} times within the window`);
        break;
      }
      case 'answered':
        if (sight.stored && !this.#stored.has(this.#means.get(sight.wireId) ?? ''))
          throw new Error(`${this.#means.get(sight.wireId)} was acknowledged and is not on the disk`);
        break;
      case 'settled':
        this.#settled.add(sight.seq);
        break;
      case 'removed':
        if (!this.#settled.has(sight.seq)) throw new Error(`#${sight.seq} was removed and nobody had settled it`);
        break;
      default:
        break;
    }
  }
}
