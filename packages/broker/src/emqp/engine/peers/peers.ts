/** EventMQ broker: workers, schedulers, and workers that have left but not finished. No protocol decisions. */
import type { EmqpQueue } from '@proj/frames/emqp';
import { Deadline, DeadlineList } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { setSince, type Timed } from '@proj/transport/engine';
import { WorkerEntry, WorkerTable } from '../../../shared/worker-table.js';
import type { EmqpParty, EmqpPort } from '../events.js';
import { type Job, WorkerJobs } from '../jobs/job.js';
import { type Queues, QueueSubscription } from '../jobs/queues.js';

/** What a scheduler serves (rule 33). */
export const SCHEDULER_NAMES: readonly string[] = ['scheduler'];

/** A registered worker. */
export class Worker extends WorkerEntry<never> implements EmqpParty {
  readonly role = 'worker';
  readonly port: EmqpPort;
  /** Highest weight first; among equal weights the least recently used. */
  readonly subscriptions: QueueSubscription[] = [];
  readonly open: WorkerJobs;
  /** Free slots. */
  slots = 0;
  /** Jobs it was given minus the READYs since: slots in use, as far as known. */
  busy = 0;
  processed = 0;
  /** Jobs that went to another worker because a process of this one was replaced. */
  resends = 0;
  /** It has answered a guaranteed job without a requested reply (rule 19). */
  answersAll = false;
  /** When it last showed a new slot (rule 20). */
  grownAt: number;
  /** Rule 37: it gets no further jobs, and is dismissed when it has none. */
  isLeaving = false;
  /** It has been registered long enough for its slots to be known (rule 19). */
  settled = false;
  readonly settling = new Deadline<Worker>(this);

  constructor(port: EmqpPort, peer: Peer, now: number) {
    super(peer, now);
    this.port = port;
    this.open = new WorkerJobs(now);
    this.grownAt = now;
  }

  get names(): readonly string[] {
    return this.subscriptions.map(({ queue }) => queue.name);
  }

  /** No slot is in use and no reply is due. READYs of new processes may hide that a job is still running. */
  get isDone(): boolean {
    return this.busy === 0 && !this.open.isReplyDue;
  }

  /** Subscribes to these queues; if a name is listed twice, the last weight counts. */
  subscribe(list: readonly EmqpQueue[], queues: Queues, now: number): void {
    const weights = new Map(list.map(({ name, weight }) => [name, weight]));
    for (const [name, weight] of weights) {
      const subscription = new QueueSubscription(this, queues.open(name, now), weight);
      this.subscriptions.push(subscription);
      queues.join(subscription);
    }
    this.subscriptions.sort((a, b) => b.weight - a.weight);
  }

  /** A job was taken from this queue: it comes last among those of its weight. */
  served(subscription: QueueSubscription): void {
    const at = this.subscriptions.indexOf(subscription);
    let last = at;
    while (this.subscriptions[last + 1]?.weight === subscription.weight) last++;
    if (last > at) this.subscriptions.splice(last, 0, ...this.subscriptions.splice(at, 1));
  }
}

/** A registered scheduler. */
export class Scheduler extends WorkerEntry<never> implements EmqpParty {
  readonly role = 'scheduler';
  readonly port: EmqpPort;
  readonly names = SCHEDULER_NAMES;
  /** Jobs it was given, by their text. */
  readonly jobs = new Set<string>();
  readonly since: number;

  constructor(port: EmqpPort, peer: Peer, now: number) {
    super(peer, now);
    this.since = now;
    this.port = port;
  }
}

/** How many times a worker may leave again before the first jobs it left with are finished. */
const DEPARTURES_MAX = 64;

/** Rule 18: a worker that has left, once or several times, with jobs it may still finish. */
export class Leaver implements EmqpParty, Timed {
  readonly port: EmqpPort;
  readonly peer: Peer;
  /** What it left with each time, oldest first; never empty ones. */
  readonly departures = new Set<WorkerJobs>();
  readonly life = new Deadline<Leaver>(this);
  sinceSpan = 0;
  sinceUs = 0;
  readonly names: readonly string[];
  lastSeen: number;
  processed: number;
  readonly resends: number;

