/** All jobs of an NFP worker by uuid, the queue of those that wait, and the order in which the finished ones leave. */
import { DeadlineList } from '@proj/heartbeat';
import type { NfpJob, NfpStoredJob } from './job.js';

/** The books. Looking up, queueing, taking out of the queue and expiring cost the same however many jobs there are. */
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

  /** Jobs by state, as a copy. Those about to be accepted count as pending. */
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

  /** Jobs in the queue. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Finished jobs that are kept. */
  get finished(): number {
    return this.#finished.size;
  }

  /** When the oldest finished job is to leave. */
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

  /** At the end of the queue. */
  enqueue(job: NfpJob): void {
    job.previous = this.#last;
    if (this.#last === undefined) this.#first = job;
    else this.#last.next = job;
    this.#last = job;
    this.#waiting++;
  }

  /** Back to the front of the queue. */
  putBack(job: NfpJob): void {
    job.next = this.#first;
    if (this.#first === undefined) this.#last = job;
    else this.#first.previous = job;
    this.#first = job;
    this.#waiting++;
  }

  /** The job that waits longest, taken out. */
  dequeue(): NfpJob | undefined {
    const job = this.#first;
    if (job !== undefined) this.unqueue(job);
    return job;
  }

  /** Takes a job out that is in the queue. */
  unqueue(job: NfpJob): void {
    if (job.previous === undefined) this.#first = job.next;
    else job.previous.next = job.next;
    if (job.next === undefined) this.#last = job.previous;
    else job.next.previous = job.previous;
    job.previous = job.next = undefined;
    this.#waiting--;
  }

  /** A job is finished, or was at `now`, on the session's clock; times must not decrease. */
  keep(job: NfpJob, now: number): void {
    this.#finished.renew(job.expiry, now);
  }

  /** A finished job is on its way out. */
  release(job: NfpJob): void {
    this.#finished.remove(job.expiry);
  }

  /** The oldest finished job that is due, taken out of the order of expiry. */
  takeDue(now: number): NfpJob | undefined {
    return this.#finished.takeDue(now);
  }

  /** The oldest finished job, which stays. */
  oldest(): NfpJob | undefined {
    for (const job of this.#finished.values()) return job;
    return undefined;
  }

  /** All jobs, in no particular order. For listings and invariants. */
  values(): IterableIterator<NfpJob> {
    return this.#byUuid.values();
  }

  /** The queue, in order. For invariants. */
  *queue(): IterableIterator<NfpJob> {
    for (let job = this.#first; job !== undefined; job = job.next) yield job;
  }
}
