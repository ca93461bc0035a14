/** Values by key, each of which falls due the same delay after it was set: what an engine remembers of its peers and requests. */
import { Deadline, DeadlineList } from './deadline-list.js';

/** A map in the order of the deadlines; all operations are O(1). `now` must not decrease from call to call. */
export class ExpiringMap<Key, Value> {
  readonly #entries = new Map<Key, Deadline<readonly [Key, Value]>>();
  readonly #list: DeadlineList<readonly [Key, Value]>;

  /** Values fall due `delayMs` after they were set; they stay until they are taken. */
  constructor(delayMs: number) {
    this.#list = new DeadlineList(delayMs);
  }

  /** Number of values. */
  get size(): number {
    return this.#entries.size;
  }

  /** When the next value falls due, in milliseconds; `Infinity` when the map is empty. */
  get deadline(): number {
    return this.#list.deadline;
  }

  /** Whether the key has a value. */
  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  /** The value of this key. */
  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value[1];
  }

  /** Puts the value in place of the one that the key has, and behind all others. */
  set(key: Key, value: Value, now: number): void {
    this.take(key);
    const entry = new Deadline([key, value] as const);
    this.#entries.set(key, entry);
    this.#list.renew(entry, now);
  }

  /** Takes out and returns the value of this key. */
  take(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#list.remove(entry);
    this.#entries.delete(key);
    return entry.value[1];
  }

  /** Takes out and returns the value that was set first, due or not. Makes the map a queue whose entries expire. */
  takeFirst(): Value | undefined {
    const { first } = this.#list;
    return first && this.take(first[0]);
  }

  /** Takes out each value that is due, earliest first. Values may be set and taken meanwhile. */
  *takeAllDue(now: number): IterableIterator<Value> {
    while (this.deadline <= now) yield this.takeFirst() as Value;
  }

  /** As {@link DeadlineList.postpone}. */
  postpone(ms: number, now: number): void {
    this.#list.postpone(ms, now);
  }

  /** The values, earliest deadline first. Do not change the map meanwhile. */
  *values(): IterableIterator<Value> {
    for (const [, value] of this.#list.values()) yield value;
  }
}
