/** NFP broker: jobs by uuid, as far as answers without an address, waiting and sending again need them (rules 11 to 13). Books only. */
import { compactAll } from '@proj/frames';
import { parseNfpTarget } from '@proj/frames/nfp';
import type { NfpBody, NfpCall, NfpClientCall } from '@proj/frames/nfp';
import { Deadline, DeadlineList } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { requestCost } from '../../shared/cost.js';
import { RemovableQueue, QueueSlot } from '../../shared/removable-queue.js';
import { Shares } from '../../shared/shares.js';
import { Slack } from '../../shared/slack.js';
import { type Holder, type Holders, Part } from './holders.js';
import { type Owner, Owners } from './owners.js';
import type { Service } from './services.js';

const NO_BODY: NfpBody = [];

/** Characters of the names that a job waits for, as in one POST. */
const TARGET_MAX = 65_536;

/** What a job occupies without its body, and each worker that it is with. */
const JOB_BYTES = 1024;
const PART_BYTES = 256;

/** Workers that jobs may be with, for each job that may be remembered: a few broadcasts to many must not push out everything else. */
const PARTS_PER_JOB = 4;

/** A job somebody asked for. What becomes of it is between its client and its workers. */
export class Job {
  readonly uuid: string;
  /** As the client named it. */
  readonly service: string;
  readonly command: NfpCall;
  /** The same; empty once the broker has no use for it, as it may be long. */
  target: string;
  /** Who gets events, and what the broker has to say unasked. */
  poster: Peer;
  /** Who gets responses that name no client: whoever asked last. */
  asker: Peer;
  /** Kept while the broker may have to send it (again); empty otherwise. */
  body: NfpBody = NO_BODY;
  /** Bytes taken from the budget for it, and memory that it holds beyond that. */
  cost = 0;
  slack = 0;
  /** Times it was sent, to all it is for together. */
  attempts = 0;
  /** Where it waits for a first worker. */
  waitingAt: Service | undefined;
  /** Whom it is with or waits for, and who is to drop it. */
  readonly parts = new Set<Part>();
  /** Of a job for any worker that may go to another one: whose it is now. */
  current: Part | undefined;
  /** Parts that wait for their worker. */
  held = 0;
  /** Those, and parts of whose worker nothing has been heard about it. */
  unsaid = 0;
  /** Place in the queue of its service, or among those whose body is kept although a worker has the job. */
  place: QueueSlot<Job> | undefined;
  /** When waiting has lasted too long; only while it, or a part of it, waits. */
  patience: Deadline<Job> | undefined;
  /** Place among all jobs, the least recently used first; in none while it waits. */
  readonly recent = new QueueSlot<Job>(this);
  /** Who posted it first, and its places among what is that client's. */
  readonly owner: Owner;
  readonly ownRecent = new QueueSlot<Job>(this);
  readonly ownSpare = new QueueSlot<Job>(this);

  constructor(peer: Peer, call: NfpClientCall, owner: Owner) {
    this.owner = owner;
    this.uuid = call.uuid;
    this.service = call.service;
    this.command = call.command;
    this.target = call.target;
    this.poster = peer;
    this.asker = peer;
  }
}

/** When a client has too much, so many of its jobs are forgotten for each that comes: more is left then, until everybody has a share. */
const FORGOTTEN_FOR_ONE = 2;

/** The jobs used last. Those that wait are bounded by themselves and never forgotten. */
export class JobTable {
  readonly #byUuid = new Map<string, Job>();
  readonly #recent = new RemovableQueue<Job>();
  /** Kept only to be done by another worker, should theirs be lost: the oldest gives way when the budget is used up. */
  readonly #spare = new RemovableQueue<Job>();
  readonly #owners = new Owners();
  readonly #remembered: Shares;
  readonly #waits: Shares;
  readonly #parts: Shares;
  readonly #bytes: Shares;
  readonly #slack: Slack;
  /** The process has no room for what would have to wait. */
  isTight = false;
  readonly #patience: DeadlineList<Job>;
  readonly #holders: Holders;
  #sent = 0;

  constructor(
    options: {
      readonly jobsMax: number;
      readonly requestQueueMax: number;
      readonly requestQueueMaxBytes: number;
      readonly requestTtlMs: number;
    },
    holders: Holders,
  ) {
    this.#remembered = new Shares(options.jobsMax);
    this.#parts = new Shares(options.jobsMax * PARTS_PER_JOB);
    this.#waits = new Shares(options.requestQueueMax);
    this.#bytes = new Shares(options.requestQueueMaxBytes);
    this.#slack = new Slack(this.#bytes);
    this.#patience = new DeadlineList(options.requestTtlMs);
    this.#holders = holders;
  }

  get size(): number {
    return this.#byUuid.size;
  }

  /** Clients whose jobs these are. */
  get owners(): number {
    return this.#owners.size;
  }

  /** Jobs that wait for a service or a worker. */
  get waiting(): number {
    return this.#waits.used;
  }

