/** Reconnect back-off: exponential with jitter, reset only after a connection has proved stable. */

/** Settings of a {@link Backoff}. All in milliseconds. */
export interface BackoffOptions {
  /** First delay, at least 1. */
  readonly minMs: number;
  /** Largest delay before jitter, at least `minMs`. */
  readonly maxMs: number;
  /** How long a connection must last before the next loss starts again at `minMs`. */
  readonly minUptimeMs: number;
  /** Largest deviation of a delay from its full length in either direction, as a fraction from 0 to 1. Default: delays are in the upper half. */
  readonly spread?: number;
}

/**
 * Delays between attempts to reach a peer: `minMs`, doubled each time up to `maxMs`, uniform in the upper half,
 * or around the full delay with `spread`. A peer that accepts and then drops us keeps the delay growing: only a connection of `minUptimeMs`
 * resets it.
 *
 * | attempt | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
 * |---|---|---|---|---|---|---|---|---|
 * | delay with 250 and 30000 | 125-250 | 250-500 | 500-1000 | 1-2 s | 2-4 s | 4-8 s | 8-16 s | 15-30 s |
 */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: () => number;
  #attempt = 0;
  #upSince = Infinity;

  /** `random` returns a number in [0, 1). It is an argument because engines have no randomness of their own. */
  constructor(options: BackoffOptions, random: () => number) {
    this.#options = options;
    this.#random = random;
  }

  /** Number of delays handed out since the last reset. */
  get attempt(): number {
    return this.#attempt;
  }

  /** Reports that the connection is up. Repeating it has no effect. */
  up(now: number): void {
    if (this.#upSince === Infinity) this.#upSince = now;
  }

  /** Reports that the connection was lost or never came up. Returns how long to wait before the next attempt. */
  down(now: number): number {
    if (now - this.#upSince >= this.#options.minUptimeMs) this.#attempt = 0;
    this.#upSince = Infinity;
    const full = Math.min(this.#options.minMs * 2 ** this.#attempt, this.#options.maxMs);
    this.#attempt++;
    const { spread } = this.#options;
    if (spread !== undefined) return full * (1 - spread + 2 * spread * this.#random());
    return full / 2 + (this.#random() * full) / 2;
  }
}
