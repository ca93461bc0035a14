/** Limits events to one per key and period, in bounded memory however many keys peers make up. */
import { Deadline, DeadlineList } from './deadline-list.js';

/**
 * Allows a key once per `periodMs`. Remembers at most `capacity` keys. While that many are within their period, new keys are rejected, so
 * inventing names never loosens the limit. Amortised O(1); needs no timer.
 */
export class OncePer {
  readonly capacity: number;
  readonly #seen = new Set<string>();
  readonly #periods: DeadlineList<string>;

  constructor(periodMs: number, capacity: number) {
    this.capacity = capacity;
    this.#periods = new DeadlineList(periodMs);
  }

  /** Number of remembered keys. */
  get size(): number {
    return this.#seen.size;
  }

  /** True if the key was not allowed within the last period. It is then blocked for the next one. */
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

/** The limit on log lines in all engines: one a minute per reason and peer. */
const NOTE_PERIOD_MS = 60_000;
const NOTE_MEMORY = 4096;

/** A limit for notes: each key once a minute, 4096 keys remembered. */
export function oncePerMinute(): OncePer {
  return new OncePer(NOTE_PERIOD_MS, NOTE_MEMORY);
}
