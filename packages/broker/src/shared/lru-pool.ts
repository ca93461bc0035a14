/** The pool of idle workers: whoever has been idle longest is taken next. No protocol. */
import { RemovableQueue, type QueueSlot } from './removable-queue.js';

/**
 * Idle values in the order in which they became idle. Taking the head spreads work evenly and gives each worker the
 * longest possible rest, which the zguide calls least recently used. All operations are O(1).
 */
export class LruPool<Value> {
  readonly #idle = new RemovableQueue<Value>();

  /** Number of idle values. */
  get size(): number {
    return this.#idle.size;
  }

  /** Adds a value as the most recently used one. It must not be in a pool already. */
  release(place: QueueSlot<Value>): void {
    this.#idle.push(place);
  }

  /** Takes the least recently used value; `undefined` when none is idle. */
  take(): Value | undefined {
    return this.#idle.shift();
  }

  /** Takes out a value that is no longer available; does nothing when it is not in this pool. */
  remove(place: QueueSlot<Value>): void {
    this.#idle.remove(place);
  }

  /** Idle values, least recently used first. */
  values(): IterableIterator<Value> {
    return this.#idle.values();
  }
}
