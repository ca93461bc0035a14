/**
 * PZQ: the supply from a store that several servers share. Small batches, taken with a lease, only as fast as consumers take them:
 * what nobody takes here is given back at once, for a server whose consumers are idle. Rule 30 of docs/protocols/pzq.md.
 */
import type { Output } from './output.js';
import type { PzqSettings } from './settings.js';

/** How long a taken message may wait for its offer. */
const HOLD_MS = 1000;
/** Until the outcome of an offer is known. */
const OFFER_MS = 1000;
/** Pauses while there is nothing to take, or nobody to take it. */
const IDLE_MIN_MS = 5;
const IDLE_MAX_MS = 250;

/** Decides when and how much is taken. */
export class LeaseFetcher {
  readonly #settings: Pick<PzqSettings, 'ackTimeoutMs' | 'takeMax' | 'windowMaxBytes'>;
  readonly #out: Output;
  #limit = 1;
  /** Nobody has taken anything since the last time nobody did. */
  #idle = false;
  #idleMs = 0;
  #notBefore = -Infinity;
  #takenAt = -Infinity;

  constructor(settings: Pick<PzqSettings, 'ackTimeoutMs' | 'takeMax' | 'windowMaxBytes'>, out: Output) {
    this.#settings = settings;
    this.#out = out;
  }

  /** When to look again. */
  get notBefore(): number {
    return this.#notBefore;
  }

  /** Covers the wait for the offer as well, so that it outlasts the acknowledgement timeout. */
  get leaseMs(): number {
    return this.#settings.ackTimeoutMs + HOLD_MS + OFFER_MS;
  }

  /** The messages taken last have waited so long that their leases would end too early. */
  get overheld(): boolean {
    return this.#out.now - this.#takenAt > HOLD_MS;
  }

  /** Their leases are over: somebody else may have them. */
  get expired(): boolean {
    return this.#out.now - this.#takenAt >= this.leaseMs;
  }

  /** True when it asks for messages now, for at most `room`. */
  take(room: number): boolean {
    if (this.#notBefore > this.#out.now) return false;
    this.#takenAt = this.#out.now;
    this.#out.push({
      kind: 'take',
      limit: Math.min(this.#limit, room),
      maxBytes: this.#settings.windowMaxBytes,
      leaseMs: this.leaseMs,
    });
    return true;
  }

  taken(count: number): void {
    if (count === 0) this.#pause();
  }

  /** A consumer took a message: more next time, without a pause. */
  delivered(): void {
    this.#idle = false;
    this.#idleMs = 0;
    this.#limit = Math.min(this.#limit * 2, this.#settings.takeMax);
  }

  /** No consumer has room, or the store fails. Twice in a row: then messages lie longer with the store than here. */
  stalled(): void {
    this.#limit = 1;
    if (this.#idle) this.#idleMs = IDLE_MAX_MS;
    this.#idle = true;
    this.#pause();
  }

  #pause(): void {
    this.#idleMs = Math.min(Math.max(this.#idleMs * 2, IDLE_MIN_MS), IDLE_MAX_MS);
    this.#notBefore = this.#out.now + this.#idleMs;
  }
}
