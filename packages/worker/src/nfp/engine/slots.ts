/** NFP worker: how many tasks may run, and which jobs do. */
import type { NfpJob } from './job.js';

/** A slot is taken from the decision to start a job to the end of its task; meanwhile its `run` is a number that is never used again. */
export class Slots {
  readonly #max: number;
  readonly #running = new Map<number, NfpJob>();
  #taken = 0;
  #run = 0;

  constructor(concurrency: number) {
    this.#max = concurrency;
  }

  get taken(): number {
    return this.#taken;
  }

  get isFree(): boolean {
    return this.#taken < this.#max;
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

  /** The task has ended; returns its job, which keeps the slot, or `undefined` when there is no such run. */
  end(run: number): NfpJob | undefined {
    const job = this.#running.get(run);
    this.#running.delete(run);
    return job;
  }

  assertInvariants(): void {
    if (this.#taken > this.#max) throw new Error('NfpWorkerSession: more jobs run than may');
    if (this.#running.size > this.#taken) throw new Error('NfpWorkerSession: a task runs without a slot');
  }
}
