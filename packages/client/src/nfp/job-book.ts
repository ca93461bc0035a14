/** NFP client: jobs on record, so that the next process can go on with them. Rule 8 of docs/protocols/nfp.md. */
import { ProjError } from '@proj/transport';
import type { RecordStore } from '@proj/transport';
import { isRecord } from './answers.js';
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
/** Records removed in one commit. */
const BATCH = 500;

/** Settings of a {@link JobBook}. */
export interface JobBookOptions {
  /** 0 keeps ended jobs for ever. */
  readonly jobTtlMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The store did not keep something; the job goes on without. */
  readonly onError: (error: unknown) => void;
}

/** The jobs of one client on record. The changes of a job are written in the order they are told. */
export class JobBook {
  readonly #store: RecordStore;
  readonly #options: JobBookOptions;
  /** Those that are open here, as they are on record. */
  readonly #open = new Map<string, NfpJobRecord>();

  constructor(store: RecordStore, options: JobBookOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Opens the store, marks what is too late as STALE, removes what has been over for too long; returns what can go on. Rejects as the store does. */
  async open(): Promise<NfpJobRecord[]> {
    await this.#store.open();
    const { jobTtlMs } = this.#options;
    const now = this.#options.now();
    const unfinished: NfpJobRecord[] = [];
    let removes: string[] = [];
    for await (const record of this.all()) {
      if (record.endedAt === undefined && record.deadlineAt > now) unfinished.push(record);
      else if (record.endedAt === undefined) this.#write({ ...record, state: 'STALE', endedAt: now });
      else if (jobTtlMs > 0 && record.endedAt + jobTtlMs <= now) removes.push(PREFIX + record.uuid);
      if (removes.length < BATCH) continue;
      await this.#store.commit({ removes });
      removes = [];
    }
    if (removes.length > 0) await this.#store.commit({ removes });
    for (const record of unfinished) this.#open.set(record.uuid, record);
    return unfinished;
  }

  /** All jobs on record, in the order of their uuids. */
  async *all(): AsyncIterableIterator<NfpJobRecord> {
    for await (const [, value] of this.#store.entries(PREFIX)) {
      const record = read(value);
      if (record !== undefined) yield record;
    }
  }

  /** One job on record. */
  async find(uuid: string): Promise<NfpJobRecord | undefined> {
    const value = this.#open.get(uuid) ?? (await this.#store.get(PREFIX + uuid));
    return value instanceof Uint8Array ? read(value) : value;
  }

  /** Takes a new job down; resolves when it is safe to post it. Rejects as the store does. */
  async begin(job: Omit<NfpJobRecord, 'state' | 'workers' | 'results' | 'errors' | 'endedAt'>): Promise<void> {
    const record: NfpJobRecord = { ...job, state: 'SUBMITTING', workers: [], results: [], errors: [] };
    this.#open.set(record.uuid, record);
    try {
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
  close(): Promise<void> {
    return this.#store.close();
  }

  #write(record: NfpJobRecord): void {
    this.#store.commit({ puts: [[PREFIX + record.uuid, encode(record)]] }).catch(this.#options.onError);
  }
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
