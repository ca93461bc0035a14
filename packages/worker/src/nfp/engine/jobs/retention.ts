/** NFP worker: how long results are kept. Worker rules 8 and 13 of docs/protocols/nfp.md. */
import type { NfpIncomingCall, NfpOutput } from '../events.js';
import type { JobWrites } from '../records.js';
import type { NfpJob, NfpJobs } from '../state.js';

/** Finished jobs removed per commit, and the time between two such commits. */
const SWEEP_MAX = 1000;
const SWEEP_EVERY_MS = 100;

/** Removes finished jobs, by age and by number. */
export class Retention {
  readonly #max: number;
  readonly #jobs: NfpJobs;
  readonly #writes: JobWrites;
  readonly #out: NfpOutput;
  #sweepAfter = -Infinity;

  /** `max`: number of results kept. */
  constructor(max: number, jobs: NfpJobs, writes: JobWrites, out: NfpOutput) {
    this.#max = max;
    this.#jobs = jobs;
    this.#writes = writes;
    this.#out = out;
  }

  /** When the next result reaches its age, and the store accepts changes. */
  get deadline(): number {
    return Math.max(this.#jobs.deadline, this.#sweepAfter, this.#writes.stalledUntil);
  }

  /** Removes a finished job; `call` is answered when that is durable. */
  remove(job: NfpJob, call?: NfpIncomingCall): void {
    this.#jobs.release(job);
    this.#writes.remove(job, call);
  }

  /** Removes the oldest results when there are too many. */
  trim(): void {
    let count = 0;
    for (; this.#jobs.finished > this.#max; count++) this.remove(this.#jobs.oldest() as NfpJob);
    if (count > 0) this.#out.report({ code: 'results-removed', count });
  }

  /** Removes results that have reached their age, a limited number at a time. */
  sweep(): void {
    const { now } = this.#out;
    if (this.#sweepAfter > now || this.#writes.isStalled) return;
    let count = 0;
    for (; count < SWEEP_MAX; count++) {
      const job = this.#jobs.takeDue(now);
      if (job === undefined) break;
      this.remove(job);
    }
    if (count === 0) return;
    this.#sweepAfter = now + SWEEP_EVERY_MS;
    this.#out.report({ code: 'results-removed', count });
  }
}
