/** Partial replies for a reader that may be slower than the network. Knows no protocol. */
import { totalBytes } from '@proj/frames';
import { BoundedBuffer } from '../bounded-buffer.js';

/** Bounds of a {@link ReplyBuffer}. */
export interface ReplyBufferOptions {
  /** Limit of unread replies, at least 1. */
  readonly repliesMax: number;
  /** Limit of their bytes; see `BufferBounds`. */
  readonly bytesMax: number;
}

/** The replies to one call, for one reader: partial ones, then the final one or the failure. */
export class ReplyBuffer {
  readonly #partials: BoundedBuffer<Buffer[]>;
  #final: Buffer[] = [];

  constructor({ repliesMax: itemsMax, bytesMax }: ReplyBufferOptions) {
    this.#partials = new BoundedBuffer({ itemsMax, bytesMax });
  }

  /** Adds a partial reply; false if there is no room. */
  partial(frames: Buffer[]): boolean {
    return this.#partials.offer(frames, totalBytes(frames));
  }

  /** Adds the final reply. */
  final(frames: Buffer[]): void {
    this.#final = frames;
    this.#partials.end();
  }

  /** Adds the failure. Earlier replies can still be read. */
  fail(error: unknown): void {
    this.#partials.end({ error });
  }

  /** The next partial reply, or with `done` the final one, once it arrives. Rejects if the call failed. One reader at a time. */
  async next(): Promise<IteratorResult<Buffer[], Buffer[]>> {
    const { done, value } = await this.#partials.next();
    return done === true ? { done, value: this.#final } : { done: false, value };
  }
}
