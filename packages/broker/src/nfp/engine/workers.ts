/**
 * NFP broker: registered workers, when each is due a KEEPALIVE, and when its silence has lasted too long (rules 5 to 7).
 *
 * OPEN gives each worker an interval of its own, so one heap holds for each the next time to look at it. Hearing of a worker
 * only notes when; its entry moves when it is looked at, so a message costs O(1) and an idle worker O(log n) an interval.
 */
import { latin1 } from '@proj/frames';
import { isNfpName, nfpNameOf, nfpRoutingId } from '@proj/frames/nfp';
import type { NfpCommandForm } from '@proj/frames/nfp';
import { DeadlineHeap, HeapDeadline } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { QueueSlot } from '../../shared/removable-queue.js';
import type { Holder } from './holders.js';
import type { Service } from './services.js';

/** KEEPALIVEs of one interval leave at multiples of this share of it: many workers, few wake-ups. */
const TOGETHER = 1 / 32;

/** What the two sides have agreed about keepalives. */
export interface Terms {
  readonly intervalMs: number;
  /** Intervals. */
  readonly multiplier: number;
}

/** A registered worker of one service. */
export class Worker {
  readonly peer: Peer;
  readonly name: string;
  readonly service: Service;
  readonly since: number;
  /** How it writes commands, by its last message. */
  form: NfpCommandForm;
  terms: Terms;
  lastSeen = 0;
  keepaliveAt: number;
  keepalivesSent = 0;
  keepalivesReceived = 0;
  /** When a call last went to it, counted in calls. */
  used = 0;
  /** When it was last sent what it has in hand, because it said READY again; and whether it said so too soon after that. */
  repaidAt = -Infinity;
  isOwed = false;
  /** Place among the workers of its service, the least recently used first. */
  readonly turn = new QueueSlot<Worker>(this);
  readonly attention = new HeapDeadline<Worker>(this);
  /** What is with its name: set when it is registered. */
  holder!: Holder;

  constructor(peer: Peer, service: Service, form: NfpCommandForm, terms: Terms, now: number) {
    this.peer = peer;
    this.name = nfpNameOf(peer.id);
    this.service = service;
    this.form = form;
    this.terms = terms;
    this.since = now;
    this.lastSeen = now;
    this.keepaliveAt = nextKeepalive(terms, now);
  }

  /** How long it may be silent, in milliseconds. */
  get holdMs(): number {
    return this.terms.intervalMs * this.terms.multiplier;
  }
}

/** All registered workers, by routing id. Every operation but `values` is O(1) or O(log n). */
export class Workers {
  readonly #byKey = new Map<string, Worker>();
  readonly #attention = new DeadlineHeap<Worker>();
  #lateUntil = -Infinity;

  get size(): number {
    return this.#byKey.size;
  }

  /** When the next worker is to be looked at. */
  get deadline(): number {
    return this.#attention.deadline;
  }

  find(key: string): Worker | undefined {
    return this.#byKey.get(key);
  }

  /** The worker of that name, whose routing id it is. */
  named(name: string): Worker | undefined {
    return isNfpName(name) ? this.#byKey.get(latin1(nfpRoutingId(name))) : undefined;
  }

  add(worker: Worker): void {
    this.#byKey.set(worker.peer.key, worker);
    this.#rearm(worker);
  }

  remove(worker: Worker): void {
    this.#byKey.delete(worker.peer.key);
    this.#attention.remove(worker.attention);
  }

  /** Other terms, from now on. */
  change(worker: Worker, terms: Terms, now: number): void {
    worker.terms = terms;
    worker.keepaliveAt = nextKeepalive(terms, now);
    this.#rearm(worker);
  }

  /** The next worker whose silence has lasted too long or whose KEEPALIVE is due. The caller removes or beats it. */
  takeDue(now: number): { worker: Worker; silent: boolean } | undefined {
    for (let worker = this.#attention.takeDue(now); worker !== undefined; worker = this.#attention.takeDue(now)) {
      const silent = this.lifeOf(worker) <= now;
      if (silent || worker.keepaliveAt <= now) return { worker, silent };
      this.#rearm(worker);
    }
    return undefined;
  }

  /** A KEEPALIVE leaves now; the next one is due an interval later at the latest. */
  beat(worker: Worker, now: number): void {
    worker.keepalivesSent++;
    worker.keepaliveAt = nextKeepalive(worker.terms, now);
    this.#rearm(worker);
  }

  /** Until when the worker may be silent. */
  lifeOf(worker: Worker): number {
    return Math.max(worker.lastSeen + worker.holdMs, this.#lateUntil);
  }

  /** Lets nobody die before `now + ms`: we were too busy to listen for as long (ADR 4). */
  postponeExpiry(ms: number, now: number): void {
    this.#lateUntil = Math.max(this.#lateUntil, now + ms);
  }

  values(): IterableIterator<Worker> {
    return this.#byKey.values();
  }

  /** Throws when a worker could be looked at too late. Linear. */
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
