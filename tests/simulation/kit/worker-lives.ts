/**
 * What a broker must know about its workers' lives, such as by rules 11 to 13 of docs/protocols/mdp.md: how long each worker has been silent, and how long it may be, which depends on whether it has ever sent a
 * heartbeat while working.
 */
import { ROUNDING_MS } from './worker-patience.js';
import type { Patience } from './worker-patience.js';

/** Settings of a broker. */
export interface BrokerPatience extends Patience {
  /** For busy workers that have never sent a heartbeat while working. */
  readonly muteExpiryMs: number;
}

interface Life {
  /** When it last sent something, or got its job. */
  heardAt: number;
  busy: boolean;
  beatsAtWork: boolean;
}

/** The registered workers of all brokers, by any unique name. */
export class WorkerLives {
  readonly #patience: BrokerPatience;
  readonly #lives = new Map<string, Life>();

  constructor(patience: BrokerPatience) {
    this.#patience = patience;
  }

  has(worker: string): boolean {
    return this.#lives.has(worker);
  }

  begin(worker: string, now: number): void {
    this.#lives.set(worker, { heardAt: now, busy: false, beatsAtWork: false });
  }

  end(worker: string): void {
    this.#lives.delete(worker);
  }

  /** Ends all workers whose names begin with this. */
  endAll(prefix: string): void {
    for (const worker of this.#lives.keys()) if (worker.startsWith(prefix)) this.#lives.delete(worker);
  }

  /** A busy worker's time begins with its job. */
  gotJob(worker: string, now: number): void {
    const life = this.#lives.get(worker);
    if (life !== undefined) Object.assign(life, { heardAt: now, busy: true });
  }

  /** The worker sent something; does nothing for an unregistered one. */
  heard(worker: string, what: 'beat' | 'answer' | 'other', now: number): void {
    const life = this.#lives.get(worker);
    if (life === undefined) return;
    const wasMute = life.busy && !life.beatsAtWork;
    if (what === 'answer') life.busy = false;
    if (what === 'beat' && wasMute) {
      // A heartbeat that may have crossed with the job proves nothing.
      if (now - life.heardAt < this.#patience.heartbeatIntervalMs / 2 - ROUNDING_MS) return;
      life.beatsAtWork = true;
    }
    life.heardAt = now;
  }

  /** How long a registered worker has been silent. */
  silentMs(worker: string, now: number): number {
    return now - (this.#lives.get(worker)?.heardAt ?? -Infinity);
  }

  /** How long a registered worker may be silent. */
  limitMs(worker: string): number {
    const { heartbeatIntervalMs, liveness, muteExpiryMs } = this.#patience;
    const life = this.#lives.get(worker);
    return life?.busy === true && !life.beatsAtWork ? muteExpiryMs : heartbeatIntervalMs * liveness;
  }
}
