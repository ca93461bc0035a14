/** Registered workers: when each is due a heartbeat, and when it has been silent for too long. Knows no protocol. */
import { DeadlineTable } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { setSince, type Timed } from '@proj/transport/engine';
import { QueueSlot } from './removable-queue.js';

/** A registered worker: idle without a request, busy with one. It is its own slot in the pool of idle workers, which saves an object. */
export class WorkerEntry<Request> extends QueueSlot<unknown> implements Timed {
  readonly peer: Peer;
  request: Request | undefined;
  /** Time of its last message, in whole milliseconds: V8 stores a fractional number as a separate object. */
  lastSeen: number;
  /** Since when it is idle, or when it became busy. */
  sinceSpan = 0;
  sinceUs = 0;
  /** Requests that it has finished. */
  done = 0;
  /** True once {@link WorkerTable.heard} has given the spacing hint. */
  hinted = false;
  /** True once it has sent a heartbeat while it worked; until then it may be one that sends none while busy. */
  beatsAtWork = false;
  /** @internal Its rows in its {@link WorkerTable}; 0 while it is in none. */
  life = 0;
  /** @internal */
  heartbeat = 0;

  constructor(peer: Peer, now: number) {
    super();
    this.peer = peer;
    this.lastSeen = Math.floor(now);
    setSince(this, now);
  }

  /** Its slot in the pool of idle workers. */
  get idle(): QueueSlot<this> {
    return this as QueueSlot<unknown> as QueueSlot<this>;
  }
}

/** Timings of a {@link WorkerTable}, in milliseconds; `liveness` counts intervals. */
interface WorkerTimings {
  readonly heartbeatIntervalMs: number;
  readonly liveness: number;
  /** Silence that ends a busy worker known to send heartbeats while it works. */
  readonly busyExpiryMs: number;
  /** Silence that ends any other busy worker. */
  readonly muteExpiryMs: number;
}

/** Heartbeats due within this share of an interval are sent together, so that many workers need few wake-ups. */
const TOGETHER = 1 / 32;

/**
 * A heartbeat within this share of an interval after a request was sent proves nothing: it may have been sent before the request arrived. Later
 * ones do prove that the worker sends heartbeats while it works.
 */
const CROSSING = 1 / 2;

/** Lists of the {@link DeadlineTable}s: three for expiry, one for heartbeats. */
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

  constructor(options: WorkerTimings) {
    const { heartbeatIntervalMs, liveness, busyExpiryMs, muteExpiryMs } = options;
    this.#heartbeats = new DeadlineTable([heartbeatIntervalMs]);
    this.#togetherMs = heartbeatIntervalMs * TOGETHER;
    this.#crossingMs = heartbeatIntervalMs * CROSSING;
    this.#lives = new DeadlineTable([heartbeatIntervalMs * liveness, busyExpiryMs, muteExpiryMs]);
  }

  get size(): number {
    return this.#workers.size;
  }

  /** When the next heartbeat is due or the next worker expires. */
  get deadline(): number {
    return Math.min(this.#heartbeats.deadline, this.#lives.deadline);
  }

  /** Until when our own lateness may look like silence of the workers. */
  get lateUntil(): number {
    return this.#lateUntil;
  }

  /** Most messages are replies, in the order of the requests: looking at the two busy workers silent for longest often spares the large map. */
  find(peer: Peer): Worker | undefined {
    const mute = this.#lives.first(MUTE);
    if (mute?.peer === peer || mute?.peer.key === peer.key) return mute;
    const busy = this.#lives.first(BUSY);
    if (busy?.peer === peer || busy?.peer.key === peer.key) return busy;
    return this.#workers.get(peer.key);
  }

  /**
   * Registers a worker. Its first heartbeat is due one interval from now, so that not all workers get theirs at once. It cannot expire
   * before it is first renewed.
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

  /** Restarts the worker's time limit for its current state. */
  renew(worker: Worker, now: number): void {
    this.#lives.renew(worker.life, stateOf(worker), now);
  }

  /** How long the worker may be silent in its current state, in milliseconds. */
  expiryMs(worker: Worker): number {
    return this.#lives.delaysMs[stateOf(worker)] as number;
  }

  /** When it expires, not counting our own lateness, and when its next heartbeat is due. For invariants. */
  dues(worker: Worker): readonly [number, number] {
    return [this.#lives.at(worker.life), this.#heartbeats.at(worker.heartbeat)];
  }

  /**
   * Records a sign of life; `beat` means that it is a heartbeat, which shows that the worker sends them while busy. If the worker had been
   * silent for more than half its limit, returns how long, because the intervals of the two sides may not match: once per worker, otherwise
   * `undefined`.
   */
  heard(worker: Worker, now: number, beat: boolean): number | undefined {
    const state = stateOf(worker);
    const expiryMs = this.#lives.delaysMs[state] as number;
    const silentMs = expiryMs - (this.#lives.at(worker.life) - now);
    worker.lastSeen = Math.floor(now);
    if (beat && state === MUTE) {
      // One that may have crossed with the request does not count, or all later ones would seem to have crossed too.
      if (silentMs < this.#crossingMs) return undefined;
      worker.beatsAtWork = true;
    }
    this.renew(worker, now);
    if (silentMs <= expiryMs / 2 || worker.hinted || now < this.#lateUntil) return undefined;
    worker.hinted = true;
    return silentMs;
  }

  /**
   * Takes the next worker whose heartbeat is due, or soon enough to be sent along. Its next one is due an interval from now, so no two are ever
   * further apart. Call until `undefined`.
   */
  takeHeartbeatDue(now: number): Worker | undefined {
    const worker = this.#heartbeats.takeDue(now + this.#togetherMs);
    if (worker !== undefined) this.#heartbeats.renew(worker.heartbeat, HEARTBEATS, now);
    return worker;
  }

  /** The next worker that has been silent for too long. Remove it, and call until `undefined`. */
  takeExpired(now: number): Worker | undefined {
    return this.#lives.takeDue(now);
  }

  /** Lets no worker expire before `now + ms`: we were too busy to listen for that long (ADR 4). */
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
