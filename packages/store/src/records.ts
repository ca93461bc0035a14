/** Records on one disk, in LMDB: one table, keys as they are. */
import { checkRecords, isRecordKey, ProjError } from '@proj/transport';
import type { RecordBatch, RecordStore } from '@proj/transport';
import { isEmpty, LmdbFolder } from './folder/index.js';
import type { LmdbNeed, Root, Table } from './folder/index.js';

/** How {@link lmdbRecords} is made. */
export interface LmdbRecordsOptions {
  /** Its folder, made where there is none. On a disk of this machine, never on a network file system. */
  readonly folder: string;
}

type Folder = LmdbFolder<'records', undefined>;

interface Pending {
  readonly batch: RecordBatch;
  /** How many records it writes or removes. */
  readonly writes: number;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const FILE = 'records.mdb';
const FORMAT_KEY = 'format';
const FORMAT = 'proj records 1';
/** Pages above the leaves, of all tables, and the list of free ones. */
const TREE_PAGES = 64;
/** What is written together at most, beyond the first batch. */
const GROUP_BYTES = 16 * 2 ** 20;
/** What is read at a time. */
const WINDOW_RECORDS = 256;
const WINDOW_BYTES = 2 ** 20;
const AFTER = Buffer.alloc(1);

/**
 * A {@link RecordStore} in a folder, for one process at a time. Loads `lmdb` when it is opened. Commits that come while one is
 * flushed share the next flush; where the disk is full, each of them is tried by itself.
 */
export function lmdbRecords({ folder }: LmdbRecordsOptions): RecordStore {
  return new LmdbRecords(folder);
}

class LmdbRecords implements RecordStore {
  readonly #where: string;
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #folder: Folder | undefined;
  #pending: Pending[] = [];
  /** Runs while something is pending. */
  #writing: Promise<void> | undefined;

  constructor(where: string) {
    this.#where = where;
  }

  async open(): Promise<void> {
    await this.#closing;
    this.#opening ??= this.#enter();
    await this.#opening;
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    const { tables } = this.#opened();
    return Promise.resolve(isRecordKey(key) ? tables.records.getBinary(Buffer.from(key)) : undefined);
  }

  async *entries(prefix = ''): AsyncIterable<readonly [key: string, value: Uint8Array]> {
    const first = Buffer.from(prefix);
    if (prefix !== '' && !isRecordKey(prefix)) return;
    // Window by window: a reader that takes its time must not keep LMDB from reusing pages.
    for (let start: Buffer | undefined = first; start !== undefined;) {
      const window = readWindow(this.#opened().tables.records, start, first);
      for (const [key, value] of window) yield [key.toString(), value];
      const last: Buffer | undefined = window.at(-1)?.[0];
      start = last === undefined ? undefined : Buffer.concat([last, AFTER]);
      // What is only read from memory would not let anything else happen.
      await Promise.resolve();
    }
  }

  async commit(batch: RecordBatch): Promise<void> {
    const folder = this.#opened();
    checkRecords(batch);
    const { puts = [], removes = [] } = batch;
    const writes = puts.length + removes.length;
    if (writes === 0) return;
    const bytes = puts.reduce((sum, [key, { length }]) => sum + key.length + length, 0);
    await new Promise<void>((resolve, reject) => {
      this.#pending.push({ batch, writes, bytes, resolve, reject });
      // Not at once: what is committed in the same turn shares the flush.
      this.#writing ??= Promise.resolve().then(() => this.#write(folder));
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#leave().finally(() => (this.#closing = undefined));
    return this.#closing;
  }

  async #enter(): Promise<void> {
    const folder = this.#where;
    const enter = (root: Root): undefined => enterStore(root, folder);
    try {
      this.#folder = await LmdbFolder.open({ folder, file: FILE, tables: { records: 'records' }, enter });
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  async #leave(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    const folder = this.#folder;
    this.#folder = this.#opening = undefined;
    await this.#writing;
    await folder?.close();
  }

  #opened(): Folder {
    if (this.#folder !== undefined) return this.#folder;
    throw new ProjError('CLOSED', `the records in ${this.#where} are not open: call open() first`);
  }

  async #write(folder: Folder): Promise<void> {
    while (this.#pending.length > 0) await writeGroup(folder, this.#takeGroup());
    this.#writing = undefined;
  }

  #takeGroup(): Pending[] {
    let total = 0;
    const end = this.#pending.findIndex(({ bytes }, index) => {
      total += bytes;
      return index > 0 && total > GROUP_BYTES;
    });
    return this.#pending.splice(0, end < 0 ? this.#pending.length : end);
  }
}

/** Settles each of them. */
async function writeGroup(folder: Folder, group: readonly Pending[]): Promise<void> {
  try {
    await folder.repair();
    await folder.makeRoom(needOf(group, folder.pageSize));
    await folder.flush(() => {
      for (const { batch } of group) perform(folder.tables.records, batch);
    });
  } catch (error) {
    const [first, ...others] = group;
    if (first === undefined) return;
    if (others.length === 0) first.reject(error);
    else for (const one of group) await writeGroup(folder, [one]);
    return;
  }
  for (const { resolve } of group) resolve();
}

function perform(table: Table, { puts = [], removes = [] }: RecordBatch): void {
  for (const key of removes) void table.remove(Buffer.from(key));
  for (const [key, value] of puts) void table.put(Buffer.from(key), bufferOf(value));
}

/** Each record may cost a page of the tree, and its own bytes. */
function needOf(group: readonly Pending[], pageSize: number): LmdbNeed {
  let [total, pieceBytes] = [TREE_PAGES * pageSize, 0];
  let grows = false;
  for (const { batch, writes, bytes } of group) {
    total += 2 * bytes + writes * pageSize;
    for (const [, { length }] of batch.puts ?? []) if (length > pageSize / 4) pieceBytes += length + pageSize;
    grows ||= (batch.puts?.length ?? 0) > 0;
  }
  return { bytes: total, pieceBytes, grows };
}

function readWindow(table: Table, start: Buffer, prefix: Buffer): (readonly [Buffer, Buffer])[] {
  const window: (readonly [Buffer, Buffer])[] = [];
  let bytes = 0;
  for (const { key, value } of table.getRange({ start })) {
    if (!key.subarray(0, prefix.length).equals(prefix)) break;
    window.push([key, value]);
    bytes += value.length;
    if (window.length >= WINDOW_RECORDS || bytes >= WINDOW_BYTES) break;
  }
  return window;
}

function bufferOf(value: Uint8Array): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

function enterStore(root: Root, where: string): undefined {
  const format = root.getBinary(FORMAT_KEY)?.toString();
  if (format === FORMAT) return;
  if (format !== undefined || !isEmpty(root)) {
    const text = `${where} holds ${format ?? 'something else'} and not ${FORMAT}: use the version that wrote it, or another folder`;
    throw new ProjError('CORRUPT', text);
  }
  root.putSync(FORMAT_KEY, Buffer.from(FORMAT));
}
