/** EventMQ broker: open jobs, and which worker has each. No protocol decisions. */
import { compactAll } from '@proj/frames';
import type { EmqpReadHeaders, EmqpRequest } from '@proj/frames/emqp';
import { Deadline, HeapDeadline } from '@proj/heartbeat';
import { setSince, type Timed } from '@proj/transport/engine';
import { RemovableQueue, QueueSlot } from '../../../shared/removable-queue.js';
import type { Slack } from '../../../shared/slack.js';
import type { EmqpParty } from '../events.js';
import type { ClientBacklog, ClientEntry } from './backlogs.js';
import type { Leaver } from '../peers/peers.js';
import type { Queue } from './queues.js';

/** How queues distinguish clients. */
export function askerOf({ port, peer }: EmqpParty): string {
  return `${port} ${peer.key}`;
}

/** An accepted request until it is done or lost: it waits in a queue, or is open at one worker. */
export class Job implements Timed {
  /** The client that asked last (rule 36). */
  client: EmqpParty;
  readonly id: string;
  /** The queue the client named; the job may be in queue `default` instead. */
  readonly name: string;
  readonly guarantee: boolean;
  /** How many more workers it may be given to if its worker is lost. */
  readonly retryCount: number;
  readonly replyRequested: boolean;
  readonly timeoutSeconds: number;
  readonly acceptedAt: number;
  /** True while the client should get the result. */
  awaited: boolean;
  /** What to send; absent for a running job that is not {@link kept}. */
  request: EmqpRequest | undefined;
  /** Bytes taken from the budget for `request`. */
  cost: number;
  /** Memory that `request` holds beyond its bytes; `undefined` until it is kept. */
  slack: number | undefined;
  /** Number of workers it was given to. */
  attempts = 0;
  queue: Queue;
  /** False while it is being stored: its client has had no answer yet. */
  isAccepted = false;
  /** It comes from the store: a worker may already have had it. */
  isRestored = false;
  /** Its number in the store (rule 35), if it is stored. */
  record: number | undefined;
  waitingSince = 0;
  /** Where it counts while it waits, or is being stored; `undefined` at the front. */
  backlog: ClientBacklog | undefined;
  /** The client that the bytes of a {@link kept} job count for. */
  keeper: ClientEntry | undefined;
  /** When it began to wait, or its worker got it. */
  sinceSpan = 0;
  sinceUs = 0;
  /** The jobs of its worker; `undefined` while it waits. */
  holder: WorkerJobs | undefined;
  readonly place = new QueueSlot<Job>(this);
  /** Place in order of arrival, among jobs that wait in its queue or are open at its worker. */
  readonly order = new QueueSlot<Job>(this);
  /** Place among the plain or the silent jobs of its worker, or among those of its backlog that may make room. */
  readonly kindred = new QueueSlot<Job>(this);
  /** How many jobs its worker had been given with this one. */
  number = 0;
  /** Rule 10: until when the result is forwarded. */
  readonly route = new Deadline<Job>(this);
  /** Rule 19: when a silent worker is assumed to have done it. */
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
    setSince(this, now);
    this.request = request;
    this.queue = queue;
    this.cost = cost;
  }

  /** The request is kept from now on; copied if no slack is left. */
  settle(slack: Slack): void {
    if (this.request === undefined || this.slack !== undefined) return;
    const { kind, id, queue } = this.request;
    const frames = [this.request.headers, this.request.body];
    this.slack = slack.take(frames);
    if (this.slack !== undefined) return;
    this.slack = 0;
    const [headers, body] = compactAll(frames) as [Uint8Array, Uint8Array];
    this.request = { kind, id, queue, headers, body };
  }

  /** The request is no longer kept. */
  leave(slack: Slack): void {
    slack.give(this.slack ?? 0);
    this.slack = undefined;
  }

  /** The client whose turn it takes in a queue. */
  get asker(): string {
    return askerOf(this.client);
  }

  /** It may go to another worker, so it is kept until a worker answers it (rule 17). */
  get kept(): boolean {
    return this.guarantee || this.retryCount > 0;
  }

  /** No REPLY is due. */
  get isPlain(): boolean {
    return !this.kept && !this.replyRequested;
  }

  /** REPLY is due, but real job managers send none (rule 19). */
  get isSilent(): boolean {
    return this.kept && !this.replyRequested;
  }
}

