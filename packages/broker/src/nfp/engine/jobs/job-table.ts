/** NFP broker: jobs by uuid, and the state of each (rules 11 to 13, 15, 19). No protocol decisions. */
import { parseNfpTarget } from '@proj/frames/nfp';
import type { NfpClientCall } from '@proj/frames/nfp';
import { Deadline, DeadlineList } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { setSince } from '@proj/transport/engine';
import { dueOf } from '../../../shared/due.js';
import { RemovableQueue, QueueSlot } from '../../../shared/removable-queue.js';
import { Shares } from '../../../shared/shares.js';
import type { Figures } from '../figures.js';
import type { Holders } from './worker-names.js';
import { KeptBodies } from './kept-bodies.js';
import { type Holder, Job, Owner, Part, type Service } from '../records.js';

/** Longest list of names that a job waits for, in characters: as in one POST. */
const TARGET_MAX = 65_536;

/** Memory of a job without its body, and of each of its parts. */
const JOB_BYTES = 1024;
const PART_BYTES = 256;

/** Limit of parts, per job that may be remembered: a few broadcasts to many workers must not push out everything else. */
const PARTS_PER_JOB = 4;

/** Number of jobs that a client over its share loses for each new one, until every client has a share. */
const FORGOTTEN_FOR_ONE = 2;

/** The jobs used last. Waiting jobs have their own limit and are never forgotten. */
export class JobTable {
  readonly bodies: KeptBodies;
  readonly #byUuid = new Map<string, Job>();
  readonly #recent = new RemovableQueue<Job>();
  readonly #owners = new Map<string, Owner>();
  readonly #remembered: Shares;
  readonly #waits: Shares;
  readonly #parts: Shares;
  readonly #patience: DeadlineList<Job>;
  readonly #holders: Holders;
  readonly #figures: Figures;
  #sent = 0;

  constructor(
    options: {
      readonly jobsMax: number;
      readonly requestQueueMax: number;
      readonly requestQueueMaxBytes: number;
      readonly requestTtlMs: number;
    },
    holders: Holders,
    figures: Figures,
  ) {
    this.bodies = new KeptBodies(options);
    this.#remembered = new Shares(options.jobsMax);
    this.#parts = new Shares(options.jobsMax * PARTS_PER_JOB);
    this.#waits = new Shares(options.requestQueueMax);
    this.#patience = new DeadlineList(options.requestTtlMs);
    this.#holders = holders;
    this.#figures = figures;
  }

  get size(): number {
    return this.#byUuid.size;
  }

  /** Clients with remembered jobs. */
  get owners(): number {
    return this.#owners.size;
  }

  /** The same, one by one. */
  clients(): IterableIterator<Owner> {
    return this.#owners.values();
  }

  /** Jobs that wait for a service or a worker, the longest wait first. */
  waitingJobs(): IterableIterator<Job> {
    return this.#patience.values();
  }

  /** Jobs that wait for a service or a worker. */
  get waiting(): number {
    return this.#waits.used;
  }

  /** Number of sends so far; each worker and each repetition counts. */
  get sent(): number {
    return this.#sent;
  }

  get heldBytes(): number {
    const rows = this.#byUuid.size * JOB_BYTES + this.#parts.used * PART_BYTES;
    return this.bodies.bytes + this.bodies.slackBytes + rows;
  }

  /** When the next job has waited too long. */
  get deadline(): number {
    return this.#patience.deadline;
  }

  find(uuid: string): Job | undefined {
    return this.#byUuid.get(uuid);
  }

