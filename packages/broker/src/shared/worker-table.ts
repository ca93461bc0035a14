/** Registered workers: when each is due a heartbeat, and when its silence has lasted too long. No protocol. */
import { DeadlineTable } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { QueueSlot } from './removable-queue.js';

/** A registered worker. Idle without a request, busy with one. It is its own place in the pool of idle workers: one object less to fetch. */
export class WorkerEntry<Request> extends QueueSlot<unknown> {
  readonly peer: Peer;
  request: Request | undefined;
  /** When its last message came, in whole milliseconds: a number with a fraction is an object of its own, and one more to fetch. */
  lastSeen: number;
  /** True once {@link WorkerTable.heard} has given its hint. */
  hinted = false;
  /** True once it was heard to beat while it had a request; until then it may be mute while it works. */
  beatsAtWork = false;
  /** @internal Its rows in its {@link WorkerTable}; 0 while it is in none. */
  life = 0;
  /** @internal */
  heartbeat = 0;

  constructor(peer: Peer, now: number) {
    super();
    this.peer = peer;
    this.lastSeen = Math.floor(now);
  }

  /** Place in the pool of idle workers. */
  get idle(): QueueSlot<this> {
    return this as QueueSlot<unknown> as QueueSlot<this>;
  }
}

/** Timings of a {@link WorkerTable}, in milliseconds but for `liveness`, which counts intervals. */
export interface RosterOptions {
  readonly heartbeatIntervalMs: number;
  readonly liveness: number;
  /** Silence that ends a busy worker that is known to beat while it works. */
  readonly busyExpiryMs: number;
  /** Silence that ends any other busy worker. */
  readonly muteExpiryMs: number;
}

/** Heartbeats due within this share of an interval leave together: many workers, few wake-ups. */
const TOGETHER = 1 / 32;

/**
 * A beat in the first share of an interval after a request was given says nothing of how its worker works: it may have left
 * before the request arrived. Those that follow do, for they are an interval apart.
 */
const CROSSING = 1 / 2;

/** Lists of {@link DeadlineTable}s: of lives, and the one of heartbeats. */
const IDLE = 0;
const BUSY = 1;
const MUTE = 2;
const HEARTBEATS = 0;

/** All registered workers, by routing id, with their deadlines. Every operation but `values` is O(1). */
export class WorkerTable<Worker extends WorkerEntry<unknown>> {
  readonly #workers = new Map<string, Worker>();
  readonly #heartbeats: DeadlineTable<Worker>;
  readonly #lives: DeadlineTable<Worker>;
  readonly #togetherMs: number;
  readonly #crossingMs: number;
  #lateUntil = -Infinity;

  constructor(options: RosterOptions) {
    const { heartbeatIntervalMs, liveness, busyExpiryMs, muteExpiryMs } = options;
    this.#heartbeats = new DeadlineTable([heartbeatIntervalMs]);
    this.#togetherMs = heartbeatIntervalMs * TOGETHER;
    this.#crossingMs = heartbeatIntervalMs * CROSSING;
    this.#lives = new DeadlineTable([heartbeatIntervalMs * liveness, busyExpiryMs, muteExpiryMs]);
  }

  get size(): number {
    return this.#workers.size;
  }

  /** When the next heartbeat is due or the next worker dies. */
  get deadline(): number {
    return Math.min(this.#heartbeats.deadline, this.#lives.deadline);
  }

  /** Until when our own lateness may look like the workers' silence. */
  get lateUntil(): number {
    return this.#lateUntil;
  }

  /** Most who speak answer, in the order in which they were asked: a look at the busy ones heard of longest ago spares a large map. */
  find(peer: Peer): Worker | undefined {
    const mute = this.#lives.first(MUTE);
    if (mute?.peer === peer || mute?.peer.key === peer.key) return mute;
    const busy = this.#lives.first(BUSY);
    if (busy?.peer === peer || busy?.peer.key === peer.key) return busy;
    return this.#workers.get(peer.key);
  }

  /**
   * Registers a worker; its first heartbeat is due one interval from now, so that not all workers get theirs at once. It cannot die
   * until it is first renewed.
   */
  add(worker: Worker, now: number): void {
    this.#workers.set(worker.peer.key, worker);
    worker.life = this.#lives.add(worker);
    worker.heartbeat = this.#heartbeats.add(worker);
    this.#heartbeats.renew(worker.heartbeat, HEARTBEATS, now);
  }

  /** Forgets a worker. It must be registered. */
  remove(worker: Worker): void {
    this.#workers.delete(worker.peer.key);
    this.#lives.remove(worker.life);
    this.#heartbeats.remove(worker.heartbeat);
    worker.life = worker.heartbeat = 0;
  }

  /** Gives the worker its full time again, as idle or busy as it is now. */
  renew(worker: Worker, now: number): void {
    this.#lives.renew(worker.life, stateOf(worker), now);
  }

  /** How long the worker may be silent in its present state. */
  expiryMs(worker: Worker): number {
    return this.#lives.delaysMs[stateOf(worker)] as number;
  }

  /** When its silence has lasted too long, but for our own lateness, and when its next heartbeat is due. For invariants. */
  dues(worker: Worker): readonly [number, number] {
    return [this.#lives.at(worker.life), this.#heartbeats.at(worker.heartbeat)];
  }

  /**
   * A sign of life, `beat` when it is one that workers give by themselves: only from such is learned that they give it at work.
   * Returns how long the worker had been silent, once per worker, when that was more than half of what it may be: the intervals
   * of the two sides may not fit. Otherwise `undefined`.
   */
  heard(worker: Worker, now: number, beat: boolean): number | undefined {
    const state = stateOf(worker);
    const expiryMs = this.#lives.delaysMs[state] as number;
    const silentMs = expiryMs - (this.#lives.at(worker.life) - now);
    worker.lastSeen = Math.floor(now);
    if (beat && state === MUTE) {
      // One that may have crossed with the request does not count, or all that follow would seem to have crossed, too.
      if (silentMs < this.#crossingMs) return undefined;
      worker.beatsAtWork = true;
    }
    this.renew(worker, now);
    if (silentMs <= expiryMs / 2 || worker.hinted || now < this.#lateUntil) return undefined;
    worker.hinted = true;
    return silentMs;
  }

  /**
   * Takes the next worker whose heartbeat is due now, or so soon that it leaves with those that are; its next one is due an
   * interval from now, so no two are ever further apart. Call until `undefined`.
   */
  takeHeartbeatDue(now: number): Worker | undefined {
    const worker = this.#heartbeats.takeDue(now + this.#togetherMs);
    if (worker !== undefined) this.#heartbeats.renew(worker.heartbeat, HEARTBEATS, now);
    return worker;
  }

  /** The next worker that has been silent for too long; the caller removes it. Call until `undefined`. */
  takeExpired(now: number): Worker | undefined {
    return this.#lives.takeDue(now);
  }

  /** Lets nobody die before `now + ms`: we were too busy to listen for as long (ADR 4). */
  postponeExpiry(ms: number, now: number): void {
    this.#lateUntil = Math.max(this.#lateUntil, now + ms);
    this.#lives.postpone(ms, now);
  }

  values(): IterableIterator<Worker> {
    return this.#workers.values();
  }
}

function stateOf(worker: WorkerEntry<unknown>): number {
  if (worker.request === undefined) return IDLE;
  return worker.beatsAtWork ? BUSY : MUTE;
}
