/**
 * Checker of rules 7, 8, 10, 13 and 15 of docs/protocols/mdp.md, where another mechanism would hide a mistake: a worker that
 * has been silent too long gets nothing more, a stranger is told DISCONNECT at once but not again and again.
 */
import type { Excuses } from '../kit/excuses.js';
import { ROUNDING_MS } from '../kit/worker-patience.js';
import type { Patience } from '../kit/worker-patience.js';
import { peerOf } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** Watches to whom brokers speak, and when. */
export class MannersChecker implements Checker {
  readonly #patience: Patience;
  readonly #clock: { now(): number };
  /** When each registered worker was last heard of, or got its job. */
  readonly #heardAt = new Map<string, number>();
  readonly #disconnectedAt = new Map<string, number>();
  readonly #excuses: Excuses;
  /** A stranger that must be told DISCONNECT before the broker reads on. */
  #owed: string | undefined;

  constructor(patience: Patience, excuses: Excuses, clock: { now(): number }) {
    this.#patience = patience;
    this.#excuses = excuses;
    this.#clock = clock;
  }

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'worker-ready':
        this.#heardAt.set(peerOf(sight), this.#clock.now());
        break;
      case 'worker-lost':
        if (sight.reason === 'expired') this.#checkExpiry(sight.broker, peerOf(sight));
        this.#heardAt.delete(peerOf(sight));
        break;
      case 'crashed':
        this.#owed = undefined;
        for (const peer of this.#heardAt.keys()) if (peer.startsWith(`${sight.broker}/`)) this.#heardAt.delete(peer);
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
    if (this.#heardAt.has(peer)) this.#heardAt.set(peer, this.#clock.now());
    else if ((kind === 'heartbeat' || kind === 'worker-partial' || kind === 'worker-final') && !this.#wasTold(peer))
      this.#owed = peer;
  }

  #sent(sight: Sight & { kind: 'sent' }): void {
    const peer = peerOf(sight);
    const { kind } = sight.command;
    if (kind === 'disconnect') {
      if (this.#owed === peer) this.#owed = undefined;
      else if (!this.#heardAt.has(peer)) throw new Error('DISCONNECT to who has not asked for it');
      this.#disconnectedAt.set(peer, this.#clock.now());
    } else if (kind === 'heartbeat' || kind === 'worker-request') {
      this.#checkLife(sight.broker, peer, kind);
      // A busy worker's time begins with its job.
      if (kind === 'worker-request') this.#heardAt.set(peer, this.#clock.now());
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

  /** Rule 13 and ADR 4: not before its time, and not because the broker itself was asleep. */
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

  /** Rule 8: one DISCONNECT per interval and identity is enough. */
  #wasTold(peer: string): boolean {
    const at = this.#disconnectedAt.get(peer);
    return at !== undefined && this.#clock.now() - at < this.#patience.heartbeatIntervalMs;
  }
}
