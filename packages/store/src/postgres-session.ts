/** A PostgreSQL session, and the meaning of its errors. The only file of this package that uses the driver. */
import { ProjError } from '@proj/transport';
import type { Client, QueryConfig } from 'pg';

/** Bytes for `bytea`, text otherwise. */
export type Row = Readonly<Record<string, unknown>>;

const CONNECT_TIMEOUT_MS = 5000;
/** Time after which a connection counts as lost. */
const QUERY_TIMEOUT_MS = 30_000;
/** SQLSTATE classes: away, starting, stopping, too busy. */
const AWAY = /^(08|57P|53300)/;
/** SQLSTATE classes: access denied, no such database. */
const REFUSED = /^(28|3D)/;
const BYTES = 17;

/** Details of a permanent `UNAVAILABLE`. */
export const FOR_GOOD = 'for good';

/** A session of the server. */
export class PostgresSession {
  /** The database's name in errors: host and name, without the password. */
  readonly where: string;
  readonly #client: Client;
  #isLost = false;

  private constructor(client: Client, where: string) {
    this.#client = client;
    this.where = where;
    const lose = (): void => {
      this.#isLost = true;
    };
    client.on('error', lose);
    client.on('end', lose);
  }

  /** Rejects with `UNAVAILABLE` if the server is away or denies access or `pg` is not installed, and with `OPTIONS_INVALID`. */
  static async open(url: string): Promise<PostgresSession> {
    const where = whereOf(url);
    const { default: pg } = await import('pg').catch((cause: unknown) => {
      const details = { cause, details: FOR_GOOD };
      throw new ProjError('UNAVAILABLE', 'the package pg cannot be loaded: npm install pg', details);
    });
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      keepAlive: true,
      application_name: 'proj-records',
    });
    const session = new PostgresSession(client, where);
    try {
      await client.connect();
    } catch (error) {
      await session.close();
      throw session.#explain(error);
    }
    return session;
  }

  /** True once the session, and with it its lock, is lost. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Runs one statement; with `name`, as a prepared statement. */
  async ask(text: string, values: readonly unknown[] = [], name?: string): Promise<readonly Row[]> {
    const config: QueryConfig = { text, values: [...values], types: { getTypeParser: parserOf as never } };
    try {
      const { rows } = await this.#client.query<Row>(name === undefined ? config : { ...config, name });
      return rows;
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** All of it or nothing. */
  async transaction(work: () => Promise<void>): Promise<void> {
    await this.ask('BEGIN');
    try {
      await work();
      await this.ask('COMMIT');
    } catch (error) {
      if (!this.#isLost) await this.ask('ROLLBACK').catch(() => (this.#isLost = true));
      throw error;
    }
  }

  /** Never rejects. */
  async close(): Promise<void> {
    this.#isLost = true;
    await this.#client.end().catch(() => undefined);
  }

  #explain(error: unknown): ProjError {
    const { code, message } = error as { readonly code?: unknown; readonly message: string };
    // Errors without an SQLSTATE come from the network, or from a driver that lost the connection.
    const state =
      typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code) ? code : undefined;
    const why = `${state ?? (typeof code === 'string' ? code : 'connection')}: ${message}`;
    if (state !== undefined && REFUSED.test(state))
      return new ProjError('UNAVAILABLE', `the database ${this.where} denied access (${why})`, {
        cause: error,
        details: FOR_GOOD,
      });
    if (state === undefined || AWAY.test(state)) {
      this.#isLost = true;
      return new ProjError('UNAVAILABLE', `the database ${this.where} cannot be reached (${why})`, { cause: error });
    }
    return new ProjError('WRITE_FAILED', `the database ${this.where} rejected the write (${why})`, { cause: error });
  }
}

/** Results come as text: bytes are hex after `\x`. */
function parserOf(oid: number): (value: string) => unknown {
  return oid === BYTES ? (value) => Buffer.from(value.slice(2), 'hex') : String;
}

function whereOf(url: string): string {
  try {
    const { protocol, host, pathname, searchParams } = new URL(url);
    if (protocol === 'postgres:' || protocol === 'postgresql:')
      return `${host || (searchParams.get('host') ?? 'localhost')}${pathname}`;
  } catch {
    // Reported below.
  }
  throw new ProjError(
    'OPTIONS_INVALID',
    'records in PostgreSQL: the address must be postgres://user@host:port/database',
  );
}
