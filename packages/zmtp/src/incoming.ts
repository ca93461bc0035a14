/** Memory of what came to a socket and is not delivered: above all unfinished messages, in all its connections together. */
import type { Failure } from './engine/failure.js';

/** A connection with an unfinished message. */
export interface Receiving {
  /** Cuts the connection for what the peer did. */
  cut(failure: Failure): void;
}

/** Connections with less are not worth the bookkeeping, and are not cut. */
const LARGE_BYTES = 2 ** 16;

/**
 * Bounds unfinished messages in total. Beyond the bound it cuts the connection whose message has not grown for the longest time: a peer that
 * really sends is heard all the time.
 */
export class Incoming {
  readonly #maxBytes: number;
  /** Connections with a large unfinished message, the one heard last at the end. */
  readonly #large = new Map<Receiving, number>();
  #bytes = 0;
  /** Memory of all that came and was not passed on, finished messages included. */
  heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Memory of unfinished messages. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Cuts connections as beyond the bound until so many bytes are freed; returns how many were. */
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

  /** The connection was heard: its unfinished message holds so many bytes now, and held so many before. */
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

/** The part of one connection in it. */
export class IncomingShare {
  readonly #incoming: Incoming;
  readonly #receiving: Receiving;
  #unfinished = 0;
  #held = 0;

  constructor(incoming: Incoming, receiving: Receiving) {
    this.#incoming = incoming;
    this.#receiving = receiving;
  }

  /** The connection was heard, or is over. */
  set(unfinished: number, held: number): void {
    const before = this.#unfinished;
    this.#unfinished = unfinished;
    if (unfinished > 0 || before > 0) this.#incoming.onHeard(this.#receiving, unfinished, before);
    this.#incoming.heldBytes += held - this.#held;
    this.#held = held;
  }
}
