/**
 * Checker of rules 5 and 8 of docs/protocols/nfp.md, where another mechanism would hide a mistake: every worker gets a KEEPALIVE per
 * interval, silent workers are given up in time but not early, and strangers get DISCONNECT at once, at most once a second.
 */
import type { Excuses } from '../kit/excuses.js';
import { ROUNDING_MS } from '../kit/worker-patience.js';
import { BROKER } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** Settings that the broker and all workers share. */
export interface Keepalives {
  readonly keepaliveIntervalMs: number;
  readonly keepaliveMultiplier: number;
}

const DISCONNECT_EVERY_MS = 1000;

/** When a registered worker last sent something, and last got a KEEPALIVE. */
interface Times {
  heard: number;
  beaten: number;
}

/** Watches which peers the broker sends to, and when. */
export class MannersChecker implements Checker {
  readonly #intervalMs: number;
  readonly #holdMs: number;
  readonly #excuses: Excuses;
  readonly #clock: { now(): number };
  readonly #workers = new Map<string, Times>();
  /** When each stranger got DISCONNECT. */
  readonly #toldAt = new Map<string, number>();
  /** A stranger that must get DISCONNECT before the broker reads on. */
  #owed: string | undefined;

  constructor({ keepaliveIntervalMs, keepaliveMultiplier }: Keepalives, excuses: Excuses, clock: { now(): number }) {
    this.#intervalMs = keepaliveIntervalMs;
    this.#holdMs = keepaliveIntervalMs * keepaliveMultiplier;
    this.#excuses = excuses;
    this.#clock = clock;
  }

  onSight(sight: Sight): void {
    const now = this.#clock.now();
    switch (sight.kind) {
      case 'worker-ready':
        this.#workers.set(sight.peer.key, { heard: now, beaten: now });
        // Its registration had outlived its connection.
        if (this.#owed === sight.peer.key) this.#owed = undefined;
        break;
      case 'worker-lost':
        this.#lost(sight.peer.key, sight.reason);
        break;
      case 'closing':
        this.#owed = undefined;
        break;
      case 'crashed':
        if (sight.process !== BROKER) break;
        this.#owed = undefined;
        this.#workers.clear();
        this.#toldAt.clear();
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

  #received({ peer: { key }, command: { kind } }: Sight & { kind: 'received' }): void {
    const owed = this.#owed;
    this.#owed = undefined;
    if (owed !== undefined)
      throw new Error(`${owed}, a stranger that took itself for a worker, was not told DISCONNECT`);
    const times = this.#workers.get(key);
    // A worker calls services of the broker under its own routing id: that is not a sign of life.
    if (times !== undefined && !kind.startsWith('client-')) times.heard = this.#clock.now();
    else if (times !== undefined) return;
    else if ((kind === 'worker-keepalive' || kind === 'worker-answer') && !this.#wasTold(key)) this.#owed = key;
  }

  #sent({ peer: { key }, command: { kind } }: Sight & { kind: 'sent' }): void {
    const now = this.#clock.now();
    const times = this.#workers.get(key);
    if (kind === 'broker-open') {
      // The intervals start anew.
      if (times !== undefined) times.beaten = now;
    } else if (kind === 'broker-disconnect') {
      if (times !== undefined) return;
      if (this.#owed !== key) throw new Error(`DISCONNECT to ${key}, which has not asked for it`);
      this.#owed = undefined;
      this.#toldAt.set(key, now);
    } else if (kind === 'broker-keepalive' || kind === 'worker-call') {
      if (times === undefined) throw new Error(`${kind} to ${key}, which is not registered`);
      if (now - times.heard > this.#holdMs + ROUNDING_MS && !this.#isExcused())
        throw new Error(`${kind} to ${key}, which has been silent for ${(now - times.heard).toFixed(0)} ms`);
      if (kind !== 'broker-keepalive') return;
      this.#checkBeat(key, times, now);
      times.beaten = now;
    }
  }

  #lost(worker: string, reason: string): void {
    const times = this.#workers.get(worker);
    this.#workers.delete(worker);
    if (times === undefined) throw new Error(`${worker} was lost and not registered`);
    const now = this.#clock.now();
    this.#checkBeat(worker, times, now);
    if (reason !== 'expired') return;
    const silentMs = now - times.heard;
    if (silentMs < this.#holdMs - ROUNDING_MS)
      throw new Error(`${worker} was given up after ${silentMs.toFixed(0)} ms of silence`);
    const pause = this.#excuses.lastPause(BROKER);
    // A KEEPALIVE was due within the first interval of the pause: the broker knows about everything before that.
    if (pause === undefined || times.heard > pause.until || pause.lastedMs <= 2 * this.#intervalMs) return;
    if (now < pause.until + pause.lastedMs - this.#intervalMs - ROUNDING_MS)
      throw new Error(`${worker} was given up ${(now - pause.until).toFixed(0)} ms after the broker woke up`);
  }

  #checkBeat(worker: string, { beaten }: Times, now: number): void {
    if (now - beaten > this.#intervalMs + ROUNDING_MS && !this.#isExcused())
      throw new Error(`${worker} got no KEEPALIVE for ${(now - beaten).toFixed(0)} ms`);
  }

  #isExcused(): boolean {
    return this.#excuses.has(BROKER, this.#holdMs, this.#clock.now());
  }

  #wasTold(key: string): boolean {
    const at = this.#toldAt.get(key);
    return at !== undefined && this.#clock.now() - at < DISCONNECT_EVERY_MS;
  }
}
