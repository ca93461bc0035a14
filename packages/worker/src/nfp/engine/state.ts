/** The state of an NFP worker's jobs: each one, all of them by uuid, the queue of waiting ones, and the slots of running ones. */
import { Deadline, DeadlineList } from '@proj/heartbeat';
import type { HeapDeadline } from '@proj/heartbeat';
import type { NfpInputRequest } from './jobs/bodies.js';
import type { NfpIncomingCall, NfpJobState, NfpReplyTo, NfpStoredJob } from './events.js';

/** A job in memory. Its {@link state} is what the store has; a change being stored is its {@link change}. */
export class NfpJob implements NfpStoredJob {
  readonly uuid: string;
  readonly seq: number;
  readonly task: string;
  readonly digest: string;
  readonly timeoutMs: number;
  replyTo: NfpReplyTo;
  state: NfpStoredJob['state'];
  runs: number;
  cancelling: boolean;
  readonly receivedAt: number;
  startedAt: number;
  endedAt: number;
  /** The change being stored. Calls that need another one meanwhile wait in {@link parked}. */
  change: 'accept' | 'start' | 'finish' | 'remove' | undefined;
  parked: NfpIncomingCall[] | undefined;
  /** Number of the run, from the decision to start it until its task has ended. */
  run: number | undefined;
  /** The unanswered question. */
  input: NfpInputRequest | undefined;
  inputDue: HeapDeadline<NfpJob> | undefined;
  /** The last events of the run, as JSON. */
  log: Uint8Array[] = [];
  /** Its place among the finished ones. */
  readonly expiry = new Deadline<NfpJob>(this);
  /** Its neighbours in the queue. */
  previous: NfpJob | undefined;
  next: NfpJob | undefined;

  constructor(stored: NfpStoredJob) {
    this.uuid = stored.uuid;
    this.seq = stored.seq;
    this.task = stored.task;
    this.digest = stored.digest;
    this.timeoutMs = stored.timeoutMs;
    this.replyTo = stored.replyTo;
    this.state = stored.state;
    this.runs = stored.runs;
    this.cancelling = stored.cancelling;
    this.receivedAt = stored.receivedAt;
    this.startedAt = stored.startedAt;
    this.endedAt = stored.endedAt;
  }

  /** The answer to GET. */
  get shownState(): NfpJobState {
    return this.state === 'STARTED' && this.input !== undefined ? 'WAITING_CLIENT_INPUT' : this.state;
  }

  /** True when there is a result. */
  get isFinal(): boolean {
    return this.state !== 'PENDING' && this.state !== 'STARTED';
  }
}

