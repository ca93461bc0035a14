/** "At most one of these per key and period", in bounded memory whatever keys strangers invent. */
import { Deadline, DeadlineList } from './deadline-list.js';

/**
 * Allows a key once per `periodMs`. Remembers at most `capacity` keys: while that many are within their period, further
 * keys are refused, so that inventing names never loosens the limit. O(1) amortised; needs no timer.
 */
export class OncePer {
  readonly capacity: number;
  readonly #seen = new Set<string>();
  readonly #periods: DeadlineList<string>;

  constructor(periodMs: number, capacity: number) {
    this.capacity = capacity;
    this.#periods = new DeadlineList(periodMs);
  }

  /** Number of keys remembered. */
  get size(): number {
    return this.#seen.size;
  }

  /** True when the key has not been allowed within the last period; it then is for the next one. */
  allow(key: string, now: number): boolean {
    for (let over = this.#periods.takeDue(now); over !== undefined; over = this.#periods.takeDue(now)) {
      this.#seen.delete(over);
    }
    if (this.#seen.has(key) || this.#seen.size >= this.capacity) return false;
    this.#seen.add(key);
    this.#periods.renew(new Deadline(key), now);
    return true;
  }
}

/** The limit on log lines, the same for all engines: one per reason and peer a minute. */
const NOTE_PERIOD_MS = 60_000;
const NOTE_MEMORY = 4096;

/** A limit for notes: the same key once a minute, 4096 keys remembered. */
export function oncePerMinute(): OncePer {
  return new OncePer(NOTE_PERIOD_MS, NOTE_MEMORY);
}
