/** EventMQ broker, rule 35: which guaranteed jobs are in the store, and what is on its way there. Books only, no protocol decisions. */
import type { EmqpStoreEffect } from './events.js';
import type { Job } from './job.js';
import { bodyKeyOf, keyOf, recordOf } from './records.js';

/** How long nothing is written after a failure, unless somebody waits for it. */
const RETRY_MS = 5000;

interface Write {
  readonly number: number;
  readonly jobs: readonly Job[];
  readonly changed: readonly Job[];
  readonly removed: readonly number[];
}

/** One write at a time: what comes meanwhile shares the next one, and its flush. */
export class Keeper {
  #next = 1;
  #writes = 0;
  #writing: Write | undefined;
  #jobs: Job[] = [];
  #changed = new Set<Job>();
  #removed: number[] = [];
  #retryAt = -Infinity;

  /** Jobs that are not in the store yet. */
  *arriving(): IterableIterator<Job> {
    yield* this.#writing?.jobs ?? [];
    yield* this.#jobs;
  }

  /** True while something is written or has yet to be. */
  get isBusy(): boolean {
    return this.#writing !== undefined || this.#hasMore;
  }

  /** When what failed is to be written again; `Infinity` when nothing is. */
  get deadline(): number {
    return this.#writing === undefined && this.#hasMore ? this.#retryAt : Infinity;
  }

  get #hasMore(): boolean {
    return this.#jobs.length + this.#changed.size + this.#removed.length > 0;
  }

  /** A new job: it counts when {@link stored} returns it. */
  add(job: Job): void {
    job.record = this.#next++;
    this.#jobs.push(job);
  }

  /** A job of an earlier life. */
  restore(job: Job, record: number): void {
    job.record = record;
    this.#next = Math.max(this.#next, record + 1);
  }

  /** What an earlier life has left under this number is not needed. */
  discard(record: number): void {
    this.#next = Math.max(this.#next, record + 1);
    this.#removed.push(record);
  }

  /** The job is in the store, and was given to one worker more than is written there. */
  change(job: Job): void {
    this.#changed.add(job);
  }

  /** The job, which is in the store, is over. */
  remove(job: Job): void {
    if (job.record === undefined) return;
    this.#changed.delete(job);
    this.#removed.push(job.record);
    job.record = undefined;
  }

  /** What is to be written now, if anything. */
  flush(now: number): EmqpStoreEffect | undefined {
    if (this.#writing !== undefined || !this.#hasMore) return undefined;
    const isRetry = now < this.#retryAt;
    if (isRetry && this.#jobs.length === 0) return undefined;
    // After a failure new jobs go alone: they tell whether there is room, and what is removed makes some.
    const [changed, removed] = isRetry ? [[], []] : [[...this.#changed], this.#removed];
    const write = (this.#writing = { number: ++this.#writes, jobs: this.#jobs, changed, removed });
    this.#jobs = [];
    if (!isRetry) [this.#changed, this.#removed] = [new Set(), []];
    const current = changed.filter(({ record }) => record !== undefined);
    const puts = [...write.jobs.flatMap((job) => recordOf(job)), ...current.map((job) => recordOf(job)[0])];
    return {
      kind: 'store',
      write: write.number,
      puts,
      removes: removed.flatMap((record) => [keyOf(record), bodyKeyOf(record)]),
    };
  }

  /** The write has ended. Returns the new jobs it held, which are in the store unless it failed. */
  stored(number: number, failed: boolean, now: number): readonly Job[] {
    const write = this.#writing;
    if (write?.number !== number) return [];
    this.#writing = undefined;
    if (!failed) return write.jobs;
    this.#retryAt = now + RETRY_MS;
    for (const job of write.changed) if (job.record !== undefined) this.#changed.add(job);
    this.#removed.push(...write.removed);
    for (const job of write.jobs) job.record = undefined;
    return write.jobs;
  }
}
