/**
 * Records on a local disk, in LMDB: one table, with keys as given and values followed by a checksum. Records of a version without checksums stay
 * in their own table until they are rewritten.
 */
import { isRecordKey, ProjError } from '@proj/transport';
import type { RecordBatch, RecordStore } from '@proj/transport';
import { isEmpty, LmdbFolder, sealed, unsealed } from './folder/index.js';
import type { Inspect, LmdbNeed, Root, Table } from './folder/index.js';
import { GroupCommit } from './group-commit.js';
import type { PendingCommit } from './group-commit.js';

/** Options of {@link lmdbRecords}. */
export interface LmdbRecordsOptions {
  /** Its folder, created if missing. On a local disk, never on a network file system. */
  readonly folder: string;
}

type Folder = LmdbFolder<keyof typeof TABLES, undefined>;
type Tables = Folder['tables'];

/** An open store. */
interface OpenRecords {
  readonly folder: Folder;
  readonly commits: GroupCommit;
}

/** The file of a store. */
export const FILE = 'records.mdb';
/** Tables by their names in the file. `plain`: records without a checksum. */
export const TABLES = { sealed: 'sealed', plain: 'records' } as const;
const FORMAT_KEY = 'format';
const FORMAT = 'proj records 2';
const PLAIN_FORMAT = 'proj records 1';
/** Pages above the leaves of all tables, and the list of free pages. */
const TREE_PAGES = 64;
/** Limits of one read: records and bytes. */
const WINDOW_RECORDS = 256;
const WINDOW_BYTES = 2 ** 20;
const AFTER = Buffer.alloc(1);

/**
 * A {@link RecordStore} in a folder, for one process at a time. Loads `lmdb` when it is opened. Commits during a flush share the next one; on a
 * full disk each of them is tried alone.
 */
export function lmdbRecords({ folder }: LmdbRecordsOptions): RecordStore {
  return new LmdbRecords(folder);
}

class LmdbRecords implements RecordStore {
  readonly #where: string;
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #open: OpenRecords | undefined;

  constructor(where: string) {
    this.#where = where;
  }

