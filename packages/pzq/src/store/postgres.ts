/** The queue in PostgreSQL, for several servers at once: rules 29 and 30 of docs/protocols/pzq.md. */
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { ProjError } from '@proj/transport';
import { bytesOfBody, packBody, packedSize, unpackBody } from './body.js';
import { drawEpoch } from './epoch.js';
import { codeOf, Database } from './postgres/database.js';
import type { Asks, Row } from './postgres/database.js';
import { FORMAT, SCHEMA, SLOTS, TUNING } from './postgres/schema.js';
import * as SQL from './postgres/statements.js';
import type {
  Batch,
  Committed,
  DeadMessage,
  DeathReason,
  DueMessages,
  NewMessage,
  OpenedStore,
  QueueStore,
  Removal,
  SharedLeases,
  StoreCounts,
  StoredMessage,
} from './store.js';

/** Options of {@link PostgresStore}. */
export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`. Tables `pzq_...` are created in its default schema. */
  readonly url: string;
  /** Accept a database that may lose confirmed data (`fsync` or `synchronous_commit` off). Default false. */
  readonly allowUnsafeDurability?: boolean;
}

interface OpenState {
  readonly database: Database;
  /** This server's row of counters. */
  readonly slot: number;
  commits: number;
  storeBytes: number;
}

/** What a commit adds to the counters. */
interface Tally {
  messages: number;
  bytes: number;
  dead: number;
}

/** Servers that create the tables at the same time collide; after this many tries the cause is something else. */
const SCHEMA_TRIES = 10;
/** Commits between queries of the size on disk, which are slow. */
const COMMITS_PER_SIZE = 256;

/** A {@link QueueStore} in a database that several servers share. Loads `pg`, which must be installed, when it is opened. */
export class PostgresStore implements QueueStore {
  readonly name = 'postgres';
  readonly durable = true;
  readonly leases: SharedLeases = {
    take: async (limit, maxBytes, leaseMs) =>
      inOrder(await this.#ask('take', SQL.TAKE, [limit, maxBytes, micros(leaseMs)])),
    release: async (seqs, delayMs) => {
      await this.#ask('release', SQL.RELEASE, [seqs, micros(delayMs)]);
    },
    extend: async (seqs, leaseMs) => {
      await this.#ask('extend', SQL.EXTEND, [seqs, micros(leaseMs)]);
    },
  };
  readonly #options: PostgresStoreOptions;
  #state: OpenState | undefined;

  constructor(options: PostgresStoreOptions) {
    this.#options = options;
  }

  async open(): Promise<OpenedStore> {
    const database = await Database.load(this.#options.url);
    try {
      if (this.#options.allowUnsafeDurability !== true) await refuseUnsafe(database);
      const epoch = await prepare(database);
      const [last] = await database.ask('SELECT last_value, is_called::text AS called FROM pzq_seq');
      const state = { database, slot: randomInt(SLOTS), commits: 0, storeBytes: await sizeOf(database) };
      const counts = await countsOf(state, database);
      this.#state = state;
      return { epoch, lastSeq: last?.['called'] === 'true' ? (last['last_value'] as number) : 0, counts };
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  async commit(batch: Batch): Promise<Committed> {
    const state = this.#opened();
    if (++state.commits % COMMITS_PER_SIZE === 0) state.storeBytes = await sizeOf(state.database);
    return state.database.transaction(async (asks) => {
      const tally = { messages: 0, bytes: 0, dead: 0 };
      const seqs = await put(asks, batch.puts, tally);
      const removed = await remove(asks, batch.removes, tally);
      if (batch.deliveries.length > 0)
        await asks.ask(SQL.COUNT, columns(batch.deliveries, ['seq', 'deliveries']), 'count');
      await bury(asks, batch, tally);
      await revive(asks, batch, tally);
      await asks.ask(SQL.TALLY, [state.slot, tally.messages, tally.bytes, tally.dead], 'tally');
      return { seqs, removed, counts: await countsOf(state, asks) };
    });
  }

  async scan(after: number, limit: number, maxBytes: number): Promise<readonly StoredMessage[]> {
    return inOrder(await this.#ask('scan', SQL.SCAN, [after, limit, maxBytes]));
  }

  due(): Promise<DueMessages> {
    return new Promise((resolve) => {
      this.#opened();
      resolve({ ready: [], expired: [] });
    });
  }

  async dead(after: number, limit: number, maxBytes: number): Promise<readonly DeadMessage[]> {
    const rows = await this.#ask('dead', SQL.DEAD, [after, limit, maxBytes]);
    return rows.map((row) => ({
      ...toMessage(row),
      reason: row['reason'] as DeathReason,
      diedMicros: row['died_micros'] as number,
    }));
  }

  async probe(): Promise<void> {
    await this.#ask('tally', SQL.TALLY, [this.#opened().slot, 0, 0, 0]);
  }

  async close(): Promise<void> {
    const state = this.#state;
    this.#state = undefined;
    await state?.database.close();
  }

  #opened(): OpenState {
    if (this.#state !== undefined) return this.#state;
    throw new ProjError('CLOSED', 'the store in PostgreSQL is not open: call open() first');
  }

  async #ask(name: string, text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#opened().database.ask(text, values, name);
  }
}

async function countsOf({ storeBytes }: OpenState, asks: Asks): Promise<StoreCounts> {
  const [sums] = await asks.ask(SQL.SUMS, [], 'sums');
  const of = (name: string): number => Number(sums?.[name] ?? 0);
  const [messages, bytes, dead] = [of('messages'), of('bytes'), of('dead')];
  return { messages, bytes, delayed: 0, dead, storeBytes, nextDueMicros: Infinity };
}

/** 0 if the database does not report it. */
async function sizeOf(database: Database): Promise<number> {
  const rows = await database.ask(SQL.SIZE).catch(() => []);
  return Number(rows[0]?.['bytes'] ?? 0);
}

async function refuseUnsafe(database: Database): Promise<void> {
  for (const setting of ['fsync', 'synchronous_commit']) {
    const [row] = await database.ask(`SHOW ${setting}`);
    if (row?.[setting] !== 'off') continue;
    const text = `the database has ${setting} = off and may lose confirmed data: turn it on, or allow it`;
    throw new ProjError('UNAVAILABLE', `${text} with allowUnsafeDurability`);
  }
}

/** Creates or checks the tables; returns the epoch. */
async function prepare(database: Database): Promise<bigint> {
  for (let tries = 1; ; tries++) {
    try {
      const known = await metaOf(database);
      if (known !== undefined) return known;
      for (const statement of SCHEMA) await database.ask(statement);
      for (const statement of TUNING) await database.ask(statement).catch(() => undefined);
      const epoch = drawEpoch(randomBytes(8)).toString();
      await database.ask('INSERT INTO pzq_meta VALUES (true, $1, $2) ON CONFLICT DO NOTHING', [FORMAT, epoch]);
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'WRITE_FAILED' || tries >= SCHEMA_TRIES) throw error;
    }
  }
}

/** The epoch of a complete store; `undefined` if there is none yet. */
async function metaOf(database: Database): Promise<bigint | undefined> {
  const [table] = await database.ask(`SELECT to_regclass('pzq_meta')::text AS name`);
  if (typeof table?.['name'] !== 'string') return undefined;
  const rows = await database.ask('SELECT format, epoch FROM pzq_meta').catch((error: unknown) => {
    if (codeOf((error as Error).cause) !== '42703') throw error;
    throw new ProjError('CORRUPT', 'the table pzq_meta is not a message store: give the queue its own database');
  });
  const [meta] = rows;
  if (meta === undefined) return undefined;
  if (meta['format'] !== FORMAT) {
    const text = `the store in PostgreSQL has format ${String(meta['format'])}, this version reads ${FORMAT}`;
    throw new ProjError('CORRUPT', `${text}: use the version that wrote it`);
  }
  return BigInt(meta['epoch'] as string);
}

async function put(asks: Asks, puts: readonly NewMessage[], tally: Tally): Promise<readonly number[]> {
  if (puts.length === 0) return [];
  const isNew = await remember(asks, puts);
  const fresh = puts.filter((_, index) => isNew[index]);
  if (fresh.length === 0) return puts.map(() => 0);
  const sizes = fresh.map(({ body }) => packedSize(body));
  const memory = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + size, 0));
  const places: number[] = [];
  let at = 0;
  for (const { body } of fresh) {
    // SQL counts from one.
    places.push(at + 1);
    at = packBody(memory, at, body);
  }
  const bytes = fresh.map(({ body }) => bytesOfBody(body));
  const values = [
    memory,
    fresh.map(({ storedMicros }) => storedMicros),
    fresh.map(({ readyMicros }) => readyMicros),
    fresh.map(({ expiresMicros }) => expiresMicros),
    bytes,
    places,
    sizes,
  ];
  const rows = await asks.ask(SQL.PUT, values, 'put');
  const seqs = rows.map((row) => row['seq'] as number).sort((a, b) => a - b);
  tally.messages += fresh.length;
  tally.bytes += bytes.reduce((sum, size) => sum + size, 0);
  let next = 0;
  return puts.map((_, index) => (isNew[index] === true ? (seqs[next++] ?? 0) : 0));
}

/** For each message, whether to store it: it has no id to check, or a new one. */
async function remember(asks: Asks, puts: readonly NewMessage[]): Promise<readonly boolean[]> {
  // Hashed, because keys are bounded and ids are not.
  const hashes = puts.map(({ dedupe }) =>
    dedupe === undefined ? undefined : createHash('sha256').update(dedupe.id).digest('hex'),
  );
  const firsts = new Map<string, NewMessage>();
  for (const [index, hash] of hashes.entries()) {
    const one = puts[index];
    if (hash !== undefined && one !== undefined && !firsts.has(hash)) firsts.set(hash, one);
  }
  if (firsts.size === 0) return puts.map(() => true);
  const sorted = [...firsts].sort(([a], [b]) => (a < b ? -1 : 1));
  await asks.ask(SQL.FORGET, [puts[0]?.storedMicros, 2 * sorted.length], 'forget');
  const values = [
    sorted.map(([hash]) => hash),
    sorted.map(([, { storedMicros }]) => storedMicros),
    sorted.map(([, { dedupe }]) => dedupe?.untilMicros),
  ];
  const unseen = new Set((await asks.ask(SQL.REMEMBER, values, 'remember')).map((row) => row['id']));
  return hashes.map((hash, index) => hash === undefined || (firsts.get(hash) === puts[index] && unseen.has(hash)));
}

async function remove(asks: Asks, removes: readonly Removal[], tally: Tally): Promise<readonly boolean[]> {
  if (removes.length === 0) return [];
  // Sorted, so that servers that remove the same messages do not deadlock.
  const sorted = [...removes].sort((a, b) => a.seq - b.seq);
  const gone = await asks.ask(SQL.REMOVE.messages, columns(sorted, ['seq', 'storedMicros']), 'remove');
  count(tally, gone, -1);
  const found = new Set(gone.map((row) => row['seq']));
  const others = sorted.filter(({ seq }) => !found.has(seq));
  if (others.length > 0) {
    const dead = await asks.ask(SQL.REMOVE.dead, columns(others, ['seq', 'storedMicros']), 'remove-dead');
    tally.dead -= dead.length;
    for (const row of dead) found.add(row['seq']);
  }
  return removes.map(({ seq }) => found.delete(seq));
}

async function bury(asks: Asks, { buries }: Batch, tally: Tally): Promise<void> {
  if (buries.length === 0) return;
  const buried = await asks.ask(SQL.BURY, columns(buries, ['seq', 'reason', 'diedMicros']), 'bury');
  count(tally, buried, -1);
  tally.dead += buried.length;
}

async function revive(asks: Asks, { revives }: Batch, tally: Tally): Promise<void> {
  if (revives.length === 0) return;
  const revived = await asks.ask(SQL.REVIVE, [revives], 'revive');
  count(tally, revived, 1);
  tally.dead -= revived.length;
}

function count(tally: Tally, rows: readonly Row[], sign: 1 | -1): void {
  tally.messages += sign * rows.length;
  for (const row of rows) tally.bytes += sign * (row['bytes'] as number);
}

/** Records as one array per field, as statements expect them. */
function columns<T>(records: readonly T[], names: readonly (keyof T)[]): unknown[] {
  return names.map((name) => records.map((record) => record[name]));
}

function micros(ms: number): number {
  return Math.round(ms * 1000);
}

function inOrder(rows: readonly Row[]): readonly StoredMessage[] {
  return rows.map(toMessage).sort((a, b) => a.seq - b.seq);
}

function toMessage(row: Row): StoredMessage {
  const seq = row['seq'] as number;
  const body = unpackBody(row['body'] as Buffer, 0);
  if (body === undefined)
    throw new ProjError('CORRUPT', `message ${seq} in PostgreSQL cannot be read: restore the database`);
  return {
    seq,
    storedMicros: row['stored_micros'] as number,
    body,
    bytes: row['bytes'] as number,
    deliveries: row['deliveries'] as number,
    expiresMicros: row['expires_micros'] as number,
  };
}
