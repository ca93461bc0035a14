/** Memory of messages received but not delivered: mainly unfinished messages, over all connections of a socket. */
import type { Failure } from './engine/failure.js';

/** A connection with an unfinished message. */
export interface Receiving {
  /** True while it waits for its turn to be read, so that silence means nothing. */
  readonly isUnread: boolean;
  /** Cuts the connection because of what the peer did. */
  cut(failure: Failure): void;
}

/** Connections that hold less are neither tracked nor cut. */
const LARGE_BYTES = 2 ** 16;

/** A large unfinished message. */
interface Large {
  readonly bytes: number;
  /** When something of it came last. */
  readonly heardAt: number;
}

/**
 * Bounds unfinished messages in total. Beyond the bound it cuts the connection whose message has not grown for the longest time, so a peer that
 * keeps sending is safe.
 */
export class Incoming {
  readonly #maxBytes: number;
  /** Connections with a large unfinished message, least recently active first. */
  readonly #large = new Map<Receiving, Large>();
  #bytes = 0;
  /** Before this, nothing was read, so silence meant nothing. */
  #since = -Infinity;
  /** Memory of everything received and not passed on, including finished messages. */
  heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Memory of unfinished messages. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Reading resumes after a pause. */
  onProceed(now: number): void {
    this.#since = now;
  }

  /**
   * Cuts connections as if beyond the bound until this many bytes are freed, but none that received anything after `until`, and with
   * `sparesUnread` none that waits to be read; returns the bytes freed.
   */
  relieve(bytes: number, until: number, sparesUnread: boolean): number {
    let relieved = 0;
    for (const [stale, { bytes: held, heardAt }] of [...this.#large]) {
      if (relieved >= bytes || Math.max(heardAt, this.#since) > until) break;
      if (sparesUnread && stale.isUnread) continue;
      this.#large.delete(stale);
      relieved += held;
      stale.cut({ code: 'memory', text: `memory is short, and an unfinished message holds ${held} bytes` });
    }
    return relieved;
  }

  /** The connection received bytes: its unfinished message grew from `before` to `bytes`. */
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
        text: `unfinished messages hold ${this.#bytes} bytes, more than ${this.#maxBytes}; this connection holds ${held} of them and has been idle longest`,
      });
    }
  }
}

/** One connection's share. */
export class IncomingShare {
  readonly #incoming: Incoming;
  readonly #receiving: Receiving;
  #unfinished = 0;
  #held = 0;

  constructor(incoming: Incoming, receiving: Receiving) {
    this.#incoming = incoming;
    this.#receiving = receiving;
  }

  /** The connection received bytes, or has ended. */
  set(unfinished: number, held: number, now: number): void {
    const before = this.#unfinished;
    this.#unfinished = unfinished;
    if (unfinished > 0 || before > 0) this.#incoming.onHeard(this.#receiving, unfinished, before, now);
    this.#incoming.heldBytes += held - this.#held;
    this.#held = held;
  }
}
