/** Connections to PostgreSQL, and the meaning of its errors. The only file that uses the driver. */
import { setTimeout } from 'node:timers/promises';
import { ProjError } from '@proj/transport';
import type { Pool, PoolClient, QueryConfig } from 'pg';

/** Bytes, text, or an integer; never null. */
export type Row = Readonly<Record<string, unknown>>;

/** A connection in a transaction, or any connection. */
export interface Asks {
  /** Runs one statement; with `name`, as a prepared statement. */
  ask(text: string, values?: readonly unknown[], name?: string): Promise<readonly Row[]>;
}

/** For a commit, a take and a read at the same time, and one to spare. */
const CONNECTIONS = 4;
const CONNECT_TIMEOUT_MS = 5000;
/** Attempts at a transaction that the database asks to repeat; the pause doubles. */
const TRIES = 10;
const FIRST_PAUSE_MS = 2;
/** Serialization failure and deadlock: nothing happened, so repeat. */
const AGAIN = new Set(['40001', '40P01']);
/** SQLSTATE classes: away, starting, stopping, too busy, access denied. */
const AWAY = /^(08|28|3D|57P|53300)/;
const OID = { bytes: 17, bigint: 20 };

/** A pool of connections to one database. */
export class Database implements Asks {
  readonly #pool: Pool;
  /** Its name in errors: host and name, without the password. */
  readonly #where: string;
  readonly #pending = new Set<Promise<unknown>>();

  private constructor(pool: Pool, where: string) {
    this.#pool = pool;
    this.#where = where;
  }

  /** Does not connect yet. Rejects with `UNAVAILABLE` if `pg` is not installed. */
  static async load(url: string): Promise<Database> {
    const { default: pg } = await import('pg').catch((error: unknown) => {
      throw new ProjError('UNAVAILABLE', 'the package pg cannot be loaded: npm install pg', { cause: error });
    });
    const pool = new pg.Pool({
      connectionString: url,
      max: CONNECTIONS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'pzq',
    });
    // An idle connection that breaks is replaced when the next one is needed.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
    return new Database(pool, whereOf(url));
  }

  async ask(text: string, values: readonly unknown[] = [], name?: string): Promise<readonly Row[]> {
    return this.#guard(async () => {
      const { rows } = await this.#again(() => this.#pool.query<Row>(queryOf(text, values, name)));
      return rows;
    });
  }

  /** Atomic. Repeats the work if the database asks for it. */
  transaction<T>(work: (asks: Asks) => Promise<T>): Promise<T> {
    return this.#guard(() => this.#again(() => this.#once(work)));
  }

  /** Waits for pending calls. */
  async close(): Promise<void> {
    // The pool itself drops calls that wait for a connection.
    await Promise.allSettled(this.#pending);
    await this.#pool.end();
  }

  async #once<T>(work: (asks: Asks) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    try {
      await client.query('BEGIN');
      const result = await work(asksOf(client));
      await client.query('COMMIT');
      client.release();
      return result;
    } catch (error) {
      // Closing the connection ends the transaction in any state; for a repetition it is kept.
      const isKept = AGAIN.has(codeOf(error)) && (await isRolledBack(client));
      client.release(!isKept);
      throw error;
    }
  }

  async #again<T>(attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt();
      } catch (error) {
        if (!AGAIN.has(codeOf(error)) || tries >= TRIES) throw error;
        await setTimeout(FIRST_PAUSE_MS * 2 ** tries);
      }
    }
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    const result = work();
    this.#pending.add(result);
    try {
      return await result;
    } catch (error) {
      throw this.#explain(error);
    } finally {
      this.#pending.delete(result);
    }
  }

  #explain(error: unknown): unknown {
    // Our own errors pass unchanged.
    if (error instanceof ProjError || error instanceof TypeError) return error;
    const code = codeOf(error);
    const details = { cause: error, details: { code } };
    if (isAway(error))
      return new ProjError('UNAVAILABLE', `the database ${this.#where} cannot be reached (${code})`, details);
    const text = `the database ${this.#where} rejected the statement (${code}): ${(error as Error).message}`;
    return new ProjError('WRITE_FAILED', text, details);
  }
}

/** SQLSTATE or system error of a failure. */
export function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : 'connection';
}

function isAway(error: unknown): boolean {
  const code = codeOf(error);
  // Errors without an SQLSTATE come from the network, or from a driver that lost the connection.
  return AWAY.test(code) || !/^[0-9A-Z]{5}$/.test(code) || /^E[A-Z]{4}$/.test(code);
}

function asksOf(client: PoolClient): Asks {
  return {
    ask: async (text, values = [], name) => (await client.query<Row>(queryOf(text, values, name))).rows,
  };
}

async function isRolledBack(client: PoolClient): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  );
}

function queryOf(text: string, values: readonly unknown[], name: string | undefined): QueryConfig {
  const config = { text, values: [...values], types: { getTypeParser: parserOf as never } };
  return name === undefined ? config : { ...config, name };
}

/** Results come as text: bytes are hex after `\x`. */
function parserOf(oid: number): (value: string) => unknown {
  if (oid === OID.bytes) return (value) => Buffer.from(value.slice(2), 'hex');
  return oid === OID.bigint ? Number : String;
}

function whereOf(url: string): string {
  try {
    const { host, pathname, searchParams } = new URL(url);
    return `${host || (searchParams.get('host') ?? 'localhost')}${pathname}`;
  } catch {
    return 'of this address';
  }
}
