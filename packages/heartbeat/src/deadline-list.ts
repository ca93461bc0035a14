/**
 * Deadlines with one common delay, so the list is always sorted: insert, renew and remove are O(1), and the earliest deadline is the head. Used
 * for liveness (renewed on every message), due heartbeats and time-to-live.
 */

/** One entry of a {@link DeadlineList}. Its owner keeps it, so that renewing needs no look-up. */
export class Deadline<Value> {
  /** Due time in milliseconds; `Infinity` while the entry is in no list. */
  at = Infinity;
  /** @internal */
  previous: Deadline<Value> | undefined;
  /** @internal */
  next: Deadline<Value> | undefined;
  /** @internal */
  list: DeadlineList<Value> | undefined;
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }
}

/** A list of deadlines `delayMs` after their last renewal. `now` must not decrease between calls. */
export class DeadlineList<Value> {
  readonly delayMs: number;
  #head: Deadline<Value> | undefined;
  #tail: Deadline<Value> | undefined;
  #size = 0;
  #notBefore = -Infinity;

  constructor(delayMs: number) {
    this.delayMs = delayMs;
  }

  /** Number of entries. */
  get size(): number {
    return this.#size;
  }

  /** The value with the earliest deadline, without removing it; `undefined` if the list is empty. */
  get first(): Value | undefined {
    return this.#head?.value;
  }

  /** When the next entry falls due; `Infinity` if the list is empty. */
  get deadline(): number {
    return this.#head === undefined ? Infinity : Math.max(this.#head.at, this.#notBefore);
  }

  /** Puts the entry at `now + delayMs`, whether or not it is in the list. */
  renew(entry: Deadline<Value>, now: number): void {
    if (entry !== this.#tail || entry.list !== this) {
      entry.list?.remove(entry);
      entry.list = this;
      entry.previous = this.#tail;
      if (this.#tail === undefined) this.#head = entry;
      else this.#tail.next = entry;
      this.#tail = entry;
      this.#size++;
    }
    entry.at = now + this.delayMs;
  }

  /** Removes the entry; no effect if it is not in this list. */
  remove(entry: Deadline<Value>): void {
    if (entry.list !== this) return;
    if (entry.previous === undefined) this.#head = entry.next;
    else entry.previous.next = entry.next;
    if (entry.next === undefined) this.#tail = entry.previous;
    else entry.next.previous = entry.previous;
    entry.previous = entry.next = entry.list = undefined;
    entry.at = Infinity;
    this.#size--;
  }

  /** Removes and returns the earliest entry if it is due, else returns `undefined`. Call until it returns `undefined`. */
  takeDue(now: number): Value | undefined {
    const head = this.#head;
    if (head === undefined || head.at > now || this.#notBefore > now) return undefined;
    this.remove(head);
    return head.value;
  }

  /**
   * Lets nothing fall due before `now + ms`: a process that was too busy to listen must give its peers that time. Never shortens an earlier
   * postponement.
   */
  postpone(ms: number, now: number): void {
    this.#notBefore = Math.max(this.#notBefore, now + ms);
  }

  /** The entries' values, earliest deadline first. For tests, listings and invariants; do not change the list during the iteration. */
  *values(): IterableIterator<Value> {
    for (let entry = this.#head; entry !== undefined; entry = entry.next) yield entry.value;
  }
}
