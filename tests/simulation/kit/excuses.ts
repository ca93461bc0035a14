/**
 * Which processes may be late: a process that was paused or slowed proves nothing about its patience until it has
 * caught up.
 */
import type { NetworkEvent } from '@proj/transport/virtual';
import type { Watcher } from './simulation.js';

/** The last finished pause of a process. */
export interface Pause {
  readonly until: number;
  readonly lastedMs: number;
}

/** Remembers what checkers must forgive. */
export class Excuses implements Watcher {
  readonly #pausedAt = new Map<string, number>();
  readonly #slowedBy = new Map<string, number>();
  readonly #pauses = new Map<string, Pause>();
  /** Until when a process may be behind although its trouble is over. */
  readonly #until = new Map<string, number>();

  onEvent(event: NetworkEvent, now: number): void {
    switch (event.kind) {
      case 'paused':
        this.#pausedAt.set(event.process, now);
        break;
      case 'resumed': {
        const lastedMs = now - (this.#pausedAt.get(event.process) ?? now);
        this.#pausedAt.delete(event.process);
        this.#pauses.set(event.process, { until: now, lastedMs });
        this.#forgive(event.process, lastedMs, now);
        break;
      }
      case 'slowed':
        this.#forgive(event.process, this.#slowedBy.get(event.process) ?? 0, now);
        if (event.maxMs > 0) this.#slowedBy.set(event.process, event.maxMs);
        else this.#slowedBy.delete(event.process);
        break;
      case 'crashed':
        for (const books of [this.#pausedAt, this.#slowedBy, this.#pauses, this.#until]) books.delete(event.process);
        break;
      default:
        break;
    }
  }

  /** True while the process may be behind by more than `patienceMs`. */
  has(process: string, patienceMs: number, now: number): boolean {
    if (this.#pausedAt.has(process) || this.#slowedBy.has(process)) return true;
    return now <= (this.#until.get(process) ?? -Infinity) + patienceMs;
  }

  /** The last pause of this process, if any. */
  lastPause(process: string): Pause | undefined {
    return this.#pauses.get(process);
  }

  /** The last timer is late by that much, and a process that notices gives its peers as much extra time. */
  #forgive(process: string, lateMs: number, now: number): void {
    this.#until.set(process, Math.max(this.#until.get(process) ?? -Infinity, now + 2 * lateMs));
  }
}
