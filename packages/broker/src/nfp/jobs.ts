/** NFP broker: jobs by uuid, as far as answers without an address, waiting and sending again need them (rules 11 to 13). Books only. */
import type { NfpBody, NfpCall, NfpClientCall } from '@proj/frames/nfp';
import { Deadline, DeadlineList } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { Budget } from '../parts/budget.js';
import { requestCost } from '../parts/cost.js';
import { Line, Place } from '../parts/line.js';
import type { Service } from './services.js';
import type { Worker } from './workers.js';

const NO_BODY: NfpBody = [];

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
  /** Bytes taken from the budget for it. */
  cost = 0;
  /** Times it was sent to workers. */
  attempts = 0;
  /** Where it waits for a first worker. */
  waitingAt: Service | undefined;
  /** Who has it and has not said anything about it; for `any` alone. */
  worker: Worker | undefined;
  /** Place in the queue of its service or among what its worker has not answered; none once the broker has nothing to do for it. */
  place: Place<Job> | undefined;
  /** When waiting has lasted too long; only while it waits. */
  patience: Deadline<Job> | undefined;
  /** Place among all jobs, the least recently used first; in none while it waits. */
  readonly recent = new Place<Job>(this);

  constructor(peer: Peer, call: NfpClientCall) {
    this.uuid = call.uuid;
    this.service = call.service;
    this.command = call.command;
    this.target = call.target;
    this.poster = peer;
    this.asker = peer;
  }
}

/** The jobs used last. Those that wait are bounded by themselves and never forgotten. */
export class Jobs {
  readonly #byUuid = new Map<string, Job>();
  readonly #recent = new Line<Job>();
  readonly #bytes: Budget;
  readonly #patience: DeadlineList<Job>;
  readonly #max: number;
  readonly #queueMax: number;
  #waiting = 0;

  constructor(options: {
    readonly jobsMax: number;
    readonly requestQueueMax: number;
    readonly requestQueueMaxBytes: number;
    readonly requestTtlMs: number;
  }) {
    this.#max = options.jobsMax;
    this.#queueMax = options.requestQueueMax;
    this.#bytes = new Budget(options.requestQueueMaxBytes);
    this.#patience = new DeadlineList(options.requestTtlMs);
  }

  get size(): number {
    return this.#byUuid.size;
  }

  /** Jobs that wait for a service. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Bytes of kept bodies. */
  get bytes(): number {
    return this.#bytes.used;
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
    const job = new Job(peer, call);
    this.#byUuid.set(job.uuid, job);
    this.#remember(job);
    return job;
  }

  /** Somebody asks for it. */
  touch(job: Job, asker: Peer): void {
    job.asker = asker;
    if (this.#recent.remove(job.recent)) this.#recent.push(job.recent);
  }

  /** Keeps the body if the budget allows, and tells whether it does. */
  keep(job: Job, body: NfpBody): boolean {
    const cost = requestCost(body) + job.target.length;
    if (!this.#bytes.take(cost)) return false;
    job.body = body;
    job.cost = cost;
    return true;
  }

  /** The body is not needed any more. */
  release(job: Job): void {
    this.#bytes.give(job.cost);
    job.body = NO_BODY;
    job.cost = 0;
  }

  /** Lets a job whose body is kept wait for the service; false when too many do. */
  wait(job: Job, service: Service, now: number): boolean {
    if (this.#waiting >= this.#queueMax) return false;
    job.waitingAt = service;
    service.queue.push((job.place = new Place(job)));
    this.#recent.remove(job.recent);
    this.#patience.renew((job.patience = new Deadline(job)), now);
    this.#waiting++;
    return true;
  }

  /** The job waits no more; its body is still kept. */
  leave(job: Job): void {
    this.#stopWaiting(job);
    this.#remember(job);
  }

  /** The worker has the job, and the broker answers for it until the worker has said something. */
  assign(job: Job, worker: Worker): void {
    job.worker = worker;
    worker.unanswered.push((job.place = new Place(job)));
  }

  /** The broker answers no longer for the job: its worker does, or is no more, or nobody wants it. */
  settle(job: Job): void {
    if (job.worker !== undefined && job.place !== undefined) {
      job.worker.unanswered.remove(job.place);
      job.worker = job.place = undefined;
    }
    this.release(job);
  }

  /** Nothing of the job is kept, wherever it is. */
  forget(job: Job): void {
    this.#stopWaiting(job);
    this.settle(job);
    this.#recent.remove(job.recent);
    this.#byUuid.delete(job.uuid);
  }

  /** The next job that has waited for too long; the caller forgets it. Call until `undefined`. */
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

  #stopWaiting(job: Job): void {
    if (job.waitingAt === undefined || job.place === undefined || job.patience === undefined) return;
    job.waitingAt.queue.remove(job.place);
    this.#patience.remove(job.patience);
    job.waitingAt = job.place = job.patience = undefined;
    this.#waiting--;
  }

  #remember(job: Job): void {
    this.#recent.push(job.recent);
    if (this.#recent.size > this.#max) this.forget(this.#recent.first as Job);
  }
}
