/** EventMQ broker, rule 35: which guaranteed jobs are in the store, and which are being stored. No protocol decisions. */
import type { EmqpStoreEffect } from '../events.js';
import type { Job } from '../jobs/job.js';
import { bodyKeyOf, keyOf, recordOf } from './records.js';

/** Pause after a failed write, unless a new job waits to be written. */
const RETRY_MS = 5000;

interface Write {
  readonly number: number;
  readonly jobs: readonly Job[];
  readonly changed: readonly Job[];
  readonly removed: readonly number[];
}

/** One write at a time: changes during a write share the next one, and its flush. */
export class Keeper {
  #next = 1;
  #writes = 0;
  #writing: Write | undefined;
  #jobs: Job[] = [];
  #changed = new Set<Job>();
  #removed: number[] = [];
  #retryAt = -Infinity;

  /** Jobs being stored. */
  *arriving(): IterableIterator<Job> {
    yield* this.#writing?.jobs ?? [];
    yield* this.#jobs;
  }

  /** Whether a write is pending or due. */
  get isBusy(): boolean {
    return this.#writing !== undefined || this.#hasMore;
  }

  /** When to retry a failed write; `Infinity` if none failed. */
  get deadline(): number {
    return this.#writing === undefined && this.#hasMore ? this.#retryAt : Infinity;
  }

  get #hasMore(): boolean {
    return this.#jobs.length + this.#changed.size + this.#removed.length > 0;
  }

  /** A new job; it is stored once {@link stored} returns it. */
  add(job: Job): void {
    job.record = this.#next++;
    this.#jobs.push(job);
  }

  /** A job that was found in the store. */
  restore(job: Job, record: number): void {
    job.record = record;
    this.#next = Math.max(this.#next, record + 1);
  }

  /** The record with this number must be removed. */
  discard(record: number): void {
    this.#next = Math.max(this.#next, record + 1);
    this.#removed.push(record);
  }

  /** The record of this stored job is out of date. */
  change(job: Job): void {
    this.#changed.add(job);
  }

  /** The job has ended: its record, if any, must be removed. */
  remove(job: Job): void {
    if (job.record === undefined) return;
    this.#changed.delete(job);
    this.#removed.push(job.record);
    job.record = undefined;
  }

  /** The next write, if one is due. */
  flush(now: number): EmqpStoreEffect | undefined {
    if (this.#writing !== undefined || !this.#hasMore) return undefined;
    const isRetry = now < this.#retryAt;
    if (isRetry && this.#jobs.length === 0) return undefined;
    // After a failure, new jobs go alone: they show whether there is room again.
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

  /** The write has ended. Returns the new jobs in it, which are stored unless it failed. */
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
