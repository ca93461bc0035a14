/** EventMQ broker: workers, schedulers, and workers that have left but not finished. Books only, no protocol decisions. */
import type { EmqpQueue } from '@proj/frames/emqp';
import { Deadline, DeadlineList } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { WorkerEntry, WorkerTable } from '../../shared/worker-table.js';
import type { EmqpParty, EmqpPort } from './events.js';
import { WorkerJobs } from './job.js';
import { type Queues, QueueSubscription } from './queues.js';

/** The name that a scheduler serves (rule 33). */
export const SCHEDULER_NAMES: readonly string[] = ['scheduler'];

/** A registered worker. */
export class Worker extends WorkerEntry<never> implements EmqpParty {
  readonly role = 'worker';
  readonly port: EmqpPort;
  /** Highest weight first; among equal ones who was served least recently. */
  readonly seats: QueueSubscription[] = [];
  readonly open = new WorkerJobs();
  /** Slots that wait for a job. */
  slots = 0;
  /** Jobs it has got beyond the READYs it has said since: slots in use, as far as anybody can tell. */
  busy = 0;
  processed = 0;
  /** True once it has answered a guaranteed job that asked for no reply (rule 19). */
  answersAll = false;
  /** When it last showed a slot that was not known before (rule 20). */
  grownAt: number;
  /** True when it has been here for so long that its slots are known (rule 19). */
  settled = false;
  readonly settling = new Deadline<Worker>(this);

  constructor(port: EmqpPort, peer: Peer, now: number) {
    super(peer, now);
    this.port = port;
    this.grownAt = now;
  }

  /** What it serves. */
  get names(): readonly string[] {
    return this.seats.map(({ queue }) => queue.name);
  }

  /** True when no slot is in use and no reply is due: READYs of new processes may hide that a job still runs. */
  get isDone(): boolean {
    if (this.busy > 0) return false;
    for (const job of this.open.values()) if (job.replyRequested) return false;
    return true;
  }

  /** Takes its places at these queues; of a name that is listed twice the last weight counts. */
  sit(list: readonly EmqpQueue[], queues: Queues, now: number): void {
    const weights = new Map(list.map(({ name, weight }) => [name, weight]));
    for (const [name, weight] of weights) {
      const seat = new QueueSubscription(this, queues.open(name, now), weight);
      this.seats.push(seat);
      queues.join(seat);
    }
    this.seats.sort((a, b) => b.weight - a.weight);
  }

  /** The seat got a job: it is the last of its weight to get the next one. */
  served(seat: QueueSubscription): void {
    const at = this.seats.indexOf(seat);
    let last = at;
    while (this.seats[last + 1]?.weight === seat.weight) last++;
    if (last > at) this.seats.splice(last, 0, ...this.seats.splice(at, 1));
  }
}

/** A registered scheduler. */
export class Scheduler extends WorkerEntry<never> implements EmqpParty {
  readonly role = 'scheduler';
  readonly port: EmqpPort;
  /** What it serves, as far as rules of access are concerned. */
  readonly names = SCHEDULER_NAMES;
  /** The jobs it was given, by their text. */
  readonly jobs = new Set<string>();

  constructor(port: EmqpPort, peer: Peer, now: number) {
    super(peer, now);
    this.port = port;
  }
}

/** Rule 18: a worker that has left with jobs it may still finish. */
export class Leaver implements EmqpParty {
  readonly port: EmqpPort;
  readonly peer: Peer;
  readonly open = new WorkerJobs(this);
  readonly life = new Deadline<Leaver>(this);
  /** What it served. */
  readonly names: readonly string[];

  constructor({ port, peer, names }: Worker) {
    this.port = port;
    this.peer = peer;
    this.names = names;
  }
}

/** Everybody who is, or has just been, registered. The same routing id at both ports is two peers. */
export class Peers {
  readonly #rosters: Readonly<Record<EmqpPort, WorkerTable<Worker | Scheduler>>>;
  readonly #leavers = { frontend: new Map<string, Leaver>(), backend: new Map<string, Leaver>() } as const;
  readonly #grace: DeadlineList<Leaver>;

