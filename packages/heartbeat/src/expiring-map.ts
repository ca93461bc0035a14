/** Values by key that all fall due the same delay after they were set, such as an engine's memory of peers and requests. */
import { Deadline, DeadlineList } from './deadline-list.js';

/** A map ordered by deadline; all operations are O(1). `now` must not decrease between calls. */
export class ExpiringMap<Key, Value> {
  readonly #entries = new Map<Key, Deadline<readonly [Key, Value]>>();
  readonly #list: DeadlineList<readonly [Key, Value]>;

  /** Values fall due `delayMs` after they were set, and stay until they are taken. */
  constructor(delayMs: number) {
    this.#list = new DeadlineList(delayMs);
  }

  /** Number of values. */
  get size(): number {
    return this.#entries.size;
  }

  /** When the next value falls due, in milliseconds; `Infinity` if the map is empty. */
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

  /** Sets the value of the key, replacing any other, as the last one to fall due. */
  set(key: Key, value: Value, now: number): void {
    this.take(key);
    const entry = new Deadline([key, value] as const);
    this.#entries.set(key, entry);
    this.#list.renew(entry, now);
  }

  /** Removes and returns the value of this key. */
  take(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#list.remove(entry);
    this.#entries.delete(key);
    return entry.value[1];
  }

  /** Removes and returns the value that was set first, due or not. Makes the map a queue whose entries expire. */
  takeFirst(): Value | undefined {
    const { first } = this.#list;
    return first && this.take(first[0]);
  }

  /**
   * Removes and returns the values that are due, earliest first; with `now` = `Infinity`, all. `lateMs` is how late the timer came: a process
   * that was too busy to listen gives its peers that much longer.
   */
  takeAllDue(now: number, lateMs = 0): Value[] {
    if (lateMs > 0) this.#list.postpone(lateMs, now);
    const due: Value[] = [];
    while (this.size > 0 && this.deadline <= now) due.push(this.takeFirst() as Value);
    return due;
  }

  /** The values, earliest deadline first. Do not change the map during the iteration. */
  *values(): IterableIterator<Value> {
    for (const [, value] of this.#list.values()) yield value;
  }
}
