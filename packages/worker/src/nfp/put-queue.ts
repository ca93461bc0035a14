/** The PUTs for a running task: in order, bounded, and ended with the task. */
import { totalBytes } from '@proj/frames';
import { BoundedBuffer } from '@proj/transport';
import type { NfpPut } from './task.js';

/** Bytes that may wait besides the first PUT. */
const WAITING_MAX_BYTES = 16_777_216;

/** A bounded queue with one reader. */
export class PutQueue implements AsyncIterableIterator<NfpPut, undefined> {
  readonly #buffer: BoundedBuffer<NfpPut>;

  constructor(max: number) {
    this.#buffer = new BoundedBuffer({ itemsMax: max, bytesMax: WAITING_MAX_BYTES });
  }

  /** False if it was dropped: too many are waiting, or nobody reads any more. */
  push(put: NfpPut): boolean {
    return this.#buffer.offer(put, totalBytes(put.body));
  }

  /** Ends the queue and drops waiting PUTs. */
  end(): void {
    this.#buffer.end();
    this.#buffer.clear();
  }

  next(): Promise<IteratorResult<NfpPut, undefined>> {
    return this.#buffer.next();
  }

  /** A `for await` that ends early: later PUTs are dropped. */
  return(): Promise<IteratorResult<NfpPut, undefined>> {
    this.end();
    return this.next();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