  constructor(options: {
    readonly heartbeatIntervalMs: number;
    readonly expiryMs: number;
    readonly leaveGraceMs: number;
  }) {
    const { heartbeatIntervalMs, expiryMs } = options;
    const liveness = expiryMs / heartbeatIntervalMs;
    const timings = { heartbeatIntervalMs, liveness, busyExpiryMs: expiryMs, muteExpiryMs: expiryMs };
    this.#rosters = { frontend: new WorkerTable(timings), backend: new WorkerTable(timings) };
    this.#grace = new DeadlineList(options.leaveGraceMs);
  }

  get size(): number {
    return this.#rosters.frontend.size + this.#rosters.backend.size;
  }

  get leaving(): number {
    return this.#leavers.frontend.size + this.#leavers.backend.size;
  }

  get deadline(): number {
    return Math.min(this.#rosters.frontend.deadline, this.#rosters.backend.deadline, this.#grace.deadline);
  }

  find({ port, peer }: EmqpParty): Worker | Scheduler | undefined {
    return port === 'admin' ? undefined : this.#rosters[port].find(peer);
  }

  findLeaver({ port, peer }: EmqpParty): Leaver | undefined {
    return port === 'admin' ? undefined : this.#leavers[port].get(peer.key);
  }

  add(member: Worker | Scheduler, now: number): void {
    const roster = this.#rosters[member.port];
    roster.add(member, now);
    roster.renew(member, now);
  }

  remove(member: Worker | Scheduler): void {
    this.#rosters[member.port].remove(member);
  }

  /** A sign of life; see `Roster.heard`. */
  heard(member: Worker | Scheduler, now: number): number | undefined {
    return this.#rosters[member.port].heard(member, now, false);
  }

  /** See `Roster.dues`. */
  dues(member: Worker | Scheduler): readonly number[] {
    return this.#rosters[member.port].dues(member);
  }

  /** The books of jobs that a worker takes along; those of an earlier leave are the same. */
  leave(worker: Worker, now: number): Leaver {
    const leaver = this.findLeaver(worker) ?? new Leaver(worker);
    this.#leavers[worker.port].set(worker.peer.key, leaver);
    this.renew(leaver, now);
    return leaver;
  }

  renew(leaver: Leaver, now: number): void {
    this.#grace.renew(leaver.life, now);
  }

  forget(leaver: Leaver): void {
    this.#leavers[leaver.port].delete(leaver.peer.key);
    this.#grace.remove(leaver.life);
  }

  /** Call until `undefined`. */
  takeHeartbeatDue(now: number): Worker | Scheduler | undefined {
    return this.#rosters.backend.takeHeartbeatDue(now) ?? this.#rosters.frontend.takeHeartbeatDue(now);
  }

  /** The next peer that has been silent for too long; the caller removes it. Call until `undefined`. */
  takeExpired(now: number): Worker | Scheduler | undefined {
    return this.#rosters.backend.takeExpired(now) ?? this.#rosters.frontend.takeExpired(now);
  }

  /** The next worker that has left and is silent; the caller forgets it. Call until `undefined`. */
  takeSilentLeaver(now: number): Leaver | undefined {
    return this.#grace.takeDue(now);
  }

  /** Lets nobody die before `now + ms`: we were too busy to listen for as long (ADR 4). */
  postponeExpiry(ms: number, now: number): void {
    this.#rosters.frontend.postponeExpiry(ms, now);
    this.#rosters.backend.postponeExpiry(ms, now);
    this.#grace.postpone(ms, now);
  }

  *values(): IterableIterator<Worker | Scheduler> {
    yield* this.#rosters.backend.values();
    yield* this.#rosters.frontend.values();
  }

  *workers(): IterableIterator<Worker> {
    for (const member of this.values()) if (member.role === 'worker') yield member;
  }

  *leavers(): IterableIterator<Leaver> {
    yield* this.#leavers.backend.values();
    yield* this.#leavers.frontend.values();
  }
}
