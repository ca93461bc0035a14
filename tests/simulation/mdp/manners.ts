/**
 * Checker of rules 7, 8, 10, 13 and 15 of docs/protocols/mdp.md, where another mechanism would hide a mistake: a worker that
 * has been silent too long gets nothing more; a stranger gets DISCONNECT at once, but not again and again.
 */
import type { Excuses } from '../kit/excuses.js';
import { ROUNDING_MS } from '../kit/worker-patience.js';
import { WorkerLives } from '../kit/worker-lives.js';
import type { BrokerPatience } from '../kit/worker-lives.js';
import { peerOf } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** Watches which peers brokers send to, and when. */
export class MannersChecker implements Checker {
  readonly #patience: BrokerPatience;
  readonly #clock: { now(): number };
  readonly #lives: WorkerLives;
  readonly #disconnectedAt = new Map<string, number>();
  readonly #excuses: Excuses;
  /** A stranger that must get DISCONNECT before the broker reads on. */
  #owed: string | undefined;

  constructor(patience: BrokerPatience, excuses: Excuses, clock: { now(): number }) {
    this.#patience = patience;
    this.#lives = new WorkerLives(patience);
    this.#excuses = excuses;
    this.#clock = clock;
  }

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'worker-ready':
        this.#lives.begin(peerOf(sight), this.#clock.now());
        break;
      case 'worker-lost':
        if (sight.reason === 'expired') this.#checkExpiry(sight.broker, peerOf(sight));
        this.#lives.end(peerOf(sight));
        break;
      case 'crashed':
        this.#owed = undefined;
        this.#lives.endAll(`${sight.broker}/`);
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
    const owed = this.#owed;
    this.#owed = undefined;
    if (owed !== undefined) throw new Error('a stranger that took itself for a worker was not told DISCONNECT');
    const peer = peerOf(sight);
    const { kind } = sight.command;
    if (this.#lives.has(peer)) this.#lives.heard(peer, meaningOf(kind), this.#clock.now());
    else if ((kind === 'heartbeat' || kind === 'worker-partial' || kind === 'worker-final') && !this.#wasTold(peer))
      this.#owed = peer;
  }

  #sent(sight: Sight & { kind: 'sent' }): void {
    const peer = peerOf(sight);
    const { kind } = sight.command;
    if (kind === 'disconnect') {
      if (this.#owed === peer) this.#owed = undefined;
      else if (!this.#lives.has(peer)) throw new Error('DISCONNECT to who has not asked for it');
      this.#disconnectedAt.set(peer, this.#clock.now());
    } else if (kind === 'heartbeat' || kind === 'worker-request') {
      this.#checkLife(sight.broker, peer, kind);
      if (kind === 'worker-request') this.#lives.gotJob(peer, this.#clock.now());
    }
  }

  #checkLife(broker: string, peer: string, kind: string): void {
    if (!this.#lives.has(peer)) throw new Error(`${kind} to a worker that is not registered`);
    const now = this.#clock.now();
    const [silentMs, limitMs] = [this.#lives.silentMs(peer, now), this.#lives.limitMs(peer)];
    if (silentMs <= limitMs + ROUNDING_MS || this.#excuses.has(broker, limitMs, now)) return;
    throw new Error(`${kind} to a worker that has been silent for ${silentMs.toFixed(0)} ms`);
  }

  /** Rule 13 and ADR 4: not before its time, and not because the broker itself was asleep. */
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

  /** Rule 8: one DISCONNECT per interval and identity is enough. */
  #wasTold(peer: string): boolean {
    const at = this.#disconnectedAt.get(peer);
    return at !== undefined && this.#clock.now() - at < this.#patience.heartbeatIntervalMs;
  }
}

/** What a worker's message says about its life. */
function meaningOf(kind: string): 'beat' | 'answer' | 'other' {
  if (kind === 'heartbeat') return 'beat';
  return kind === 'worker-final' ? 'answer' : 'other';
}