  constructor({ port, peer, names, lastSeen, processed, resends }: Worker, now: number) {
    this.port = port;
    this.peer = peer;
    this.names = names;
    this.lastSeen = lastSeen;
    this.processed = processed;
    this.resends = resends;
    setSince(this, now);
  }

  get running(): number {
    let running = 0;
    for (const { size } of this.departures) running += size;
    return running;
  }

  /** Takes the jobs over. Returns the oldest ones instead if it has left too often with jobs. */
  take(open: WorkerJobs): WorkerJobs | undefined {
    open.leaver = this;
    open.suspectNone();
    this.departures.add(open);
    const [oldest] = this.departures.size > DEPARTURES_MAX ? this.departures : [];
    if (oldest !== undefined) this.departures.delete(oldest);
    return oldest;
  }

  /** Rule 11: the oldest job with that id; without an id, the only job. */
  find(id: string | undefined): Job | undefined {
    if (id === undefined && this.departures.size > 1) return undefined;
    for (const open of this.departures) {
      const job = open.find(id);
      if (job !== undefined) return job;
    }
    return undefined;
  }

  /** The latest job with that id. */
  findLatest(id: string): Job | undefined {
    let latest: Job | undefined;
    for (const open of this.departures) latest = open.findLatest(id) ?? latest;
    return latest;
  }
}

/** All peers that are registered, or recently were. The same routing id at both ports is two peers. */
export class Peers {
  readonly #tables: Readonly<Record<EmqpPort, WorkerTable<Worker | Scheduler>>>;
  readonly #leavers = { frontend: new Map<string, Leaver>(), backend: new Map<string, Leaver>() } as const;
  readonly #grace: DeadlineList<Leaver>;
  /** Rules 16, 17 and 20: jobs of lost workers, until each is lost or goes on. */
  readonly lost = new Set<WorkerJobs>();

  constructor(options: {
    readonly heartbeatIntervalMs: number;
    readonly expiryMs: number;
    readonly leaveGraceMs: number;
  }) {
    const { heartbeatIntervalMs, expiryMs } = options;
    const liveness = expiryMs / heartbeatIntervalMs;
    const timings = { heartbeatIntervalMs, liveness, busyExpiryMs: expiryMs, muteExpiryMs: expiryMs };
    this.#tables = { frontend: new WorkerTable(timings), backend: new WorkerTable(timings) };
    this.#grace = new DeadlineList(options.leaveGraceMs);
  }

  get size(): number {
    return this.#tables.frontend.size + this.#tables.backend.size;
  }

  get leaving(): number {
    return this.#leavers.frontend.size + this.#leavers.backend.size;
  }

