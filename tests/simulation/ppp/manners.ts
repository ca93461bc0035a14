/**
 * Checker of rules 1, 2, 7 and 11 of docs/protocols/ppp.md, where another mechanism would hide a mistake: strangers get nothing,
 * registered workers get one heartbeat per interval, and a worker is given up when its time is over and not before.
 */
import type { Excuses } from '../kit/excuses.js';
import { ROUNDING_MS } from '../kit/worker-patience.js';
import { WorkerLives } from '../kit/worker-lives.js';
import type { BrokerPatience } from '../kit/worker-lives.js';
import { forgetBroker, peerOf } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** Watches which peers brokers send to, and when. */
export class MannersChecker implements Checker {
  readonly #patience: BrokerPatience;
  readonly #clock: { now(): number };
  readonly #excuses: Excuses;
  readonly #lives: WorkerLives;
  /** When each registered worker last got a heartbeat, or registered. */
  readonly #beatAt = new Map<string, number>();
  /** The last sender of READY, until another message arrives. */
  #opening: string | undefined;

  constructor(patience: BrokerPatience, excuses: Excuses, clock: { now(): number }) {
    this.#patience = patience;
    this.#lives = new WorkerLives(patience);
    this.#excuses = excuses;
    this.#clock = clock;
  }

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'worker-ready':
        if (this.#opening !== peerOf(sight)) throw new Error('a worker was registered that did not say READY');
        this.#lives.begin(peerOf(sight), this.#clock.now());
        this.#beatAt.set(peerOf(sight), this.#clock.now());
        break;
      case 'worker-lost':
        if (sight.reason === 'expired') this.#checkExpiry(sight.broker, peerOf(sight));
        this.#lives.end(peerOf(sight));
        this.#beatAt.delete(peerOf(sight));
        break;
      case 'crashed':
        this.#lives.endAll(`${sight.broker}/`);
        forgetBroker(sight.broker, this.#beatAt);
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
    // Messages at the frontend are not signs of life: a client may have a worker's routing id.
    if (kind !== 'client-request') this.#lives.heard(peer, meaningOf(kind), this.#clock.now());
  }

  #sent(sight: Sight & { kind: 'sent' }): void {
    const { kind } = sight.command;
    if (kind !== 'heartbeat' && kind !== 'request') return;
    const peer = peerOf(sight);
    const now = this.#clock.now();
    this.#checkLife(sight.broker, peer, kind);
    if (kind === 'request') this.#lives.gotJob(peer, now);
    else {
      const gap = now - (this.#beatAt.get(peer) ?? -Infinity);
      // Rule 7: up to 1/32 early, to be sent with others.
      if (gap < (this.#patience.heartbeatIntervalMs * 31) / 32 - ROUNDING_MS)
        throw new Error(`two heartbeats within ${gap.toFixed(0)} ms`);
      this.#beatAt.set(peer, now);
    }
  }

  #checkLife(broker: string, peer: string, kind: string): void {
    if (!this.#lives.has(peer)) throw new Error(`${kind} to a worker that is not registered`);
    const now = this.#clock.now();
    const [silentMs, limitMs] = [this.#lives.silentMs(peer, now), this.#lives.limitMs(peer)];
    if (silentMs <= limitMs + ROUNDING_MS || this.#excuses.has(broker, limitMs, now)) return;
    throw new Error(`${kind} to a worker that has been silent for ${silentMs.toFixed(0)} ms`);
  }

  /** Rule 11 and ADR 4: not before its time, and not because the broker itself was asleep. */
  #checkExpiry(broker: string, peer: string): void {
    const { heartbeatIntervalMs } = this.#patience;
    const now = this.#clock.now();
    const silentMs = this.#lives.silentMs(peer, now);
    if (silentMs < this.#lives.limitMs(peer) - ROUNDING_MS)
      throw new Error(`a worker was given up after ${silentMs.toFixed(0)} ms of silence`);
    const pause = this.#excuses.lastPause(broker);
    // A heartbeat to the worker was due within the first interval of the pause: the broker knows about everything
    // before that.
    if (pause === undefined || now - silentMs > pause.until || pause.lastedMs <= 2 * heartbeatIntervalMs) return;
    if (now < pause.until + pause.lastedMs - heartbeatIntervalMs - ROUNDING_MS)
      throw new Error(`a worker was given up ${(now - pause.until).toFixed(0)} ms after the broker woke up`);
  }
}

/** What a worker's message says about its life. */
function meaningOf(kind: string): 'beat' | 'answer' | 'other' {
  if (kind === 'heartbeat') return 'beat';
  return kind === 'reply' ? 'answer' : 'other';
}
