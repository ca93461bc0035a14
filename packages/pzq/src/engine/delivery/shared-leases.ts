/**
 * PZQ: the leases of a store that several servers share. Messages are taken in small batches, only as fast as consumers take them. Messages that
 * nobody takes here are returned at once, for a server whose consumers are idle. Rule 30 of docs/protocols/pzq.md.
 */
import type { PzqSettings } from '../../options.js';
import type { Output } from '../output.js';

/** How long a taken message may wait for its offer. */
const HOLD_MS = 1000;
/** How long the outcome of an offer may take. */
const OFFER_MS = 1000;
/** Pauses while there is nothing to take, or no consumer for it. */
const IDLE_MIN_MS = 5;
const IDLE_MAX_MS = 250;

type LeaseSettings = Pick<PzqSettings, 'ackTimeoutMs' | 'takeMax' | 'windowMaxBytes'>;

/** Decides when and how much to take. */
export class LeaseFetcher {
  readonly #settings: LeaseSettings;
  readonly #out: Output;
  #limit = 1;
  /** No consumer has taken anything since the last stall. */
  #idle = false;
  #idleMs = 0;
  #notBefore = -Infinity;
  #takenAt = -Infinity;

  constructor(settings: LeaseSettings, out: Output) {
    this.#settings = settings;
    this.#out = out;
  }

  /** When to check again. */
  get notBefore(): number {
    return this.#notBefore;
  }

  /** Also covers the wait for the offer, so that a lease outlasts the acknowledgement timeout. */
  get #leaseMs(): number {
    return this.#settings.ackTimeoutMs + HOLD_MS + OFFER_MS;
  }

  /** True if the last batch has waited so long that its leases would end too early. */
  get overheld(): boolean {
    return this.#out.now - this.#takenAt > HOLD_MS;
  }

  /** True if their leases are over: another server may have them. */
  get expired(): boolean {
    return this.#out.now - this.#takenAt >= this.#leaseMs;
  }

  /** Asks for at most `room` messages. False while it pauses. */
  take(room: number): boolean {
    if (this.#notBefore > this.#out.now) return false;
    this.#takenAt = this.#out.now;
    this.#out.effects.push({
      kind: 'take',
      limit: Math.min(this.#limit, room),
      maxBytes: this.#settings.windowMaxBytes,
      leaseMs: this.#leaseMs,
    });
    return true;
  }

  taken(count: number): void {
    if (count === 0) this.#pause();
  }

  /** A consumer took a message: takes more next time, without a pause. */
  delivered(): void {
    this.#idle = false;
    this.#idleMs = 0;
    this.#limit = Math.min(this.#limit * 2, this.#settings.takeMax);
  }

  /** No consumer has room, or the store fails. From the second time in a row on, it leaves messages to other servers for longer. */
  stalled(): void {
    this.#limit = 1;
    if (this.#idle) this.#idleMs = IDLE_MAX_MS;
    this.#idle = true;
    this.#pause();
  }

  /** Returns messages, ready in `delayMs`. */
  release(seqs: readonly number[], delayMs: number): void {
    this.#out.effects.push({ kind: 'release', seqs, delayMs });
  }

  /** Restarts a lease. */
  extend(seq: number): void {
    this.#out.effects.push({ kind: 'extend', seqs: [seq], leaseMs: this.#leaseMs });
  }

  #pause(): void {
    this.#idleMs = Math.min(Math.max(this.#idleMs * 2, IDLE_MIN_MS), IDLE_MAX_MS);
    this.#notBefore = this.#out.now + this.#idleMs;
  }
}
