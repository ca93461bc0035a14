/** The PUTs for a running task: in order, bounded, and over when the task is. */
import { totalBytes } from '@proj/frames';
import type { NfpPut } from './task.js';

/** Bytes that may wait besides the first PUT. */
const WAITING_MAX_BYTES = 16_777_216;

type Reader = (result: IteratorResult<NfpPut, undefined>) => void;

const OVER = { done: true, value: undefined } as const;

/** A bounded queue with one reader. */
export class PutQueue implements AsyncIterableIterator<NfpPut, undefined> {
  readonly #max: number;
  readonly #waiting: NfpPut[] = [];
  readonly #readers: Reader[] = [];
  #bytes = 0;
  #isOver = false;

  constructor(max: number) {
    this.#max = max;
  }

  /** False if it was dropped: too many wait, or nobody reads any more. */
  push(put: NfpPut): boolean {
    if (this.#isOver) return false;
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader({ done: false, value: put });
      return true;
    }
    const bytes = totalBytes(put.body);
    const isFull = this.#waiting.length > 0 && this.#bytes + bytes > WAITING_MAX_BYTES;
    if (isFull || this.#waiting.length >= this.#max) return false;
    this.#waiting.push(put);
    this.#bytes += bytes;
    return true;
  }

  /** Ends the queue and drops what waits. */
  end(): void {
    this.#isOver = true;
    this.#waiting.length = 0;
    this.#bytes = 0;
    for (const reader of this.#readers.splice(0)) reader(OVER);
  }

  next(): Promise<IteratorResult<NfpPut, undefined>> {
    const value = this.#waiting.shift();
    if (value !== undefined) {
      this.#bytes -= totalBytes(value.body);
      return Promise.resolve({ done: false, value });
    }
    if (this.#isOver) return Promise.resolve(OVER);
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  /** A `for await` that ends early: later PUTs are dropped. */
  return(): Promise<IteratorResult<NfpPut, undefined>> {
    this.end();
    return Promise.resolve(OVER);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
