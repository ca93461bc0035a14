/** Records in PostgreSQL: one table, with keys in byte order. An advisory lock keeps other processes out. */
import { setTimeout } from 'node:timers/promises';
import { isRecordKey, ProjError } from '@proj/transport';
import type { RecordBatch, RecordStore } from '@proj/transport';
import { GROUP_BYTES, GroupCommit } from './group-commit.js';
import type { PendingCommit } from './group-commit.js';
import { FOR_GOOD, PostgresSession } from './postgres-session.js';
import type { Row } from './postgres-session.js';

/** Options of {@link postgresRecords}. */
export interface PostgresRecordsOptions {
  /**
   * `postgres://user:password@host:port/database`. The table `proj_records` is created in its default schema, so each store needs its own
   * database or schema. Do not use a pooler that shares sessions: the lock belongs to the session.
   */
  readonly url: string;
  /** Accept a database that may lose confirmed data (`fsync` or `synchronous_commit` off). Default false. */
  readonly allowUnsafeDurability?: boolean;
}

/** The key of the format record; no other record has an empty key. */
const FORMAT_KEY = '';
const FORMAT = 'proj records 1';
/** Limits of one read: records and bytes. */
const WINDOW_RECORDS = 256;
const WINDOW_BYTES = 2 ** 20;
/** Pauses between attempts to reach a database that is away. */
const PAUSES_MS = [50, 100, 200, 400, 800, 1500, 2000] as const;

const CREATE = `CREATE TABLE IF NOT EXISTS proj_records (key bytea PRIMARY KEY, value bytea NOT NULL)`;
const LOCK = `SELECT pg_try_advisory_lock('proj_records'::regclass::oid::bigint)::text AS locked`;
const HOLDER = `
  SELECT pid::text FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND objid = 'proj_records'::regclass::oid AND classid = 0 LIMIT 1`;
const GET = `SELECT value FROM proj_records WHERE key = $1`;
/** Sends all values as one piece, because arrays would be sent as text. */
const PUT = `
  INSERT INTO proj_records (key, value)
  SELECT decode(key, 'hex'), substring($1::bytea FROM place FOR length)
  FROM unnest($2::text[], $3::int[], $4::int[]) AS put (key, place, length)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value`;
const REMOVE = `DELETE FROM proj_records USING unnest($1::text[]) AS gone (name) WHERE key = decode(gone.name, 'hex')`;
const READ = `
  SELECT key, value FROM (
    SELECT key, value, row_number() OVER (ORDER BY key) AS number, sum(length(value)) OVER (ORDER BY key) AS total
    FROM (
      SELECT key, value FROM proj_records
      WHERE key > $1 AND substring(key FOR length($2::bytea)) = $2 ORDER BY key LIMIT ${WINDOW_RECORDS}) AS page
  ) AS numbered WHERE number = 1 OR total <= ${WINDOW_BYTES} ORDER BY key`;

/**
 * A {@link RecordStore} in a database, for one process at a time. Loads `pg`, which must be installed, when it is opened. Commits during a
 * transaction share the next one. A lost connection is restored and the transaction repeated; if that fails for about five seconds, `commit`
 * rejects with `WRITE_FAILED`, although the batch may have been stored.
 */
export function postgresRecords(options: PostgresRecordsOptions): RecordStore {
  return new PostgresRecords(options);
}

