/** NFP client: jobs on record, so that the next process can go on with them. Rule 8 of docs/protocols/nfp.md. */
import { ProjError } from '@proj/transport';
import type { RecordStore } from '@proj/transport';
import type { Timer } from '@proj/heartbeat';
import { isRecord } from './engine/answers.js';
import type { NfpJobResult } from './results.js';

/** States of a job, as NORFAB's client names them. */
export type NfpJobState =
  'NEW' | 'SUBMITTING' | 'DISPATCHED' | 'STARTED' | 'WAITING_CLIENT_INPUT' | 'COMPLETED' | 'FAILED' | 'STALE';

/** A job on record. Times are milliseconds since 1970. */
export interface NfpJobRecord {
  readonly uuid: string;
  readonly service: string;
  readonly task: string;
  readonly args: readonly unknown[];
  readonly kwargs: Readonly<Record<string, unknown>>;
  /** As on the wire. */
  readonly target: string;
  readonly state: NfpJobState;
  /** Those that have it, as far as is known. */
  readonly workers: readonly string[];
  readonly results: readonly NfpJobResult[];
  /** Why it failed as a whole. */
  readonly errors: readonly string[];
  readonly postedAt: number;
  /** After that it is STALE. */
  readonly deadlineAt: number;
  readonly endedAt?: number | undefined;
}

const PREFIX = 'nfp/job/';
/** Ended jobs in the order of their ends: the time in 15 digits, a slash, the uuid. */
const ENDED = 'nfp/ended/';
const TIME_DIGITS = 15;
const NOTHING = new Uint8Array();
/** Jobs removed in one commit, and the time between two such commits. */
const BATCH = 500;
const SWEEP_EVERY_MS = 100;
/** After a store has failed to remove them. */
const SWEEP_RETRY_MS = 60_000;

/** Settings of a {@link JobBook}. */
export interface JobBookOptions {
  /** 0 keeps ended jobs for ever. */
  readonly jobTtlMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Calls back after so many milliseconds. */
  readonly after: (ms: number, callback: () => void) => Timer;
  /** The store did not keep something; the job goes on without. */
  readonly onError: (error: unknown) => void;
}

/** What is written of a job, again and again until it is all there is. */
interface Writing {
  latest: NfpJobRecord;
  done: Promise<void>;
}

/**
 * The jobs of one client on record. The changes of a job are written in the order they are told, and those that are told while one is being
 * written together: a job of ten thousand workers is not written ten thousand times.
 */
export class JobBook {
  readonly #store: RecordStore;
  readonly #options: JobBookOptions;
  /** Those that are open here, as they are on record. */
  readonly #open = new Map<string, NfpJobRecord>();
  /** Jobs of which something is being written. */
  readonly #writing = new Map<string, Writing>();
  #timer: Timer | undefined;
  #sweeping: Promise<void> | undefined;
  #closed = false;

