/**
 * Where jobs and schedules live: named records, written in groups. Narrow on purpose, so that an engine can treat "it is on
 * the disk" as one event: the promise of {@link RecordStore.commit} is the flush.
 */

/** One group of changes: all of it or nothing. A key in both is put. */
export interface RecordBatch {
  /** Records to write, over those of the same keys. */
  readonly puts?: readonly (readonly [key: string, value: Uint8Array])[];
  /** Keys to remove; one the store does not hold is no error. */
  readonly removes?: readonly string[];
}

/**
 * Records by key, in the order of the keys' UTF-8 bytes. Keys are 1 to 511 bytes of UTF-8, values 0 bytes to 64 MiB. One object
 * has one owner; no two processes open the same store.
 */
export interface RecordStore {
  /**
   * Makes the records readable, as the last durable commit left them. Idempotent. Rejects with `UNAVAILABLE` (the database is not
   * installed, cannot be read, or another process has it open) or `CORRUPT`; the message names the place and what to do.
   */
  open(): Promise<void>;
  /** The value of one record. Never written to. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** All records whose key begins with the prefix, in order. What is committed while it runs may or may not be seen. */
  entries(prefix?: string): AsyncIterable<readonly [key: string, value: Uint8Array]>;
  /**
   * Resolves when the batch is durable. Calls may overlap: they take effect in the order of the calls and share flushes. Rejects
   * with `WRITE_FAILED` when nothing of the batch was kept (disk full), and with `OPTIONS_INVALID` for keys or values over the limits.
   */
  commit(batch: RecordBatch): Promise<void>;
  /** Waits for the commits under way, then closes. Idempotent. */
  close(): Promise<void>;
}
