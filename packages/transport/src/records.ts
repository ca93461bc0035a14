/**
 * Where jobs and schedules live: named records, written in groups. Narrow on purpose, so that an engine can treat "it is on
 * the disk" as one event: the promise of {@link RecordStore.commit} is the flush.
 */
import { ProjError } from './errors.js';

const KEY_MAX_BYTES = 511;
const VALUE_MAX_BYTES = 64 * 2 ** 20;

/** One group of changes: all of it or nothing. A key in both is put. */
export interface RecordBatch {
  /** Records to write, over those of the same keys. The bytes must not be changed any more. */
  readonly puts?: readonly (readonly [key: string, value: Uint8Array])[];
  /** Keys to remove; one the store does not hold is no error. */
  readonly removes?: readonly string[];
}

/**
 * Records by key, in the order of the keys' UTF-8 bytes. Keys are 1 to 511 bytes of UTF-8, values 0 bytes to 64 MiB. One object
 * has one owner; no two processes open the same store. While it is not open, everything but `open` and `close` rejects with `CLOSED`.
 */
export interface RecordStore {
  /**
   * Makes the records readable, as the last durable commit left them. Idempotent. Rejects with `OPTIONS_INVALID` (its
   * place cannot be made, read or written to), `UNAVAILABLE` (the database is not installed, or another process has it open) or
   * `CORRUPT`; the message names the place and what to do.
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

/** True for a key that a record can have: well-formed text of 1 to 511 bytes of UTF-8. */
export function isRecordKey(key: string): boolean {
  if (key.length === 0 || key.length > KEY_MAX_BYTES) return false;
  return Buffer.byteLength(key) <= KEY_MAX_BYTES && !/\p{Surrogate}/u.test(key);
}

/** For stores: throws `OPTIONS_INVALID` for a batch that no store would take. */
export function checkRecords({ puts = [], removes = [] }: RecordBatch): void {
  for (const key of [...puts.map(([name]) => name), ...removes])
    if (!isRecordKey(key))
      throw new ProjError(
        'OPTIONS_INVALID',
        `record key ${shorten(key)}: give it 1 to ${KEY_MAX_BYTES} bytes of UTF-8`,
      );
  for (const [key, { length }] of puts)
    if (length > VALUE_MAX_BYTES)
      throw new ProjError('OPTIONS_INVALID', `record ${shorten(key)} has ${length} bytes: at most ${VALUE_MAX_BYTES}`);
}

function shorten(key: string): string {
  return JSON.stringify(key.length > 60 ? `${key.slice(0, 60)}...` : key);
}
