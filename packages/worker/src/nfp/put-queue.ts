/** The PUTs for a running task: in order, bounded, and over when the task is. */
import { totalBytes } from '@proj/frames';
import { BoundedBuffer } from '@proj/transport';
import type { NfpPut } from './task.js';

/** Bytes that may wait besides the first PUT. */
const WAITING_MAX_BYTES = 16_777_216;

/** A bounded queue for the task's reader. */
export class PutQueue implements AsyncIterableIterator<NfpPut, undefined> {
  readonly #waiting: BoundedBuffer<NfpPut>;

  /** `max`: most PUTs that wait, at least 1. */
  constructor(max: number) {
    this.#waiting = new BoundedBuffer({ itemsMax: max, bytesMax: WAITING_MAX_BYTES });
  }

  /** False if it was dropped: too many wait, or nobody reads any more. */
  push(put: NfpPut): boolean {
    return this.#waiting.offer(put, totalBytes(put.body));
  }

  /** Ends the queue and drops what waits. */
  end(): void {
    this.#waiting.end();
    this.#waiting.clear();
  }

  next(): Promise<IteratorResult<NfpPut, undefined>> {
    return this.#waiting.next();
  }

  /** A `for await` that ends early: later PUTs are dropped. */
  return(): Promise<IteratorResult<NfpPut, undefined>> {
    this.end();
    return this.#waiting.next();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