/** All jobs. Looking up, queueing, leaving the queue and expiring take constant time. */
export class NfpJobs {
  readonly #byUuid = new Map<string, NfpJob>();
  readonly #finished: DeadlineList<NfpJob>;
  readonly #counts: Record<NfpStoredJob['state'], number> = {
    PENDING: 0,
    STARTED: 0,
    COMPLETED: 0,
    FAILED: 0,
    CANCELLED: 0,
  };
  #first: NfpJob | undefined;
  #last: NfpJob | undefined;
  #waiting = 0;
  #lastSeq = 0;

  /** `ttlMs`: how long finished jobs are kept; `Infinity` for ever. */
  constructor(ttlMs: number) {
    this.#finished = new DeadlineList(ttlMs);
  }

  /** A copy of the number of jobs by state. Those about to be accepted count as pending. */
  get counts(): Record<NfpStoredJob['state'], number> {
    return { ...this.#counts };
  }

  /** Jobs that were accepted, or are about to be, and have not begun. */
  get pending(): number {
    return this.#counts.PENDING;
  }

  /** The highest place in the order of acceptance so far; 0 before any. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Number of finished jobs kept. */
  get finished(): number {
    return this.#finished.size;
  }

  /** When the oldest finished job expires. */
  get deadline(): number {
    return this.#finished.deadline;
  }

  get(uuid: string): NfpJob | undefined {
    return this.#byUuid.get(uuid);
  }

  add(job: NfpJob): void {
    this.#byUuid.set(job.uuid, job);
    this.#counts[job.state]++;
    this.#lastSeq = Math.max(this.#lastSeq, job.seq);
  }

  /** Forgets a job that is not in the queue. */
  delete(job: NfpJob): void {
    this.#byUuid.delete(job.uuid);
    this.#counts[job.state]--;
    this.#finished.remove(job.expiry);
  }

  setState(job: NfpJob, state: NfpStoredJob['state']): void {
    this.#counts[job.state]--;
    job.state = state;
    this.#counts[state]++;
  }

  enqueue(job: NfpJob): void {
    job.previous = this.#last;
    if (this.#last === undefined) this.#first = job;
    else this.#last.next = job;
    this.#last = job;
    this.#waiting++;
  }

  putBack(job: NfpJob): void {
    job.next = this.#first;
    if (this.#first === undefined) this.#last = job;
    else this.#first.previous = job;
    this.#first = job;
    this.#waiting++;
  }

  /** Removes the job that has waited longest. */
  dequeue(): NfpJob | undefined {
    const job = this.#first;
    if (job !== undefined) this.unqueue(job);
    return job;
  }

  /** Removes a job from the queue, wherever it is. */
  unqueue(job: NfpJob): void {
    if (job.previous === undefined) this.#first = job.next;
    else job.previous.next = job.next;
    if (job.next === undefined) this.#last = job.previous;
    else job.next.previous = job.previous;
    job.previous = job.next = undefined;
    this.#waiting--;
  }

  /** A job finished at `at`, on the session's clock; times must not decrease. */
  keep(job: NfpJob, at: number): void {
    this.#finished.renew(job.expiry, at);
  }

  /** A finished job is about to be removed. */
  release(job: NfpJob): void {
    this.#finished.remove(job.expiry);
  }

  /** Removes the oldest finished job that is due from the order of expiry. */
  takeDue(now: number): NfpJob | undefined {
    return this.#finished.takeDue(now);
  }

  /** The oldest finished job, without removing it. */
  oldest(): NfpJob | undefined {
    for (const job of this.#finished.values()) return job;
    return undefined;
  }

  /** All jobs, in the order in which they became known. For listings and invariants. */
  values(): IterableIterator<NfpJob> {
    return this.#byUuid.values();
  }

  /** The queue, in order. For invariants. */
  *queue(): IterableIterator<NfpJob> {
    for (let job = this.#first; job !== undefined; job = job.next) yield job;
  }
}

/** Slots for tasks. A job holds one from the decision to start it to the end of its task; the number of its `run` is never reused. */
export class Slots {
  readonly max: number;
  readonly #running = new Map<number, NfpJob>();
  #taken = 0;
  #run = 0;

  constructor(max: number) {
    this.max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  get isFree(): boolean {
    return this.#taken < this.max;
  }

  /** Jobs whose task runs, by run. */
  get running(): ReadonlyMap<number, NfpJob> {
    return this.#running;
  }

  /** `wallMs`: when the job begins, in milliseconds since 1970. */
  take(job: NfpJob, wallMs: number): void {
    this.#taken++;
    job.run = ++this.#run;
    job.runs++;
    job.startedAt = wallMs;
  }

  free(job: NfpJob): void {
    this.#taken--;
    job.run = undefined;
  }

  /** The task of a job with a slot begins; returns its run. */
  begin(job: NfpJob): number {
    const run = job.run as number;
    this.#running.set(run, job);
    return run;
  }

  /** The task has ended; returns its job, which keeps the slot, or `undefined` if there is no such run. */
  end(run: number): NfpJob | undefined {
    const job = this.#running.get(run);
    this.#running.delete(run);
    return job;
  }
}