class PostgresRecords implements RecordStore {
  readonly #options: PostgresRecordsOptions;
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #isOpen = false;
  #session: PostgresSession | undefined;
  readonly #commits = new GroupCommit((group) => this.#writeGroup(group));
  /** One statement or transaction at a time. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: PostgresRecordsOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    await this.#closing;
    this.#opening ??= this.#enter();
    await this.#opening;
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    this.#assertOpen();
    if (!isRecordKey(key)) return undefined;
    const [row] = await this.#ask((session) => session.ask(GET, [Buffer.from(key)], 'get'));
    return row?.['value'] as Buffer | undefined;
  }

  async *entries(prefix = ''): AsyncIterable<readonly [key: string, value: Uint8Array]> {
    this.#assertOpen();
    if (prefix !== '' && !isRecordKey(prefix)) return;
    const first = Buffer.from(prefix);
    // After the format record, which has the empty key.
    for (let after: Buffer | undefined = Buffer.alloc(0); after !== undefined;) {
      const from: Buffer = after;
      this.#assertOpen();
      const rows: readonly Row[] = await this.#ask((session) => session.ask(READ, [from, first], 'read'));
      for (const row of rows) yield [(row['key'] as Buffer).toString(), row['value'] as Buffer];
      after = rows.at(-1)?.['key'] as Buffer | undefined;
    }
  }

  async commit(batch: RecordBatch): Promise<void> {
    this.#assertOpen();
    await this.#commits.commit(batch);
  }

  close(): Promise<void> {
    this.#closing ??= this.#leave().finally(() => (this.#closing = undefined));
    return this.#closing;
  }

  async #enter(): Promise<void> {
    try {
      this.#session = await patiently(() => this.#connect());
      this.#isOpen = true;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  async #leave(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    this.#isOpen = false;
    this.#opening = undefined;
    await this.#commits.idle();
    await this.#turn;
    await this.#session?.close();
    this.#session = undefined;
  }

  #assertOpen(): void {
    if (!this.#isOpen) throw new ProjError('CLOSED', 'the records in PostgreSQL are not open: call open() first');
  }

  /** A session that holds the lock. All reads and writes use it, so a process that lost the lock cannot write. */
  async #connect(): Promise<PostgresSession> {
    const session = await PostgresSession.open(this.#options.url);
    try {
      if (this.#options.allowUnsafeDurability !== true) await refuseUnsafe(session);
      await session.ask(CREATE);
      const [row] = await session.ask(LOCK);
      if (row?.['locked'] !== 'true') {
        const [holder] = await session.ask(HOLDER);
        const text = `the records in ${session.where} are already open: held by process ${String(holder?.['pid'])} of the server`;
        throw new ProjError('UNAVAILABLE', `${text}; close the other program`);
      }
      await checkFormat(session);
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** Runs jobs one at a time, over a new connection if there is none, and again if it is lost. */
  #ask<T>(work: (session: PostgresSession) => Promise<T>): Promise<T> {
    const result = this.#turn.then(() =>
      patiently(async () => {
        if (this.#session?.isLost !== false) {
          await this.#session?.close();
          this.#session = undefined;
          this.#session = await this.#connect();
        }
        return work(this.#session);
      }),
    );
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /** If a group is rejected, tries each of its batches alone. */
  async #writeGroup(group: readonly PendingCommit[]): Promise<void> {
    if (!(await this.#commitAll(group))) for (const one of group) await this.#commitAll([one]);
  }

  /** False if several batches were rejected; they are not settled then. */
  async #commitAll(group: readonly PendingCommit[]): Promise<boolean> {
    try {
      await this.#ask((session) => session.transaction(() => perform(session, group)));
      for (const { resolve } of group) resolve();
      return true;
    } catch (error) {
      const isTold = group.length === 1 || isAway(error);
      const text = (error as Error).message;
      if (isTold) for (const { reject } of group) reject(new ProjError('WRITE_FAILED', text, { cause: error }));
      return isTold;
    }
  }
}

/** Repeats while the database is away or another process holds the records, until {@link PAUSES_MS} are used up. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isAway(error)) throw error;
      await setTimeout(pauseMs);
    }
  }
  return work();
}

function isAway(error: unknown): boolean {
  return error instanceof ProjError && error.code === 'UNAVAILABLE' && error.details !== FOR_GOOD;
}

async function perform(session: PostgresSession, group: readonly PendingCommit[]): Promise<void> {
  // The last change of a key counts; within a batch, the put does.
  const last = new Map<string, Uint8Array | undefined>();
  for (const { batch } of group) {
    for (const key of batch.removes ?? []) last.set(key, undefined);
    for (const [key, value] of batch.puts ?? []) last.set(key, value);
  }
  const removes = [...last].flatMap(([key, value]) => (value === undefined ? [hex(key)] : []));
  if (removes.length > 0) await session.ask(REMOVE, [removes], 'remove');
  let puts: [key: string, value: Uint8Array][] = [];
  let bytes = 0;
  for (const [key, value] of last) {
    if (value === undefined) continue;
    if (puts.length > 0 && bytes + value.length > GROUP_BYTES) {
      await put(session, puts);
      [puts, bytes] = [[], 0];
    }
    puts.push([key, value]);
    bytes += value.length;
  }
  if (puts.length > 0) await put(session, puts);
}

async function put(session: PostgresSession, puts: readonly (readonly [string, Uint8Array])[]): Promise<void> {
  const places: number[] = [];
  // SQL counts from one.
  let at = 1;
  for (const [, { length }] of puts) {
    places.push(at);
    at += length;
  }
  const memory = Buffer.concat(puts.map(([, value]) => value));
  await session.ask(PUT, [memory, puts.map(([key]) => hex(key)), places, puts.map(([, { length }]) => length)], 'put');
}

function hex(key: string): string {
  return Buffer.from(key).toString('hex');
}

async function refuseUnsafe(session: PostgresSession): Promise<void> {
  for (const setting of ['fsync', 'synchronous_commit']) {
    const [row] = await session.ask(`SHOW ${setting}`);
    if (row?.[setting] !== 'off') continue;
    const text = `the database ${session.where} has ${setting} = off and may lose confirmed data`;
    throw new ProjError('UNAVAILABLE', `${text}: turn it on, or allow it with allowUnsafeDurability`, {
      details: FOR_GOOD,
    });
  }
}

/** Sets the format of this version. */
async function checkFormat(session: PostgresSession): Promise<void> {
  const [row] = await session.ask(GET, [Buffer.from(FORMAT_KEY)]);
  if (row === undefined) {
    await session.ask('INSERT INTO proj_records (key, value) VALUES ($1, $2)', [
      Buffer.from(FORMAT_KEY),
      Buffer.from(FORMAT),
    ]);
  } else if ((row['value'] as Buffer).toString() !== FORMAT) {
    const text = `the table proj_records in ${session.where} holds ${String(row['value']).slice(0, 60)} instead of ${FORMAT}`;
    throw new ProjError('CORRUPT', `${text}: use the version that wrote it, or another database`);
  }
}
