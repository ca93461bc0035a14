/**
 * Named records, written in groups, for jobs and schedules. Deliberately narrow, so that an engine can treat "it is on disk" as one event: the
 * promise of {@link RecordStore.commit} is the flush.
 */
import { ProjError } from './errors.js';

const KEY_MAX_BYTES = 511;
const VALUE_MAX_BYTES = 64 * 2 ** 20;

/** One atomic group of changes. A key in both is put. */
export interface RecordBatch {
  /** Records to write, replacing those with the same keys. Do not change the bytes afterwards. */
  readonly puts?: readonly (readonly [key: string, value: Uint8Array])[];
  /** Keys to remove; unknown keys are ignored. */
  readonly removes?: readonly string[];
}

/**
 * Records by key, in the order of the keys' UTF-8 bytes. Keys have 1 to 511 bytes of UTF-8, values 0 bytes to 64 MiB. One object has one owner;
 * no two processes open the same store. While it is not open, everything except `open` and `close` rejects with `CLOSED`.
 */
export interface RecordStore {
  /**
   * Makes the records readable, as of the last durable commit. Idempotent. Rejects with `OPTIONS_INVALID` (its place cannot be created, read or
   * written), `UNAVAILABLE` (the database is not installed, or another process has it open) or `CORRUPT`; the message names the place and what
   * to do.
   */
  open(): Promise<void>;
  /** The value of one record. Do not modify it. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** All records whose key begins with the prefix, in order. Commits during the iteration may or may not be visible. */
  entries(prefix?: string): AsyncIterable<readonly [key: string, value: Uint8Array]>;
  /**
   * Resolves when the batch is durable. Calls may overlap: they take effect in the order of the calls and share flushes. Rejects with
   * `WRITE_FAILED` if nothing of the batch was stored (disk full), and with `OPTIONS_INVALID` for keys or values over the limits.
   */
  commit(batch: RecordBatch): Promise<void>;
  /** Waits for the commits under way, then closes. Idempotent. */
  close(): Promise<void>;
}

/** True for a valid record key: well-formed text of 1 to 511 bytes of UTF-8. */
export function isRecordKey(key: string): boolean {
  if (key.length === 0 || key.length > KEY_MAX_BYTES) return false;
  return Buffer.byteLength(key) <= KEY_MAX_BYTES && !/\p{Surrogate}/u.test(key);
}

/** For stores: throws `OPTIONS_INVALID` for an invalid batch. */
export function checkRecords({ puts = [], removes = [] }: RecordBatch): void {
  for (const key of [...puts.map(([name]) => name), ...removes])
    if (!isRecordKey(key))
      throw new ProjError(
        'OPTIONS_INVALID',
        `record key ${shorten(key)}: must have 1 to ${KEY_MAX_BYTES} bytes of UTF-8`,
      );
  for (const [key, { length }] of puts)
    if (length > VALUE_MAX_BYTES)
      throw new ProjError(
        'OPTIONS_INVALID',
        `record ${shorten(key)} has ${length} bytes; the limit is ${VALUE_MAX_BYTES}`,
      );
}

function shorten(key: string): string {
  return JSON.stringify(key.length > 60 ? `${key.slice(0, 60)}...` : key);
}
