/** NFP client: jobs in a store, so that the next process can continue them. Rule 8 of docs/protocols/nfp.md. */
import { ProjError } from '@proj/transport';
import type { RecordStore } from '@proj/transport';
import type { Timer } from '@proj/heartbeat';
import { isRecord } from './engine/answers.js';
import type { NfpJobResult } from './results.js';

/** States of a job, as NORFAB's client names them. */
export type NfpJobState =
  | 'NEW'
  | 'SUBMITTING'
  | 'DISPATCHED'
  | 'STARTED'
  | 'WAITING_CLIENT_INPUT'
  | 'COMPLETED'
  | 'FAILED'
  | 'STALE';

/** A job in the store. Times are milliseconds since 1970. */
export interface NfpJobRecord {
  readonly uuid: string;
  readonly service: string;
  readonly task: string;
  readonly args: readonly unknown[];
  readonly kwargs: Readonly<Record<string, unknown>>;
  /** As on the wire. */
  readonly target: string;
  readonly state: NfpJobState;
  /** The workers known to have it. */
  readonly workers: readonly string[];
  readonly results: readonly NfpJobResult[];
  /** Why it failed as a whole. */
  readonly errors: readonly string[];
  readonly postedAt: number;
  /** It becomes STALE at this time. */
  readonly deadlineAt: number;
  readonly endedAt?: number | undefined;
}

/** Version of the records. */
const VERSION = 1;
const PREFIX = 'nfp/job/';
/** Ended jobs by end time: the time in 15 digits, a slash, the uuid. */
const ENDED = 'nfp/ended/';
const TIME_DIGITS = 15;
const NOTHING = new Uint8Array();
/** Limit of jobs removed per commit, and minimum time between two such commits. */
const BATCH = 500;
const SWEEP_EVERY_MS = 100;
/** Wait before the next attempt after the store failed to remove them. */
const SWEEP_RETRY_MS = 60_000;

/** Settings of a {@link JobBook}. */
export interface JobBookOptions {
  /** 0 keeps ended jobs forever. */
  readonly jobTtlMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Calls back after this many milliseconds. */
  readonly after: (ms: number, callback: () => void) => Timer;
  /** The store failed to save a change; the job continues without it. */
  readonly onError: (error: unknown) => void;
}

/** A job that is being written, repeatedly until nothing has changed meanwhile. */
interface Writing {
  latest: NfpJobRecord;
  done: Promise<void>;
}

/**
 * One client's jobs in the store. The changes of a job are written in order, and changes during a write are combined: a job of ten thousand
 * workers is not written ten thousand times.
 */
export class JobBook {
  readonly #store: RecordStore;
  readonly #options: JobBookOptions;
  /** Open jobs, as they should be stored. */
  readonly #open = new Map<string, NfpJobRecord>();
  /** Jobs that are being written. */
  readonly #writing = new Map<string, Writing>();
  #timer: Timer | undefined;
  #sweeping: Promise<void> | undefined;
  #closed = false;

  constructor(store: RecordStore, options: JobBookOptions) {
    this.#store = store;
    this.#options = options;
  }

  /**
   * Opens the store, marks overdue jobs as STALE, begins to remove those that ended too long ago; returns those to continue. Rejects as the
   * store does.
   */
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

  /** All stored jobs, ordered by uuid, in their latest state. */
  async *all(): AsyncIterableIterator<NfpJobRecord> {
    for await (const [key, value] of this.#store.entries(PREFIX)) {
      const record = read(key, value);
      if (record === undefined) continue;
      const { uuid } = record;
      yield this.#open.get(uuid) ?? this.#writing.get(uuid)?.latest ?? record;
    }
  }

  /** One job of the store. */
  async find(uuid: string): Promise<NfpJobRecord | undefined> {
    const known = this.#open.get(uuid) ?? this.#writing.get(uuid)?.latest;
    if (known !== undefined) return known;
    const value = await this.#store.get(PREFIX + uuid);
    return value === undefined ? undefined : read(PREFIX + uuid, value);
  }

  /** Stores a new job; resolves when it is safe to post it. Rejects as the store does. */
  async begin(job: Omit<NfpJobRecord, 'state' | 'workers' | 'results' | 'errors' | 'endedAt'>): Promise<void> {
    const record: NfpJobRecord = { ...job, state: 'SUBMITTING', workers: [], results: [], errors: [] };
    this.#open.set(record.uuid, record);
    try {
      // The end of an earlier job with this uuid is written first.
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

  end(uuid: string, state: NfpJobState, errors: readonly string[] = []): void {
    this.change(uuid, () => ({ state, errors, endedAt: this.#options.now() }));
    this.#open.delete(uuid);
  }

  /** Finishes writing, then closes the store. */
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

  /** Writes the job until nothing has changed meanwhile. Never rejects. */
  async #writeOut(writing: Writing): Promise<void> {
    for (let written: NfpJobRecord | undefined; written !== writing.latest;) {
      written = writing.latest;
      await this.#store.commit({ puts: putsOf(written) }).catch(this.#options.onError);
    }
    this.#writing.delete(writing.latest.uuid);
  }

  /** Removes jobs that ended `jobTtlMs` ago, in batches, and reschedules itself when more are due. Never rejects. */
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
        // The uuid may have been reused.
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
  return Buffer.from(JSON.stringify({ version: VERSION, ...record }));
}

/** `undefined` for a record of another program. Throws `CORRUPT` for a later version: skipping it would lose the job. */
function read(key: string, value: Uint8Array): NfpJobRecord | undefined {
  const record = parse(key, value);
  if (!isRecord(record) || typeof record['version'] !== 'number') return undefined;
  if (record['version'] === VERSION) return record as unknown as NfpJobRecord;
  const text = `NfpClient store: job ${key} has version ${record['version']}, this version reads ${VERSION}`;
  throw new ProjError('CORRUPT', `${text}: use the version that wrote it`);
}

function parse(key: string, value: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(value).toString());
  } catch (cause) {
    throw new ProjError('CORRUPT', `NfpClient store: job ${key} is not JSON; remove its key`, { cause });
  }
}
