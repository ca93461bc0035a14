/** A bounded queue between a sender that must not wait and readers that may be slower. Knows no protocol. */
import { Fifo } from './fifo.js';

/** Bounds of a {@link BoundedBuffer}. */
export interface BufferBounds {
  /** Limit of waiting items, at least 1. */
  readonly itemsMax: number;
  /** Limit of their bytes. A single item is accepted whatever its size, because sockets have their own limit. */
  readonly bytesMax: number;
}

interface Reader<Item> {
  readonly resolve: (result: IteratorResult<Item, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

const DONE = { done: true, value: undefined } as const;

/**
 * Items waiting for readers, in order. It is full for an item if something already waits and the item would exceed `itemsMax` or `bytesMax`. The
 * sender chooses what gives way: the new item ({@link offer}) or the oldest ones ({@link displace}).
 */
export class BoundedBuffer<Item> {
  readonly #bounds: BufferBounds;
  readonly #waiting = new Fifo<{ readonly item: Item; readonly bytes: number }>();
  readonly #readers = new Fifo<Reader<Item>>();
  #bytes = 0;
  #isOver = false;
  #failure: { readonly error: Error } | undefined;

  constructor(bounds: BufferBounds) {
    this.#bounds = bounds;
  }

  /** True once no more items are accepted. */
  get over(): boolean {
    return this.#isOver;
  }

  /** Adds an item of this many bytes. False if it was dropped because the buffer is full or closed. */
  offer(item: Item, bytes: number): boolean {
    if (this.#isOver || this.#isFullFor(bytes)) return false;
    this.#push(item, bytes);
    return true;
  }

  /** Adds an item of this many bytes and drops the oldest ones to make room. Returns how many were dropped. */
  displace(item: Item, bytes: number): number {
    if (this.#isOver) return 0;
    let dropped = 0;
    for (; this.#isFullFor(bytes); dropped++) this.#shift();
    this.#push(item, bytes);
    return dropped;
  }

  /** The oldest item, once there is one; readers are served in the order of their calls. `done` if the buffer is closed and empty. */
  next(): Promise<IteratorResult<Item, undefined>> {
    const oldest = this.#shift();
    if (oldest !== undefined) return Promise.resolve({ done: false, value: oldest.item });
    if (this.#failure !== undefined) {
      const { error } = this.#failure;
      this.#failure = undefined;
      return Promise.reject(error);
    }
    if (this.#isOver) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject });
    });
  }

  /** Accepts no more items. Waiting items can still be read; then one reader gets the failure, if any. Only the first call counts. */
  end(failure?: { readonly error: unknown }): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const first = failure === undefined ? undefined : this.#readers.shift();
    // Rejects with the sender's value, whatever it is.
    if (first === undefined) this.#failure = failure as { readonly error: Error } | undefined;
    else first.reject(failure?.error);
    for (let reader = this.#readers.shift(); reader !== undefined; reader = this.#readers.shift()) reader.resolve(DONE);
  }

  /** Drops the waiting items. */
  clear(): void {
    while (this.#shift() !== undefined);
  }

  #isFullFor(bytes: number): boolean {
    const { itemsMax, bytesMax } = this.#bounds;
    const { length } = this.#waiting;
    return length > 0 && (length >= itemsMax || this.#bytes + bytes > bytesMax);
  }

  #push(item: Item, bytes: number): void {
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader.resolve({ done: false, value: item });
      return;
    }
    this.#waiting.push({ item, bytes });
    this.#bytes += bytes;
  }

  #shift(): { readonly item: Item } | undefined {
    const oldest = this.#waiting.shift();
    if (oldest !== undefined) this.#bytes -= oldest.bytes;
    return oldest;
  }
}
