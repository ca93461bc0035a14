/** The limit on log lines that peers can cause. */
import { oncePerMinute, systemClock } from '@proj/heartbeat';
import type { Clock } from '@proj/heartbeat';

const LINES_PER_SECOND = 100;

/**
 * A limit on lines that peers cause: one a minute per key (a reason and a peer), and a hundred a second in total. The rest is counted, in memory
 * that does not grow with the number of peers.
 */
export class LogBudget {
  readonly #clock: Clock;
  readonly #once = oncePerMinute();
  #second = -Infinity;
  #lines = 0;
  #withheld = 0;
  #toldAt = -Infinity;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Whether a line for this key may be logged now; if not, counts it. Without a key, only the limit per second applies. */
  allow(key?: string): boolean {
    const now = this.#clock.now();
    if (now - this.#second >= 1000) {
      this.#second = now;
      this.#lines = 0;
    }
    if (this.#lines < LINES_PER_SECOND && (key === undefined || this.#once.allow(key, now))) {
      this.#lines++;
      return true;
    }
    this.#withheld++;
    return false;
  }

  /** Lines withheld since the last report, which comes at most once a second. */
  takeWithheld(): number {
    const now = this.#clock.now();
    if (this.#withheld === 0 || now - this.#toldAt < 1000) return 0;
    this.#toldAt = now;
    const withheld = this.#withheld;
    this.#withheld = 0;
    return withheld;
  }
}
