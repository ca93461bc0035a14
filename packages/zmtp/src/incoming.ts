/** Memory of what came to a socket and is not delivered: above all unfinished messages, in all its connections together. */
import type { Failure } from './engine/failure.js';

/** A connection with an unfinished message. */
export interface Receiving {
  /** Cuts the connection for what the peer did. */
  cut(failure: Failure): void;
}

/** Connections with less are not worth the bookkeeping, and are not cut. */
const LARGE_BYTES = 2 ** 16;

/** A large unfinished message. */
interface Large {
  readonly bytes: number;
  /** When something of it came last. */
  readonly heardAt: number;
}

/**
 * Bounds unfinished messages in total. Beyond the bound it cuts the connection whose message has not grown for the longest time: a peer that
 * really sends is heard all the time.
 */
export class Incoming {
  readonly #maxBytes: number;
  /** Connections with a large unfinished message, the one heard last at the end. */
  readonly #large = new Map<Receiving, Large>();
  #bytes = 0;
  /** Nothing was read before: that nothing came says nothing. */
  #since = -Infinity;
  /** Memory of all that came and was not passed on, finished messages included. */
  heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Memory of unfinished messages. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Reading goes on after it was halted. */
  onProceed(now: number): void {
    this.#since = now;
  }

  /** Cuts connections as beyond the bound until so many bytes are freed, but none that was heard after `until`; returns how many were. */
  relieve(bytes: number, until: number): number {
    let relieved = 0;
    for (const [stale, { bytes: held, heardAt }] of [...this.#large]) {
      if (relieved >= bytes || Math.max(heardAt, this.#since) > until) break;
      this.#large.delete(stale);
      relieved += held;
      stale.cut({ code: 'memory', text: `memory is short, and a message that is not complete holds ${held} bytes` });
    }
    return relieved;
  }

  /** The connection was heard: its unfinished message holds so many bytes now, and held so many before. */
  onHeard(one: Receiving, bytes: number, before: number, now: number): void {
    this.#bytes += bytes - before;
    if (before >= LARGE_BYTES) this.#large.delete(one);
    if (bytes < LARGE_BYTES) return;
    this.#large.set(one, { bytes, heardAt: now });
    for (const [stale, { bytes: held }] of this.#large) {
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
  set(unfinished: number, held: number, now: number): void {
    const before = this.#unfinished;
    this.#unfinished = unfinished;
    if (unfinished > 0 || before > 0) this.#incoming.onHeard(this.#receiving, unfinished, before, now);
    this.#incoming.heldBytes += held - this.#held;
    this.#held = held;
  }
}