  get deadline(): number {
    return Math.min(this.#tables.frontend.deadline, this.#tables.backend.deadline, this.#grace.deadline);
  }

  find({ port, peer }: EmqpParty): Worker | Scheduler | undefined {
    return port === 'admin' ? undefined : this.#tables[port].find(peer);
  }

  findLeaver({ port, peer }: EmqpParty): Leaver | undefined {
    return port === 'admin' ? undefined : this.#leavers[port].get(peer.key);
  }

  /** Whether a peer with this routing id is registered at either port. */
  knows(peer: Peer): boolean {
    return this.#tables.frontend.find(peer) !== undefined || this.#tables.backend.find(peer) !== undefined;
  }

  add(member: Worker | Scheduler, now: number): void {
    const table = this.#tables[member.port];
    table.add(member, now);
    table.renew(member, now);
  }

  remove(member: Worker | Scheduler): void {
    this.#tables[member.port].remove(member);
  }

  /** A sign of life; see `WorkerTable.heard`. */
  heard(member: Worker | Scheduler, now: number): number | undefined {
    return this.#tables[member.port].heard(member, now, false);
  }

  /** See `WorkerTable.dues`. */
  dues(member: Worker | Scheduler): readonly number[] {
    return this.#tables[member.port].dues(member);
  }

  /** The worker leaves with its jobs; leaving twice makes no second entry. Returns jobs that are given up; see {@link Leaver.take}. */
  leave(worker: Worker, now: number): WorkerJobs | undefined {
    const leaver = this.findLeaver(worker) ?? new Leaver(worker, now);
    this.#leavers[worker.port].set(worker.peer.key, leaver);
    this.#grace.renew(leaver.life, now);
    return leaver.take(worker.open);
  }

  /** A sign of life of a leaving worker. */
  renew(leaver: Leaver, now: number): void {
    leaver.lastSeen = now;
    this.#grace.renew(leaver.life, now);
  }

  /** Its jobs may outlive it, and another may leave under its name meanwhile. */
  forget(leaver: Leaver): void {
    if (this.findLeaver(leaver) === leaver) this.#leavers[leaver.port].delete(leaver.peer.key);
    this.#grace.remove(leaver.life);
  }

  /** Call until `undefined`. */
  takeHeartbeatDue(now: number): Worker | Scheduler | undefined {
    return this.#tables.backend.takeHeartbeatDue(now) ?? this.#tables.frontend.takeHeartbeatDue(now);
  }

  /** The next peer that has been silent too long; the caller removes it. Call until `undefined`. */
  takeExpired(now: number): Worker | Scheduler | undefined {
    return this.#tables.backend.takeExpired(now) ?? this.#tables.frontend.takeExpired(now);
  }

  /** The next leaving worker that has been silent too long; the caller forgets it. Call until `undefined`. */
  takeSilentLeaver(now: number): Leaver | undefined {
    return this.#grace.takeDue(now);
  }

  /** No peer expires before `now + ms`: our process was too busy to listen (ADR 4). */
  postponeExpiry(ms: number, now: number): void {
    this.#tables.frontend.postponeExpiry(ms, now);
    this.#tables.backend.postponeExpiry(ms, now);
    this.#grace.postpone(ms, now);
  }

  *values(): IterableIterator<Worker | Scheduler> {
    yield* this.#tables.backend.values();
    yield* this.#tables.frontend.values();
  }

  *workers(): IterableIterator<Worker> {
    for (const member of this.values()) if (member.role === 'worker') yield member;
  }

  *leavers(): IterableIterator<Leaver> {
    yield* this.#leavers.backend.values();
    yield* this.#leavers.frontend.values();
  }

  /** All jobs that workers have or had: registered, leaving and lost ones. */
  *open(): IterableIterator<WorkerJobs> {
    for (const { open } of this.workers()) yield open;
    for (const { departures } of this.leavers()) yield* departures;
    yield* this.lost;
  }
}

/** `left`: it said farewell. `former`: it believes it is registered, but is not. */
export type Silence = 'left' | 'former';

/** Limit; beyond it the oldest is forgotten. */
const SILENCED_MAX = 100_000;

/** Peers that get nothing, and why. Usually empty: then it costs nothing. */
export class Silenced {
  readonly #why = new Map<string, Silence>();

  get size(): number {
    return this.#why.size;
  }

  why(party: EmqpParty): Silence | undefined {
    return this.#why.size === 0 ? undefined : this.#why.get(silencedKey(party));
  }

  add(party: EmqpParty, why: Silence): void {
    this.#why.set(silencedKey(party), why);
    for (const oldest of this.#why.keys()) {
      if (this.#why.size <= SILENCED_MAX) break;
      this.#why.delete(oldest);
    }
  }

  /** The peer starts anew, or its connection has ended. */
  remove(party: EmqpParty): void {
    if (this.#why.size > 0) this.#why.delete(silencedKey(party));
  }
}

function silencedKey({ port, peer }: EmqpParty): string {
  return `${port} ${peer.key}`;
}
