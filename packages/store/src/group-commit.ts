/** Collects batches while a group is being written, and writes them as the next group. */
import { checkRecords } from '@proj/transport';
import type { RecordBatch } from '@proj/transport';

/** Most bytes written together, beyond the first batch. */
export const GROUP_BYTES = 16 * 2 ** 20;

/** A waiting batch. */
export interface PendingCommit {
  readonly batch: RecordBatch;
  /** Number of records it writes or removes. */
  readonly writes: number;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Writes batches in groups, in the order of the calls. */
export class GroupCommit {
  readonly #write: (group: readonly PendingCommit[]) => Promise<void>;
  #pending: PendingCommit[] = [];
  /** Running while something is pending. */
  #writing: Promise<void> | undefined;

  /** `write` settles every batch of a group and never rejects. */
  constructor(write: (group: readonly PendingCommit[]) => Promise<void>) {
    this.#write = write;
  }

  /** Resolves when the batch is written. Rejects as the write does, or with `OPTIONS_INVALID` for a key or value over the limits. */
  async commit(batch: RecordBatch): Promise<void> {
    checkRecords(batch);
    const { puts = [], removes = [] } = batch;
    const writes = puts.length + removes.length;
    if (writes === 0) return;
    const bytes = puts.reduce((sum, [key, { length }]) => sum + key.length + length, 0);
    await new Promise<void>((resolve, reject) => {
      this.#pending.push({ batch, writes, bytes, resolve, reject });
      // Deferred, so that batches of the same turn share a group.
      this.#writing ??= Promise.resolve().then(() => this.#run());
    });
  }

  /** Resolves when nothing is pending. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  async #run(): Promise<void> {
    while (this.#pending.length > 0) await this.#write(this.#takeGroup());
    this.#writing = undefined;
  }

  #takeGroup(): PendingCommit[] {
    let total = 0;
    const end = this.#pending.findIndex(({ bytes }, index) => {
      total += bytes;
      return index > 0 && total > GROUP_BYTES;
    });
    return this.#pending.splice(0, end < 0 ? this.#pending.length : end);
  }
}
