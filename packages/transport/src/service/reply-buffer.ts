/** Partial replies on their way to a reader that may be slower than the network. No protocol. */
import { totalBytes } from '@proj/frames';
import { BoundedBuffer } from '../bounded-buffer.js';

/** Bounds of a {@link ReplyBuffer}. */
export interface ReplyBufferOptions {
  /** Most replies that wait to be read, at least 1. */
  readonly repliesMax: number;
  /** Most bytes in them; see `BufferBounds`. */
  readonly bytesMax: number;
}

/** The replies to one call, for one reader: partial ones, then the final one or the failure. */
export class ReplyBuffer {
  readonly #partials: BoundedBuffer<Buffer[]>;
  #final: Buffer[] = [];

  constructor({ repliesMax: itemsMax, bytesMax }: ReplyBufferOptions) {
    this.#partials = new BoundedBuffer({ itemsMax, bytesMax });
  }

  /** Takes a partial reply; false when there is no room for it. */
  partial(frames: Buffer[]): boolean {
    return this.#partials.offer(frames, totalBytes(frames));
  }

  /** Takes the final reply. Nothing comes after it. */
  final(frames: Buffer[]): void {
    this.#final = frames;
    this.#partials.end();
  }

  /** Takes the failure. Nothing comes after it; earlier replies can still be read. */
  fail(error: unknown): void {
    this.#partials.end({ error });
  }

  /** The next partial reply, or with `done` the final one, once there is one. Rejects where the call failed. One reader at a time. */
  async next(): Promise<IteratorResult<Buffer[], Buffer[]>> {
    const { done, value } = await this.#partials.next();
    return done === true ? { done, value: this.#final } : { done: false, value };
  }
}
