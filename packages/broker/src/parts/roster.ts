/** Registered workers: when each is due a heartbeat, and when its silence has lasted too long. No protocol. */
import { Deadline, DeadlineList } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { Place } from './line.js';

/** A registered worker. Idle without a request, busy with one. It is its own place in the pool of idle workers: one object less to fetch. */
export class Member<Request> extends Place<unknown> {
  readonly peer: Peer;
  request: Request | undefined;
  /** When its last message came. A number from the start: a field that was `undefined` first gets a new object with each number. */
  lastSeen = 0;
  /** True once {@link Roster.heard} has given its hint. */
  hinted = false;
  readonly life = new Deadline<this>(this);
  readonly heartbeat = new Deadline<this>(this);

  constructor(peer: Peer, now: number) {
    super();
    this.peer = peer;
    this.lastSeen = now;
  }

  /** Place in the pool of idle workers. */
  get idle(): Place<this> {
    return this as Place<unknown> as Place<this>;
  }
}

/** Timings of a {@link Roster}, in milliseconds but for `liveness`, which counts intervals. */
export interface RosterOptions {
  readonly heartbeatIntervalMs: number;
  readonly liveness: number;
  readonly busyExpiryMs: number;
}

/** Heartbeats due within this share of an interval leave together: many workers, few wake-ups. */
const TOGETHER = 1 / 32;

/** All registered workers, by routing id, with their deadlines. Every operation but `values` is O(1). */
export class Roster<Worker extends Member<unknown>> {
  readonly #workers = new Map<string, Worker>();
  readonly #heartbeats: DeadlineList<Worker>;
  readonly #idleLives: DeadlineList<Worker>;
  readonly #busyLives: DeadlineList<Worker>;
  readonly #togetherMs: number;
  #lateUntil = -Infinity;

  constructor(options: RosterOptions) {
    this.#heartbeats = new DeadlineList(options.heartbeatIntervalMs);
    this.#togetherMs = options.heartbeatIntervalMs * TOGETHER;
    this.#idleLives = new DeadlineList(options.heartbeatIntervalMs * options.liveness);
    this.#busyLives = new DeadlineList(options.busyExpiryMs);
  }

  get size(): number {
    return this.#workers.size;
  }

  /** When the next heartbeat is due or the next worker dies. */
  get deadline(): number {
    return Math.min(this.#heartbeats.deadline, this.#idleLives.deadline, this.#busyLives.deadline);
  }

  /** Until when our own lateness may look like the workers' silence. */
  get lateUntil(): number {
    return this.#lateUntil;
  }

  /** Most who speak answer, in the order in which they were asked: a look at the busy one heard of longest ago spares a large map. */
  find(key: string): Worker | undefined {
    const next = this.#busyLives.first;
    return next?.peer.key === key ? next : this.#workers.get(key);
  }

  /** Registers a worker; its first heartbeat is due one interval from now, so that not all workers get theirs at once. */
  add(worker: Worker, now: number): void {
    this.#workers.set(worker.peer.key, worker);
    this.#heartbeats.renew(worker.heartbeat, now);
  }

  remove(worker: Worker): void {
    this.#workers.delete(worker.peer.key);
    this.#heartbeats.remove(worker.heartbeat);
    this.#idleLives.remove(worker.life);
    this.#busyLives.remove(worker.life);
  }

  /** Gives the worker its full time again, as idle or busy as it is now. */
  renew(worker: Worker, now: number): void {
    this.#livesOf(worker).renew(worker.life, now);
  }

  /** How long the worker may be silent in its present state. */
  expiryMs(worker: Worker): number {
    return this.#livesOf(worker).delayMs;
  }

  /**
   * A sign of life. Returns how long the worker had been silent, once per worker, when that was more than half of what it
   * may be: the intervals of the two sides may not fit. Otherwise `undefined`.
   */
  heard(worker: Worker, now: number): number | undefined {
    const expiryMs = this.expiryMs(worker);
    const silentMs = expiryMs - (worker.life.at - now);
    worker.lastSeen = now;
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
    if (worker !== undefined) this.#heartbeats.renew(worker.heartbeat, now);
    return worker;
  }

  /** The next worker that has been silent for too long; the caller removes it. Call until `undefined`. */
  takeExpired(now: number): Worker | undefined {
    return this.#idleLives.takeDue(now) ?? this.#busyLives.takeDue(now);
  }

  /** Lets nobody die before `now + ms`: we were too busy to listen for as long (ADR 4). */
  postponeExpiry(ms: number, now: number): void {
    this.#lateUntil = Math.max(this.#lateUntil, now + ms);
    this.#idleLives.postpone(ms, now);
    this.#busyLives.postpone(ms, now);
  }

  values(): IterableIterator<Worker> {
    return this.#workers.values();
  }

  #livesOf(worker: Worker): DeadlineList<Worker> {
    return worker.request === undefined ? this.#idleLives : this.#busyLives;
  }
}