  /** Remembers a new job, replacing `before`, which has the same uuid. If there are too many, the least recently used job is dropped. */
  add(peer: Peer, call: NfpClientCall, before: Job | undefined): Job {
    if (before !== undefined) this.forget(before);
    const job = new Job(peer, call, this.#join(peer), this.#figures.now);
    this.#byUuid.set(job.uuid, job);
    this.#remember(job);
    return job;
  }

  /** A job that workers have, or must drop, is posted again. Its parts stay followed, unless it is for any worker: then it starts at none. */
  renew(job: Job, peer: Peer, target: string): Job {
    job.poster = peer;
    setSince(job, this.#figures.now);
    if (target === 'any') {
      job.attempts = 0;
      for (const part of [...job.parts]) {
        if (part.state === 'moved') continue;
        this.#figures.ended(part, 'forgotten');
        this.settle(part);
      }
      this.review(job);
    }
    // The target of a kept job is paid for.
    if (job.cost === 0) job.target = target;
    this.touch(job, peer);
    return job;
  }

  /** A kept job that nobody has been sent yet is posted for further names: it is for all of them. False if there is no room for the list. */
  widen(job: Job, target: string): boolean {
    if (job.attempts > 0 || job.cost === 0 || target === job.target) return true;
    const [before, more] = [parseNfpTarget(job.target), parseNfpTarget(target)];
    if (before?.kind !== 'names' || more?.kind !== 'names') return true;
    const names = new Set([...before.names, ...more.names]);
    if (names.size === before.names.length) return true;
    const text = JSON.stringify([...names]);
    const cost = Math.max(0, text.length - job.target.length);
    if (text.length > TARGET_MAX || !this.bodies.grow(job, cost)) return false;
    job.target = text;
    return true;
  }

  /** Somebody asks for the job: it was used last. */
  touch(job: Job, asker: Peer): void {
    job.asker = asker;
    if (!this.#recent.remove(job)) return;
    this.#recent.push(job);
    job.owner.recent.remove(job.ownRecent);
    job.owner.recent.push(job.ownRecent);
  }

  /** Lets a job with a kept body wait for the service; false if too many wait. */
  wait(job: Job, service: Service, now: number): boolean {
    if (!this.#beginWaiting(job, now)) return false;
    this.#figures.accept(job);
    job.waitingAt = service;
    service.queue.push((job.place = new QueueSlot(job)));
    return true;
  }

  /** The job no longer waits for a service; its body stays kept. */
  leave(job: Job): void {
    if (!leaveQueue(job)) return;
    this.#endWaiting(job);
  }

  /** Lets a job with a kept body wait for this worker, unless the worker has it; false if too many wait, or for too many workers. */
  hold(job: Job, holder: Holder, now: number): boolean {
    const part = job.partAt(holder);
    if (part !== undefined && part.state !== 'moved') return true;
    if ((part === undefined && !this.#makeRoom(job)) || !this.#beginWaiting(job, now)) return false;
    this.#figures.accept(job);
    if (part === undefined) this.#addPart(new Part(job, holder, 'held'));
    else part.state = 'held';
    job.held++;
    job.unsaid++;
    return true;
  }

  /** The job is sent to the worker, for the first time or again. */
  give(job: Job, holder: Holder): Part {
    let part = job.partAt(holder);
    if (part === undefined) {
      this.#makeRoom(job);
      this.#addPart((part = new Part(job, holder, 'moved')));
    }
    this.#figures.given(part);
    if (part.state === 'held') job.held--;
    else if (part.state !== 'sent') job.unsaid++;
    part.state = 'sent';
    part.sent = ++this.#sent;
    part.isTold = part.hasDropped = false;
    this.#endWaiting(job);
    this.bodies.claim(job);
    return part;
  }

  /** The worker has said something about a job it was sent: it has it. */
  take(part: Part): void {
    part.state = 'taken';
    part.job.unsaid--;
    this.review(part.job);
  }

  /** The worker must drop the job, whatever it has said. */
  move(part: Part): void {
    const { job } = part;
    this.#figures.left(part);
    uncount(part);
    part.state = 'moved';
    setSince(job, this.#figures.now);
    if (job.current === part) job.current = undefined;
    this.bodies.claim(job);
  }

  /** The job has ended at that worker: done, refused, deleted or given up. */
  settle(part: Part): void {
    const { job, holder } = part;
    this.#figures.left(part);
    uncount(part);
    if (job.current === part) job.current = undefined;
    job.removePart(part);
    holder.parts.remove(part);
    this.#parts.give(job.owner.parts, 1);
    this.#holders.tidy(holder);
    this.#endWaiting(job);
    this.review(job);
  }

  /** Releases the body, or makes it spare, if its job no longer needs it. */
  review(job: Job): void {
    if (job.waitingAt !== undefined || job.unsaid > 0) return;
    if (job.current !== undefined) {
      this.bodies.spare(job);
      return;
    }
    this.bodies.claim(job);
    this.bodies.release(job);
    job.target = '';
  }

  /** The job has ended for its client: each worker that was sent it must drop it, and nothing else of it is kept. */
  close(job: Job): void {
    this.leave(job);
    for (const part of [...job.parts])
      if (part.state === 'held') this.settle(part);
      else this.move(part);
    if (job.partCount === 0) this.forget(job);
    else this.review(job);
  }

  /** Drops the job and all its parts. */
  forget(job: Job): void {
    leaveQueue(job);
    job.current = undefined;
    for (const part of job.parts) {
      this.#figures.ended(part, 'forgotten');
      this.#figures.left(part);
      part.holder.parts.remove(part);
      this.#holders.tidy(part.holder);
    }
    this.#parts.give(job.owner.parts, job.partCount);
    job.removeParts();
    job.held = job.unsaid = 0;
    this.#stopWaiting(job);
    this.bodies.claim(job);
    this.bodies.release(job);
    this.#recall(job);
    this.#byUuid.delete(job.uuid);
    if (--job.owner.jobCount === 0) this.#owners.delete(job.owner.peer.key);
  }

  /** Jobs that have waited too long; the caller gives up the parts that wait. */
  takeExpired(now: number): Iterable<Job> {
    return dueOf(this.#patience, now, ({ held }) => Math.max(1, held));
  }

  /** Nothing expires before `now + ms`. */
  postpone(ms: number, now: number): void {
    this.#patience.postpone(ms, now);
  }

  values(): IterableIterator<Job> {
    return this.#byUuid.values();
  }

  #join(peer: Peer): Owner {
    let owner = this.#owners.get(peer.key);
    if (owner === undefined) this.#owners.set(peer.key, (owner = new Owner(peer)));
    owner.jobCount++;
    return owner;
  }

  #addPart(part: Part): void {
    const { job, holder } = part;
    job.addPart(part);
    holder.parts.push(part);
    this.#parts.put(job.owner.parts, 1);
  }

  /** Other jobs are forgotten for another part of this one. False if there is no room, because too many wait, which are never forgotten. */
  #makeRoom(job: Job): boolean {
    const { owner } = job;
    for (let some = FORGOTTEN_FOR_ONE; some > 0 && !this.#parts.mayHold(owner.parts, 1); some--)
      if (!this.#forgetOther(owner.recent.first, job)) break;
    while (this.#parts.used >= this.#parts.max && this.#forgetOther(this.#recent.first, job));
    return this.#parts.used < this.#parts.max && this.#parts.mayHold(owner.parts, 1);
  }

  #forgetOther(other: Job | undefined, than: Job): boolean {
    if (other === undefined || other === than) return false;
    this.forget(other);
    return true;
  }

  #beginWaiting(job: Job, now: number): boolean {
    if (job.patience !== undefined) return true;
    if (!this.#waits.take(job.owner.waiting, 1)) return false;
    this.#recall(job);
    setSince(job, now);
    this.#patience.renew((job.patience = new Deadline(job)), now);
    return true;
  }

  #endWaiting(job: Job): void {
    if (job.patience === undefined || job.waitingAt !== undefined || job.held > 0) return;
    this.#stopWaiting(job);
    this.#remember(job);
  }

  #stopWaiting(job: Job): void {
    if (job.patience === undefined) return;
    this.#patience.remove(job.patience);
    job.patience = undefined;
    this.#waits.give(job.owner.waiting, 1);
  }

  /** The job may be forgotten from now on. A client over its share loses its own jobs. */
  #remember(job: Job): void {
    const { owner } = job;
    this.#recent.push(job);
    owner.recent.push(job.ownRecent);
    this.#remembered.put(owner.remembered, 1);
    for (let some = FORGOTTEN_FOR_ONE; some > 0 && !this.#remembered.mayHold(owner.remembered); some--)
      if (!this.#forgetOther(owner.recent.first, job)) break;
    if (this.#remembered.used > this.#remembered.max) this.#forgetOther(this.#recent.first, job);
  }

  /** The job may not be forgotten. */
  #recall(job: Job): void {
    if (!this.#recent.remove(job)) return;
    job.owner.recent.remove(job.ownRecent);
    this.#remembered.give(job.owner.remembered, 1);
  }
}

/** Removes the job from the queue of its service; false if it waits in none. */
function leaveQueue(job: Job): boolean {
  if (job.waitingAt === undefined || job.place === undefined) return false;
  job.waitingAt.queue.remove(job.place);
  job.waitingAt = job.place = undefined;
  return true;
}

/** The job no longer waits for this part. */
function uncount({ job, state }: Part): void {
  if (state === 'held') job.held--;
  if (state === 'held' || state === 'sent') job.unsaid--;
}