  async open(): Promise<void> {
    await this.#closing;
    this.#opening ??= this.#enter();
    await this.#opening;
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    const { folder } = this.#opened();
    return Promise.resolve(
      isRecordKey(key) ? folder.read((tables) => this.#value(tables, Buffer.from(key))) : undefined,
    );
  }

  async *entries(prefix = ''): AsyncIterable<readonly [key: string, value: Uint8Array]> {
    const first = Buffer.from(prefix);
    if (prefix !== '' && !isRecordKey(prefix)) return;
    // In windows: a slow reader must not keep LMDB from reusing pages.
    for (let start: Buffer | undefined = first; start !== undefined;) {
      const from: Buffer = start;
      const window = this.#opened().folder.read((tables) => readWindow(tables, from, first));
      for (const { key, value, isSealed } of window)
        yield [key.toString(), isSealed ? this.#unsealed(key, value) : value];
      const last: Buffer | undefined = window.at(-1)?.key;
      start = last === undefined ? undefined : Buffer.concat([last, AFTER]);
      // Reads that are all in memory would starve other work.
      await Promise.resolve();
    }
  }

  async commit(batch: RecordBatch): Promise<void> {
    await this.#opened().commits.commit(batch);
  }

  close(): Promise<void> {
    this.#closing ??= this.#leave().finally(() => (this.#closing = undefined));
    return this.#closing;
  }

  async #enter(): Promise<void> {
    try {
      const folder = await LmdbFolder.open(recordsPlan(this.#where));
      this.#open = { folder, commits: new GroupCommit((group) => writeGroup(folder, group)) };
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  async #leave(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    const open = this.#open;
    this.#open = this.#opening = undefined;
    await open?.commits.idle();
    await open?.folder.close();
  }

  #value({ sealed: table, plain }: Tables, key: Buffer): Uint8Array | undefined {
    const value = table.getBinary(key);
    return value === undefined ? plain.getBinary(key) : this.#unsealed(key, value);
  }

  #unsealed(key: Buffer, value: Buffer): Uint8Array {
    const content = unsealed(key, value);
    if (content !== undefined) return content;
    const text = `record ${JSON.stringify(key.toString())} of the store in ${this.#where} does not match its checksum`;
    throw new ProjError('CORRUPT', `${text}: see 'proj queue check ${this.#where}'`);
  }

  #opened(): OpenRecords {
    if (this.#open !== undefined) return this.#open;
    throw new ProjError('CLOSED', `the records in ${this.#where} are not open: call open() first`);
  }
}

/** If a group fails, tries each of its batches alone. */
async function writeGroup(folder: Folder, group: readonly PendingCommit[]): Promise<void> {
  try {
    await folder.repair();
    await folder.makeRoom(needOf(group, folder.pageSize));
    await folder.flush(() => {
      for (const { batch } of group) perform(folder.tables, batch);
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

function perform({ sealed: table, plain }: Tables, { puts = [], removes = [] }: RecordBatch): void {
  for (const name of removes) {
    const key = Buffer.from(name);
    void table.remove(key);
    void plain.remove(key);
  }
  for (const [name, value] of puts) {
    const key = Buffer.from(name);
    void table.put(key, sealed(key, value));
    void plain.remove(key);
  }
}

/** Each record may need a page of the tree, plus its own bytes. */
function needOf(group: readonly PendingCommit[], pageSize: number): LmdbNeed {
  let [total, pieceBytes] = [TREE_PAGES * pageSize, 0];
  let grows = false;
  for (const { batch, writes, bytes } of group) {
    total += 2 * bytes + 2 * writes * pageSize;
    for (const [, { length }] of batch.puts ?? []) if (length > pageSize / 4) pieceBytes += length + pageSize;
    grows ||= (batch.puts?.length ?? 0) > 0;
  }
  return { bytes: total, pieceBytes, grows };
}

interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly isSealed: boolean;
}

/** The records of both tables in order, as far as both have been read. */
function readWindow({ sealed: table, plain }: Tables, start: Buffer, prefix: Buffer): readonly Entry[] {
  const windows = [readTable(table, start, prefix, true), readTable(plain, start, prefix, false)];
  const ends = windows.flatMap(({ entries, isCut }) => (isCut ? entries.slice(-1).map(({ key }) => key) : []));
  const [end] = ends.sort((one, other) => one.compare(other));
  return windows
    .flatMap(({ entries }) => entries)
    .filter(({ key }) => end === undefined || key.compare(end) <= 0)
    .sort((one, other) => one.key.compare(other.key));
}

function readTable(table: Table, start: Buffer, prefix: Buffer, isSealed: boolean) {
  const entries: Entry[] = [];
  let bytes = 0;
  for (const { key, value } of table.getRange({ start })) {
    if (!key.subarray(0, prefix.length).equals(prefix)) break;
    if (entries.length >= WINDOW_RECORDS || bytes >= WINDOW_BYTES) return { entries, isCut: true };
    entries.push({ key, value, isSealed });
    bytes += value.length;
  }
  return { entries, isCut: false };
}

/** How to open a folder of records. */
export function recordsPlan(folder: string) {
  return {
    folder,
    file: FILE,
    tables: TABLES,
    enter: (root: Root) => enterStore(root, folder),
    inspect: inspectRecords,
  };
}

/** Verifies the checksums of a store of this version. */
export function inspectRecords(): Inspect {
  let isOurs = false;
  return (table, key, value) => {
    if (table === '' && key.toString() === FORMAT_KEY) isOurs = isKnown(value.toString());
    return !isOurs || table !== TABLES.sealed || unsealed(key, value) !== undefined;
  };
}

function isKnown(format: string | undefined): boolean {
  return format === FORMAT || format === PLAIN_FORMAT;
}

/** Sets the format of this version, which older versions reject. */
function enterStore(root: Root, where: string): undefined {
  const format = root.getBinary(FORMAT_KEY)?.toString();
  if (!isKnown(format) && (format !== undefined || !isEmpty(root))) {
    const text = `${where} holds ${format ?? 'something else'} instead of ${FORMAT}: use the version that wrote it, or another folder`;
    throw new ProjError('CORRUPT', text);
  }
  if (format !== FORMAT) root.putSync(FORMAT_KEY, Buffer.from(FORMAT));
}
