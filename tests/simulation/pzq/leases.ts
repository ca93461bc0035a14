/** Checker of rule 12: a message that a consumer may have is not offered again before its timeout is over, unless it was returned. */
import type { Checker, Sight } from './sight.js';

const ROUNDING_MS = 0.001;

/** Follows when each message was last offered. */
export class LeasesChecker implements Checker {
  readonly #ackTimeoutMs: number;
  readonly #clock: { now(): number };
  readonly #offeredAt = new Map<number, number>();

  constructor(ackTimeoutMs: number, clock: { now(): number }) {
    this.#ackTimeoutMs = ackTimeoutMs;
    this.#clock = clock;
  }

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'crashed':
        this.#offeredAt.clear();
        break;
      case 'blocked':
      case 'given-back':
        this.#offeredAt.delete(sight.seq);
        break;
      case 'offered': {
        const now = this.#clock.now();
        const ms = now - (this.#offeredAt.get(sight.seq) ?? -Infinity);
        if (ms < this.#ackTimeoutMs - ROUNDING_MS)
          throw new Error(`#${sight.seq} was offered again after ${ms.toFixed(0)} ms`);
        this.#offeredAt.set(sight.seq, now);
        break;
      }
      default:
        break;
    }
  }
}