  constructor(store: RecordStore, options: JobBookOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Opens the store, marks what is too late as STALE, begins to remove what has been over for too long; returns what can go on. Rejects as the store does. */
  async open(): Promise<NfpJobRecord[]> {
    await this.#store.open();
    const now = this.#options.now();
    const unfinished: NfpJobRecord[] = [];
    for await (const record of this.all()) {
      if (record.endedAt !== undefined) continue;
      if (record.deadlineAt > now) unfinished.push(record);
      else this.#write({ ...record, state: 'STALE', endedAt: now });
    }
    for (const record of unfinished) this.#open.set(record.uuid, record);
    await (this.#sweeping = this.#sweep());
    return unfinished;
  }

  /** All jobs on record, in the order of their uuids, as they are by now. */
  async *all(): AsyncIterableIterator<NfpJobRecord> {
    for await (const [, value] of this.#store.entries(PREFIX)) {
      const record = read(value);
      if (record === undefined) continue;
      const { uuid } = record;
      yield this.#open.get(uuid) ?? this.#writing.get(uuid)?.latest ?? record;
    }
  }

  /** One job on record. */
  async find(uuid: string): Promise<NfpJobRecord | undefined> {
    const known = this.#open.get(uuid) ?? this.#writing.get(uuid)?.latest;
    if (known !== undefined) return known;
    const value = await this.#store.get(PREFIX + uuid);
    return value === undefined ? undefined : read(value);
  }

  /** Takes a new job down; resolves when it is safe to post it. Rejects as the store does. */
  async begin(job: Omit<NfpJobRecord, 'state' | 'workers' | 'results' | 'errors' | 'endedAt'>): Promise<void> {
    const record: NfpJobRecord = { ...job, state: 'SUBMITTING', workers: [], results: [], errors: [] };
    this.#open.set(record.uuid, record);
    try {
      // The end of an earlier job of this uuid goes first.
      await this.#writing.get(record.uuid)?.done;
      await this.#store.commit({ puts: [[PREFIX + record.uuid, encode(record)]] });
    } catch (error) {
      this.#open.delete(record.uuid);
      throw error;
    }
  }

  /** Changes an open job. */
  change(uuid: string, change: (record: NfpJobRecord) => Partial<NfpJobRecord>): void {
    const record = this.#open.get(uuid);
    if (record === undefined) return;
    const next = { ...record, ...change(record) };
    this.#open.set(uuid, next);
    this.#write(next);
  }

  /** Ends an open job. */
  end(uuid: string, state: NfpJobState, errors: readonly string[] = []): void {
    this.change(uuid, () => ({ state, errors, endedAt: this.#options.now() }));
    this.#open.delete(uuid);
  }

  /** Waits for what is being written, then closes the store. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#sweeping;
    await Promise.all([...this.#writing.values()].map(({ done }) => done));
    await this.#store.close();
  }

  #write(record: NfpJobRecord): void {
    const { uuid } = record;
    const writing = this.#writing.get(uuid);
    if (writing !== undefined) {
      writing.latest = record;
      return;
    }
    const own: Writing = { latest: record, done: Promise.resolve() };
    this.#writing.set(uuid, own);
    own.done = this.#writeOut(own);
  }

  /** Writes what the job has become until that is all of it. Never rejects. */
  async #writeOut(writing: Writing): Promise<void> {
    for (let written: NfpJobRecord | undefined; written !== writing.latest;) {
      written = writing.latest;
      await this.#store.commit({ puts: putsOf(written) }).catch(this.#options.onError);
    }
    this.#writing.delete(writing.latest.uuid);
  }

  /** Removes what has been over for `jobTtlMs`, so many at a time, and comes back when more is. Never rejects. */
  async #sweep(): Promise<void> {
    const { jobTtlMs, now, after, onError } = this.#options;
    if (jobTtlMs === 0) return;
    const removes: string[] = [];
    let seen = 0;
    let nextMs = jobTtlMs;
    try {
      for await (const [key] of this.#store.entries(ENDED)) {
        const endedAt = Number(key.slice(ENDED.length, ENDED.length + TIME_DIGITS));
        nextMs = endedAt + jobTtlMs - now();
        if (nextMs > 0 || ++seen > BATCH) break;
        const uuid = key.slice(ENDED.length + TIME_DIGITS + 1);
        removes.push(key);
        // Its uuid may have been used again.
        if ((await this.find(uuid))?.endedAt === endedAt) removes.push(PREFIX + uuid);
      }
      if (removes.length > 0) await this.#store.commit({ removes });
    } catch (error) {
      if (!this.#closed) onError(error);
      nextMs = SWEEP_RETRY_MS;
    }
    if (this.#closed) return;
    this.#timer = after(Math.max(nextMs, SWEEP_EVERY_MS), () => {
      this.#sweeping = this.#sweep();
    });
  }
}

function putsOf(record: NfpJobRecord): [string, Uint8Array][] {
  const { uuid, endedAt } = record;
  const puts: [string, Uint8Array][] = [[PREFIX + uuid, encode(record)]];
  if (endedAt !== undefined) puts.push([`${ENDED}${String(endedAt).padStart(TIME_DIGITS, '0')}/${uuid}`, NOTHING]);
  return puts;
}

function encode(record: NfpJobRecord): Uint8Array {
  return Buffer.from(JSON.stringify({ version: 1, ...record }));
}

/** `undefined` for what another program has written there. */
function read(value: Uint8Array): NfpJobRecord | undefined {
  try {
    const record: unknown = JSON.parse(Buffer.from(value).toString());
    return isRecord(record) && record['version'] === 1 ? (record as unknown as NfpJobRecord) : undefined;
  } catch (cause) {
    throw new ProjError('CORRUPT', 'NfpClient store: a job on record is not JSON; remove its key', { cause });
  }
}
