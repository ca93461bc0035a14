/** The pool of idle workers: whoever has been idle longest is taken next. No protocol. */
import { type Link, LinkedList } from './linked-list.js';

/**
 * Idle values in the order in which they became idle. Taking the head spreads work evenly and gives each worker the
 * longest possible rest, which the zguide calls least recently used. All operations are O(1).
 */
export class LruPool<Value> {
  readonly #idle = new LinkedList<Value>();

  /** Number of idle values. */
  get size(): number {
    return this.#idle.size;
  }

  /** Adds a value as the most recently used one. It must not be in a pool already. */
  release(link: Link<Value>): void {
    this.#idle.pushBack(link);
  }

  /** Takes the least recently used value; `undefined` when none is idle. */
  take(): Value | undefined {
    return this.#idle.shift();
  }

  /** Takes out a value that is no longer available; does nothing when it is not in this pool. */
  remove(link: Link<Value>): void {
    this.#idle.remove(link);
  }

  /** Idle values, least recently used first. */
  values(): IterableIterator<Value> {
    return this.#idle.values();
  }
}
