/** Checker of rule 16: consumers together never have more than `maxInFlight` messages whose time is not over. */
import type { Checker, Sight } from './sight.js';

/** Counts messages that were offered but neither blocked, answered nor timed out: at least that many are in flight. */
export class InFlightChecker implements Checker {
  readonly #max: number;
  readonly #ackTimeoutMs: number;
  readonly #clock: { now(): number };
  /** When each was offered, earliest first. */
  readonly #out = new Map<number, number>();

  constructor(options: { maxInFlight: number; ackTimeoutMs: number }, clock: { now(): number }) {
    this.#max = options.maxInFlight;
    this.#ackTimeoutMs = options.ackTimeoutMs;
    this.#clock = clock;
  }

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'crashed':
        this.#out.clear();
        break;
      case 'blocked':
      case 'settled':
      case 'given-back':
        this.#out.delete(sight.seq);
        break;
      case 'offered':
        this.#onOffer(sight.seq);
        break;
      default:
        break;
    }
  }

  #onOffer(seq: number): void {
    const now = this.#clock.now();
    for (const [old, offeredAt] of this.#out) {
      if (offeredAt + this.#ackTimeoutMs > now) break;
      this.#out.delete(old);
    }
    this.#out.delete(seq);
    this.#out.set(seq, now);
    if (this.#out.size > this.#max) throw new Error(`${this.#out.size} messages are in flight`);
  }
}
