/**
 * NFP broker: registered workers, when each is due a KEEPALIVE, and when it has been silent too long (rules 5 to 7).
 *
 * OPEN gives each worker its own interval, so one heap holds the next time to check each worker. A message only sets `lastSeen`; the heap entry
 * moves when it comes up. So a message costs O(1), and an idle worker O(log n) per interval.
 */
import { DeadlineHeap } from '@proj/heartbeat';
import type { Terms, Worker } from '../records.js';

/** KEEPALIVEs are sent at multiples of this fraction of their interval: many workers, few wake-ups. */
const TOGETHER = 1 / 32;

/** All registered workers, by routing id. Every operation but `values` is O(1) or O(log n). */
export class Workers {
  readonly #byKey = new Map<string, Worker>();
  readonly #attention = new DeadlineHeap<Worker>();
  #lateUntil = -Infinity;

  get size(): number {
    return this.#byKey.size;
  }

  get deadline(): number {
    return this.#attention.deadline;
  }

  find(key: string): Worker | undefined {
    return this.#byKey.get(key);
  }

  add(worker: Worker): void {
    worker.keepaliveAt = nextKeepalive(worker.terms, worker.since);
    this.#byKey.set(worker.peer.key, worker);
    this.#rearm(worker);
  }

  remove(worker: Worker): void {
    this.#byKey.delete(worker.peer.key);
    this.#attention.remove(worker.attention);
  }

  change(worker: Worker, terms: Terms, now: number): void {
    worker.terms = terms;
    worker.keepaliveAt = nextKeepalive(terms, now);
    this.#rearm(worker);
  }

  /** The next worker that has been silent too long, or is due a KEEPALIVE. The caller removes it or calls {@link beat}. */
  takeDue(now: number): { worker: Worker; silent: boolean } | undefined {
    for (let worker = this.#attention.takeDue(now); worker !== undefined; worker = this.#attention.takeDue(now)) {
      const silent = this.lifeOf(worker) <= now;
      if (silent || worker.keepaliveAt <= now) return { worker, silent };
      this.#rearm(worker);
    }
    return undefined;
  }

  /** A KEEPALIVE is sent now; the next one is due within an interval. */
  beat(worker: Worker, now: number): void {
    worker.keepalivesSent++;
    worker.keepaliveAt = nextKeepalive(worker.terms, now);
    this.#rearm(worker);
  }

  /** Until when the worker may be silent. */
  lifeOf(worker: Worker): number {
    return Math.max(worker.lastSeen + worker.holdMs, this.#lateUntil);
  }

  /** No worker expires before `now + ms`: our process was too busy to listen (ADR 4). */
  postponeExpiry(ms: number, now: number): void {
    this.#lateUntil = Math.max(this.#lateUntil, now + ms);
  }

  values(): IterableIterator<Worker> {
    return this.#byKey.values();
  }

  /** Throws if a worker's deadline would be missed. Linear. */
  assertInvariants(): void {
    this.#attention.assertInvariants();
    if (this.#attention.size !== this.size) throw new Error('a worker is never looked at');
    for (const worker of this.values())
      if (worker.attention.at > this.#attentionOf(worker)) throw new Error(`${worker.name} is looked at too late`);
  }

  #attentionOf(worker: Worker): number {
    return Math.min(worker.keepaliveAt, this.lifeOf(worker));
  }

  #rearm(worker: Worker): void {
    this.#attention.set(worker.attention, this.#attentionOf(worker));
  }
}

function nextKeepalive({ intervalMs }: Terms, now: number): number {
  const step = intervalMs * TOGETHER;
  return Math.floor((now + intervalMs) / step) * step;
}