  /** Jobs that were sent, counted once for each worker and time. */
  get sent(): number {
    return this.#sent;
  }

  /** Bytes of kept bodies. */
  get bytes(): number {
    return this.#bytes.used;
  }

  /** What jobs occupy, rows and bodies. */
  get heldBytes(): number {
    return this.#bytes.used + this.#slack.used + this.#byUuid.size * JOB_BYTES + this.#parts.used * PART_BYTES;
  }

  /** What bodies hold beyond themselves. */
  get slackBytes(): number {
    return this.#slack.used;
  }

  /** When the next job has waited for too long. */
  get deadline(): number {
    return this.#patience.deadline;
  }

  find(uuid: string): Job | undefined {
    return this.#byUuid.get(uuid);
  }

  /** Remembers a job in place of any of the same uuid, and forgets the one used longest ago when there are too many. */
  add(peer: Peer, call: NfpClientCall): Job {
    const before = this.#byUuid.get(call.uuid);
    if (before !== undefined) this.forget(before);
    const job = new Job(peer, call, this.#owners.join(peer.key));
    this.#byUuid.set(job.uuid, job);
    this.#remember(job);
    return job;
  }

  /**
   * A job that workers have, or are to drop, is posted once more: {@link add}, but what is with them stays followed. What is for any worker is with
   * nobody from now on.
   */
  renew(job: Job, peer: Peer, target: string): Job {
    job.poster = peer;
    if (target === 'any') {
      job.attempts = 0;
      for (const part of [...job.parts]) if (part.state !== 'moved') this.settle(part);
      this.review(job);
    }
    // One that is kept has been paid for.
    if (job.cost === 0) job.target = target;
    this.touch(job, peer);
    return job;
  }

  /** A job that nobody has been sent yet is posted for further names: it is for all of them. False when there is no room to keep them. */
  widen(job: Job, target: string): boolean {
    if (job.attempts > 0 || job.cost === 0 || target === job.target) return true;
    const [before, more] = [parseNfpTarget(job.target), parseNfpTarget(target)];
    if (before?.kind !== 'names' || more?.kind !== 'names') return true;
    const names = new Set([...before.names, ...more.names]);
    if (names.size === before.names.length) return true;
    const text = JSON.stringify([...names]);
    const cost = Math.max(0, text.length - job.target.length);
    if (text.length > TARGET_MAX || !this.#bytes.take(job.owner.bytes, cost)) return false;
    job.cost += cost;
    job.target = text;
    return true;
  }

  /** Somebody asks for it. */
  touch(job: Job, asker: Peer): void {
    job.asker = asker;
    if (!this.#recent.remove(job.recent)) return;
    this.#recent.push(job.recent);
    job.owner.recent.remove(job.ownRecent);
    job.owner.recent.push(job.ownRecent);
  }

  /** Keeps the body if the budget, the client's share of it and the memory of the process allow, and tells whether it does. Spare ones give way, those of the client first. */
  keep(job: Job, body: NfpBody): boolean {
    const { owner, target } = job;
    const cost = requestCost(body) + target.length;
    if (this.isTight || cost > this.#bytes.max) return false;
    while (!this.#bytes.take(owner.bytes, cost)) {
      const spare = owner.spare.first ?? (this.#bytes.mayHold(owner.bytes, cost) ? this.#spare.first : undefined);
      if (spare === undefined) return false;
      this.#spareNot(spare);
      this.#release(spare);
    }
    const slack = this.#slack.take(body);
    job.body = slack === undefined ? compactAll(body) : body;
    job.slack = slack ?? 0;
    job.cost = cost;
    return true;
  }

  /** Lets a job whose body is kept wait for the service; false when too many do. */
  wait(job: Job, service: Service, now: number): boolean {
    if (!this.#beginWaiting(job, now)) return false;
    job.waitingAt = service;
    service.queue.push((job.place = new QueueSlot(job)));
    return true;
  }

  /** The job waits for no service any more; its body is still kept. */
  leave(job: Job): void {
    if (job.waitingAt === undefined || job.place === undefined) return;
    job.waitingAt.queue.remove(job.place);
    job.waitingAt = job.place = undefined;
    this.#endWaiting(job);
  }

  /** Lets a job whose body is kept wait for a worker, unless that has it; false when too many wait. */
  hold(job: Job, holder: Holder, now: number): boolean {
    const part = holder.parts.get(job.uuid);
    if (part !== undefined && part.state !== 'moved') return true;
    if (!this.#beginWaiting(job, now)) return false;
    if (part === undefined) this.#addPart(new Part(job, holder, 'held'));
    else part.state = 'held';
    job.held++;
    job.unsaid++;
    return true;
  }

  /** The job is sent to the worker, for the first time or again. */
  give(job: Job, holder: Holder): Part {
    let part = holder.parts.get(job.uuid);
    if (part === undefined) this.#addPart((part = new Part(job, holder, 'moved')));
    if (part.state === 'held') job.held--;
    else if (part.state !== 'sent') job.unsaid++;
    part.state = 'sent';
    part.sent = ++this.#sent;
    part.isTold = part.hasDropped = false;
    this.#endWaiting(job);
    this.#spareNot(job);
    return part;
  }

  /** The worker has said something about the job: it has it. */
  take(part: Part): void {
    const { job } = part;
    if (part.state !== 'sent') return;
    part.state = 'taken';
    job.unsaid--;
    this.review(job);
  }

  /** The worker is to drop it, whatever it has said. */
  move(part: Part): void {
    const { job } = part;
    this.#unsay(part);
    part.state = 'moved';
    if (job.current === part) job.current = undefined;
    this.#spareNot(job);
  }

  /** The broker has nothing more to do about the job at that worker: it is done there, refused, deleted or given up. */
  settle(part: Part): void {
    const { job, holder } = part;
    this.#unsay(part);
    if (job.current === part) job.current = undefined;
    job.parts.delete(part);
    holder.parts.delete(job.uuid);
    this.#parts.give(job.owner.parts, 1);
    this.#holders.tidy(holder);
    this.#endWaiting(job);
    this.review(job);
  }

  /** Keeps the body only for what it may be needed for. */
  review(job: Job): void {
    if (job.waitingAt !== undefined || job.unsaid > 0) return;
    if (job.current === undefined) {
      this.#spareNot(job);
      this.#release(job);
      job.target = '';
    } else if (job.cost > 0 && job.place === undefined) {
      this.#spare.push((job.place = new QueueSlot(job)));
      job.owner.spare.push(job.ownSpare);
    }
  }

  /** It is over for its client: whoever was sent it is to drop it, and nothing else of it is kept. */
  close(job: Job): void {
    this.leave(job);
    for (const part of [...job.parts])
      if (part.state === 'held') this.settle(part);
      else this.move(part);
    if (job.parts.size === 0) this.forget(job);
    else this.review(job);
  }

  /** Nothing of the job is kept, wherever it is. */
  forget(job: Job): void {
    if (job.waitingAt !== undefined && job.place !== undefined) {
      job.waitingAt.queue.remove(job.place);
      job.waitingAt = job.place = undefined;
    }
    job.current = undefined;
    for (const part of job.parts) {
      part.holder.parts.delete(job.uuid);
      this.#holders.tidy(part.holder);
    }
    this.#parts.give(job.owner.parts, job.parts.size);
    job.parts.clear();
    job.held = job.unsaid = 0;
    this.#stopWaiting(job);
    this.#spareNot(job);
    this.#release(job);
    this.#recall(job);
    this.#byUuid.delete(job.uuid);
    this.#owners.leave(job.owner);
  }

  /** The next job that has waited for too long; the caller gives up what waits of it. Call until `undefined`. */
  takeExpired(now: number): Job | undefined {
    return this.#patience.takeDue(now);
  }

  /** Lets nothing expire before `now + ms`. */
  postpone(ms: number, now: number): void {
    this.#patience.postpone(ms, now);
  }

  values(): IterableIterator<Job> {
    return this.#byUuid.values();
  }

  /** What a part waited for is over. */
  #unsay({ job, state }: Part): void {
    if (state === 'held') job.held--;
    if (state === 'held' || state === 'sent') job.unsaid--;
  }

  #addPart(part: Part): void {
    const { job, holder } = part;
    job.parts.add(part);
    holder.parts.set(job.uuid, part);
    const { owner } = job;
    this.#parts.put(owner.parts, 1);
    for (let some = FORGOTTEN_FOR_ONE; some > 0 && !this.#parts.mayHold(owner.parts); some--)
      if (!this.#forgetOther(owner.recent.first, job)) break;
    while (this.#parts.used > this.#parts.max && this.#forgetOther(this.#recent.first, job));
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

  #spareNot(job: Job): void {
    if (job.place === undefined || !this.#spare.remove(job.place)) return;
    job.place = undefined;
    job.owner.spare.remove(job.ownSpare);
  }

  #release(job: Job): void {
    this.#bytes.give(job.owner.bytes, job.cost);
    this.#slack.give(job.slack);
    job.body = NO_BODY;
    job.cost = job.slack = 0;
  }

  /** It may be forgotten, as all those that do not wait. Who has too many forgets its own. */
  #remember(job: Job): void {
    const { owner } = job;
    this.#recent.push(job.recent);
    owner.recent.push(job.ownRecent);
    this.#remembered.put(owner.remembered, 1);
    for (let some = FORGOTTEN_FOR_ONE; some > 0 && !this.#remembered.mayHold(owner.remembered); some--)
      if (!this.#forgetOther(owner.recent.first, job)) break;
    if (this.#remembered.used > this.#remembered.max) this.#forgetOther(this.#recent.first, job);
  }

  /** It may not be forgotten. */
  #recall(job: Job): void {
    if (!this.#recent.remove(job.recent)) return;
    job.owner.recent.remove(job.ownRecent);
    this.#remembered.give(job.owner.remembered, 1);
  }
}
