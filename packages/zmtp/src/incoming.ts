/** What has come to a socket and is not delivered: messages that are not complete, in all connections together. */
import type { Failure } from './engine/failure.js';

/** A connection with such a message. */
export interface Receiving {
  /** Cuts the connection for what the peer did. */
  cut(failure: Failure): void;
}

/** Less is not worth the bookkeeping: who has less is not cut. */
const LARGE_BYTES = 2 ** 16;

/**
 * Bounds them in total. Beyond the bound the connection is cut of whose message nothing has come for the longest time: whoever
 * really sends is heard all the time.
 */
export class Incoming {
  readonly #maxBytes: number;
  /** Those with a large message, the one that was heard last at the end. */
  readonly #large = new Map<Receiving, number>();
  #bytes = 0;
  /** Memory of all that came and was not given on, messages that are complete included. */
  heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** All of them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Cuts those of whose messages nothing has come for the longest time, until so many bytes are given up; returns how many were. */
  relieve(bytes: number): number {
    let relieved = 0;
    for (const [stale, held] of [...this.#large]) {
      if (relieved >= bytes) break;
      this.#large.delete(stale);
      relieved += held;
      stale.cut({ code: 'memory', text: `memory is short, and a message that is not complete holds ${held} bytes` });
    }
    return relieved;
  }

  /** The connection was heard: it holds so many bytes now, and held so many before. */
  onHeard(one: Receiving, bytes: number, before: number): void {
    this.#bytes += bytes - before;
    if (before >= LARGE_BYTES) this.#large.delete(one);
    if (bytes < LARGE_BYTES) return;
    this.#large.set(one, bytes);
    for (const [stale, held] of this.#large) {
      if (this.#bytes <= this.#maxBytes || stale === one) return;
      this.#large.delete(stale);
      stale.cut({
        code: 'too-large',
        text: `messages that are not complete hold ${this.#bytes} bytes, more than ${this.#maxBytes}; ${held} of them are of this connection, and nothing came of it for the longest time`,
      });
    }
  }
}
