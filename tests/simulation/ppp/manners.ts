/**
 * Checker of rules 1, 2, 7 and 11 of docs/protocols/ppp.md, where another mechanism would hide a mistake: strangers get nothing,
 * registered workers a heartbeat per interval and no more, and a worker is given up when its time is over and not before.
 */
import type { Excuses } from '../kit/excuses.js';
import { ROUNDING_MS } from '../kit/worker-patience.js';
import type { Patience } from '../kit/worker-patience.js';
import { forgetBroker, peerOf } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** Watches to whom brokers speak, and when. */
export class MannersChecker implements Checker {
  readonly #patience: Patience;
  readonly #clock: { now(): number };
  readonly #excuses: Excuses;
  /** When each registered worker was last heard of, or got its job. */
  readonly #heardAt = new Map<string, number>();
  /** When each registered worker was last sent a heartbeat, or registered. */
  readonly #beatAt = new Map<string, number>();
  /** Who said READY last, until somebody says something else. */
  #opening: string | undefined;

  constructor(patience: Patience, excuses: Excuses, clock: { now(): number }) {
    this.#patience = patience;
    this.#excuses = excuses;
    this.#clock = clock;
  }

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'worker-ready':
        if (this.#opening !== peerOf(sight)) throw new Error('a worker was registered that did not say READY');
        this.#heardAt.set(peerOf(sight), this.#clock.now());
        this.#beatAt.set(peerOf(sight), this.#clock.now());
        break;
      case 'worker-lost':
        if (sight.reason === 'expired') this.#checkExpiry(sight.broker, peerOf(sight));
        this.#heardAt.delete(peerOf(sight));
        this.#beatAt.delete(peerOf(sight));
        break;
      case 'crashed':
        forgetBroker(sight.broker, this.#heardAt, this.#beatAt);
        break;
      case 'received':
        this.#received(sight);
        break;
      case 'sent':
        this.#sent(sight);
        break;
      default:
        break;
    }
  }

  #received(sight: Sight & { kind: 'received' }): void {
    const peer = peerOf(sight);
    const { kind } = sight.command;
    this.#opening = kind === 'ready' ? peer : undefined;
    // What comes to the frontend is no sign of life: a client may have a worker's routing id.
    if (kind !== 'client-request' && this.#heardAt.has(peer)) this.#heardAt.set(peer, this.#clock.now());
  }

  #sent(sight: Sight & { kind: 'sent' }): void {
    const { kind } = sight.command;
    if (kind !== 'heartbeat' && kind !== 'request') return;
    const peer = peerOf(sight);
    const now = this.#clock.now();
    this.#checkLife(sight.broker, peer, kind);
    // A busy worker's time begins with its job.
    if (kind === 'request') this.#heardAt.set(peer, now);
    else {
      const gap = now - (this.#beatAt.get(peer) ?? -Infinity);
      // Rule 7: up to 1/32 early, to leave with others.
      if (gap < (this.#patience.heartbeatIntervalMs * 31) / 32 - ROUNDING_MS)
        throw new Error(`two heartbeats within ${gap.toFixed(0)} ms`);
      this.#beatAt.set(peer, now);
    }
  }

  #checkLife(broker: string, peer: string, kind: string): void {
    const heardAt = this.#heardAt.get(peer);
    if (heardAt === undefined) throw new Error(`${kind} to a worker that is not registered`);
    const limitMs = this.#patience.heartbeatIntervalMs * this.#patience.liveness;
    const now = this.#clock.now();
    if (now - heardAt <= limitMs + ROUNDING_MS || this.#excuses.has(broker, limitMs, now)) return;
    throw new Error(`${kind} to a worker that has been silent for ${(now - heardAt).toFixed(0)} ms`);
  }

  /** Rule 11 and ADR 4: not before its time, and not because the broker itself was asleep. */
  #checkExpiry(broker: string, peer: string): void {
    const { heartbeatIntervalMs, liveness } = this.#patience;
    const now = this.#clock.now();
    const heardAt = this.#heardAt.get(peer) ?? -Infinity;
    if (now - heardAt < heartbeatIntervalMs * liveness - ROUNDING_MS)
      throw new Error(`a worker was given up after ${(now - heardAt).toFixed(0)} ms of silence`);
    const pause = this.#excuses.lastPause(broker);
    // A heartbeat to the worker was due within the first interval of the pause: of all but that the broker knows.
    if (pause === undefined || heardAt > pause.until || pause.lastedMs <= 2 * heartbeatIntervalMs) return;
    if (now < pause.until + pause.lastedMs - heartbeatIntervalMs - ROUNDING_MS)
      throw new Error(`a worker was given up ${(now - pause.until).toFixed(0)} ms after the broker woke up`);
  }
}
