/** EventMQ broker: jobs that are open, and who has them. Books only, no protocol decisions. */
import { compact } from '@proj/frames';
import type { EmqpReadHeaders, EmqpRequest } from '@proj/frames/emqp';
import { Deadline, HeapDeadline } from '@proj/heartbeat';
import { RemovableQueue, QueueSlot } from '../../shared/removable-queue.js';
import type { Slack } from '../../shared/slack.js';
import type { EmqpParty } from './events.js';
import type { Leaver } from './peers.js';
import type { Queue } from './queues.js';

/** Who asks, as queues tell clients apart. */
export function askerOf({ port, peer }: EmqpParty): string {
  return `${port} ${peer.key}`;
}

/** An accepted request until it is done or lost: waiting in a queue, or open at one worker. */
export class Job {
  /** Who asked last (rule 36). */
  client: EmqpParty;
  readonly id: string;
  /** Name of the queue the client wrote; the job may be in queue `default` for it. */
  readonly name: string;
  readonly guarantee: boolean;
  /** How many more workers it may be given to when it is lost with one. */
  readonly retryCount: number;
  readonly replyRequested: boolean;
  readonly timeoutSeconds: number;
  readonly acceptedAt: number;
  /** True while the client is to get the result. */
  awaited: boolean;
  /** What to send; not there of a job that runs and is not {@link kept}. */
  request: EmqpRequest | undefined;
  /** Bytes taken from the budget for `request`. */
  cost: number;
  /** Memory taken for what `request` holds beyond that; `undefined` until it is kept. */
  slack: number | undefined;
  /** Workers it was given to, the present one included. */
  attempts = 0;
  queue: Queue;
  /** False while it is on its way to the store: its client was told nothing yet. */
  isAccepted = false;
  /** It is of an earlier life of the broker: a worker may have had it then. */
  isRestored = false;
  /** Its number in the store (rule 35); `undefined` when it is not kept there. */
  record: number | undefined;
  /** When it began to wait. */
  waitingSince = 0;
  /** Where it is open; `undefined` while it waits. */
  holder: WorkerJobs | undefined;
  /** Where it waits. */
  readonly place = new QueueSlot<Job>(this);
  /** Among those that wait in its queue, or are open at its worker, in the order in which they came. */
  readonly order = new QueueSlot<Job>(this);
  readonly plain = new QueueSlot<Job>(this);
  /** Rule 10: until when the result finds its way. */
  readonly route = new Deadline<Job>(this);
  /** Rule 19: when a worker that does not answer is taken to have done it. */
  readonly release = new HeapDeadline<Job>(this);

  constructor(
    client: EmqpParty,
    request: EmqpRequest,
    headers: EmqpReadHeaders,
    queue: Queue,
    cost: number,
    now: number,
  ) {
    this.client = client;
    this.id = request.id;
    this.name = request.queue;
    this.guarantee = headers.guarantee;
    this.retryCount = headers.retryCount;
    this.replyRequested = headers.replyRequested;
    this.awaited = headers.replyRequested;
    this.timeoutSeconds = headers.timeoutSeconds;
    this.acceptedAt = now;
    this.request = request;
    this.queue = queue;
    this.cost = cost;
  }

  /** It is kept from now on, in memory of its own where there is no slack left. */
  settle(slack: Slack): void {
    if (this.request === undefined || this.slack !== undefined) return;
    const { headers, body } = this.request;
    this.slack = slack.take([headers, body]);
    if (this.slack !== undefined) return;
    this.slack = 0;
    this.request = { ...this.request, headers: compact(headers), body: compact(body) };
  }

  /** It is kept no more. */
  leave(slack: Slack): void {
    slack.give(this.slack ?? 0);
    this.slack = undefined;
  }

  /** Whose turn it takes in a queue: the same routing id at another port is another client. */
  get asker(): string {
    return askerOf(this.client);
  }

  /** True when it may go to another worker: it is kept until somebody answers it (rule 17). */
  get kept(): boolean {
    return this.guarantee || this.retryCount > 0;
  }

  /** True when no REPLY is due. */
  get isPlain(): boolean {
    return !this.kept && !this.replyRequested;
  }

  /** True when a real job manager sends no REPLY although one is due (rule 19). */
  get isSilent(): boolean {
    return this.kept && !this.replyRequested;
  }
}

/** Jobs by message id; ids repeat, and equal ones keep their order. */
export class JobsById {
  readonly #jobs = new Map<string, Job[]>();

  /** Jobs of that id, oldest first. */
  get(id: string): readonly Job[] {
    return this.#jobs.get(id) ?? [];
  }

  add(job: Job): void {
    const same = this.#jobs.get(job.id);
    if (same === undefined) this.#jobs.set(job.id, [job]);
    else same.push(job);
  }

  remove(job: Job): void {
    const same = this.#jobs.get(job.id);
    if (same === undefined) return;
    const at = same.indexOf(job);
    if (at >= 0) same.splice(at, 1);
    if (same.length === 0) this.#jobs.delete(job.id);
  }
}

/** The jobs a worker has, in the order in which it got them. */
export class WorkerJobs {
  readonly #all = new RemovableQueue<Job>();
  readonly #plain = new RemovableQueue<Job>();
  readonly #byId = new JobsById();
  #silent = 0;
  /** Rule 20: jobs of which some are lost with their process, and how many. */
  readonly suspects = new Set<Job>();
  missing = 0;
  /** READYs still to come for jobs that are no longer here. */
  readyOwed = 0;
  /** Set when these are the jobs of a worker that has left. */
  readonly leaver: Leaver | undefined;

  constructor(leaver?: Leaver) {
    this.leaver = leaver;
  }

  get size(): number {
    return this.#all.size;
  }

  /** True while a job is here that may end without REPLY, at some workers (rule 19). */
  get hasSilent(): boolean {
    return this.#silent > 0;
  }

  /** The oldest job that ends with READY. */
  get oldestPlain(): Job | undefined {
    return this.#plain.first;
  }

  /** Rule 11: the oldest job of that id; without an id, the only one there is. */
  find(id: string | undefined): Job | undefined {
    if (id !== undefined) return this.#byId.get(id)[0];
    return this.#all.size === 1 ? this.#all.first : undefined;
  }

  /** The latest job of that id: the one whose dispatch came back. */
  findLatest(id: string): Job | undefined {
    return this.#byId.get(id).at(-1);
  }

  add(job: Job): void {
    job.holder = this;
    this.#all.push(job.order);
    if (job.isPlain) this.#plain.push(job.plain);
    if (job.isSilent) this.#silent++;
    this.#byId.add(job);
  }

  remove(job: Job): void {
    job.holder = undefined;
    this.#all.remove(job.order);
    this.#plain.remove(job.plain);
    if (job.isSilent) this.#silent--;
    this.suspects.delete(job);
    this.#byId.remove(job);
  }

  /** Oldest first. The job just yielded may be removed meanwhile, no other. */
  values(): IterableIterator<Job> {
    return this.#all.values();
  }
}
