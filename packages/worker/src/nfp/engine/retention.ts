/** NFP worker: how long finished jobs are kept, by age and by number. */
import type { JobWrites } from './changes.js';
import type { NfpIncomingCall, NfpJob } from './job.js';
import type { NfpJobs } from './jobs.js';
import type { Output } from './output.js';

/** Finished jobs removed in one commit, and the time between two such commits. */
const SWEEP_MAX = 1000;
const SWEEP_EVERY_MS = 100;

/** Removes finished jobs from the books and the store. */
export class Retention {
  readonly #max: number;
  readonly #jobs: NfpJobs;
  readonly #changes: JobWrites;
  readonly #output: Output;
  #sweepAfter = -Infinity;

  /** `max`: results kept. */
  constructor(max: number, jobs: NfpJobs, changes: JobWrites, output: Output) {
    this.#max = max;
    this.#jobs = jobs;
    this.#changes = changes;
    this.#output = output;
  }

  /** When the next result has reached its age, and the store is there to forget it. */
  get deadline(): number {
    return Math.max(this.#jobs.deadline, this.#sweepAfter, this.#changes.stalledUntil);
  }

  /** A finished job leaves; `call` is answered when that is durable. */
  remove(job: NfpJob, call?: NfpIncomingCall): void {
    this.#jobs.release(job);
    this.#changes.remove(job, call);
  }

  /** More results than may be kept: the oldest leave. */
  trim(): void {
    let count = 0;
    for (; this.#jobs.finished > this.#max; count++) this.remove(this.#jobs.oldest() as NfpJob);
    if (count > 0) this.#output.note({ code: 'results-removed', count });
  }

  /** Results that have reached their age leave, so many at a time. */
  sweep(now: number): void {
    if (this.#sweepAfter > now || this.#changes.isStalled(now)) return;
    let count = 0;
    for (; count < SWEEP_MAX; count++) {
      const job = this.#jobs.takeDue(now);
      if (job === undefined) break;
      this.remove(job);
    }
    if (count === 0) return;
    this.#sweepAfter = now + SWEEP_EVERY_MS;
    this.#output.note({ code: 'results-removed', count });
  }
}