/** Jobs by message id. Ids may repeat; jobs with equal ids keep their order. */
export class JobsById {
  readonly #jobs = new Map<string, Job[]>();

  /** Jobs with that id, oldest first. */
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
    if (at >= 0 && same.length === 1) this.#jobs.delete(job.id);
    else if (at >= 0) same.splice(at, 1);
  }
}

/** The jobs of a worker, in the order in which it got them. */
export class WorkerJobs implements Timed {
  readonly #all = new RemovableQueue<Job>();
  readonly #plain = new RemovableQueue<Job>();
  readonly #silent = new RemovableQueue<Job>();
  readonly #byId = new JobsById();
  #guaranteed = 0;
  /** How many jobs there have been; the number of the newest. */
  #given = 0;
  #suspects = 0;
  #suspectedTo = 0;
  /** Rule 20: how many of the {@link suspects} were lost with their process. */
  missing = 0;
  /** READYs still due for jobs that have ended. */
  readyOwed = 0;
  /** Since when there have been any, or none. */
  sinceSpan = 0;
  sinceUs = 0;
  /** The worker has left in order (rule 18). */
  hasLeft = false;
  /** Set while the worker, no longer registered, may still finish them. */
  leaver: Leaver | undefined;

  constructor(now: number) {
    setSince(this, now);
  }

  get size(): number {
    return this.#all.size;
  }

  get oldest(): Job | undefined {
    return this.#all.first;
  }

  /** The oldest job that may end without REPLY (rule 19). */
  get oldestSilent(): Job | undefined {
    return this.#silent.first;
  }

  /** The oldest job that ends with READY. */
  get oldestPlain(): Job | undefined {
    return this.#plain.first;
  }

  /** The number of the newest job so far. */
  get newestNumber(): number {
    return this.#given;
  }

  get isAllGuaranteed(): boolean {
    return this.#guaranteed === this.size;
  }

  /** Whether REPLY is due for some job. */
  get isReplyDue(): boolean {
    return this.size > this.#plain.size + this.#silent.size;
  }

  /** Rule 20: number of jobs among which some may have been lost with their process. */
  get suspects(): number {
    return this.#suspects;
  }

  /** The newest of them has at most this number. */
  get suspectedTo(): number {
    return this.#suspectedTo;
  }

  /** All jobs are {@link suspects}, and one more of them is missing. */
  suspectAll(): void {
    this.#suspects = this.size;
    this.#suspectedTo = this.#given;
    this.missing++;
  }

  /** It no longer matters which are missing. */
  suspectNone(): void {
    this.#suspects = this.#suspectedTo = this.missing = 0;
  }

  /** Rule 11: the oldest job with that id; without an id, the only job. */
  find(id: string | undefined): Job | undefined {
    if (id !== undefined) return this.#byId.get(id)[0];
    return this.#all.size === 1 ? this.#all.first : undefined;
  }

  /** The latest job with that id: the one whose dispatch came back. */
  findLatest(id: string): Job | undefined {
    return this.#byId.get(id).at(-1);
  }

  add(job: Job, now: number): void {
    if (this.size === 0) setSince(this, now);
    job.holder = this;
    job.number = ++this.#given;
    this.#all.push(job.order);
    if (job.isPlain) this.#plain.push(job.kindred);
    else if (job.isSilent) this.#silent.push(job.kindred);
    if (job.guarantee) this.#guaranteed++;
    this.#byId.add(job);
  }

  remove(job: Job, now: number): void {
    job.holder = undefined;
    this.#all.remove(job.order);
    if (this.size === 0) setSince(this, now);
    if (job.isPlain) this.#plain.remove(job.kindred);
    else if (job.isSilent) this.#silent.remove(job.kindred);
    if (job.guarantee) this.#guaranteed--;
    if (job.number <= this.#suspectedTo) this.#suspects--;
    this.#byId.remove(job);
  }

  /** Oldest first. Jobs may end meanwhile, but none may be added. */
  values(): IterableIterator<Job> {
    return this.#all.values();
  }
}
