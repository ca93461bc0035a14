// Guaranteed jobs in PostgreSQL: the suite of every record store with a real server, failures that only a database has, and killed brokers.
import { postgresRecords } from '@proj/store';
import { PostgresCluster } from '@proj/testkit/postgres';
import { isProjError } from '@proj/transport';
import type { RecordStore } from '@proj/transport';
import { recordsCompliance } from '@proj/transport/compliance';
import pg from 'pg';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { stage } from '../../chaos/emqp/stage.js';
import { jobsThroughRestarts } from '../../chaos/emqp/store.js';
import { SHORT } from '../../chaos/restarts.js';

const theater = stage();

let cluster: PostgresCluster;
const stores: RecordStore[] = [];

beforeAll(async () => {
  cluster = await PostgresCluster.start();
  return () => cluster.remove();
});

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
});

function storeOf(url: string): RecordStore {
  const store = postgresRecords({ url });
  stores.push(store);
  return store;
}

async function opened(url: string): Promise<RecordStore> {
  const store = storeOf(url);
  await store.open();
  return store;
}

async function keysIn(store: RecordStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const [key] of store.entries()) keys.push(key);
  return keys;
}

async function failure(promise: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error: unknown = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  return isProjError(error) ? { code: error.code, message: error.message } : { code: 'none', message: String(error) };
}

/** Another client of the same database. */
async function psql<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const one = (key: string) => ({ puts: [[key, Buffer.from('x')]] as const });
const CUT = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'proj-records'`;

describe('records in PostgreSQL', () => {
  const subject = {
    place: async () => {
      const url = await cluster.database();
      return { store: () => postgresRecords({ url }), remove: () => Promise.resolve() };
    },
    capabilities: { durable: true, exclusive: true, breakable: false, killable: false },
  };
  for (const { name, applies, run } of recordsCompliance(subject)) it.runIf(applies)(name, run);

  it('reconnect when their connection is cut, and lose nothing', async () => {
    const url = await cluster.database();
    const store = await opened(url);
    const keys = Array.from({ length: 60 }, (_, n) => `key/${String(n).padStart(3, '0')}`);
    for (const [n, key] of keys.entries()) {
      const commit = store.commit(one(key));
      if (n % 20 === 10) await psql(url, (client) => client.query(CUT));
      await commit;
    }
    expect(await keysIn(store)).toEqual(keys);
  });

  it('refuse what an unreachable server cannot store, and continue when it is back', async () => {
    const url = await cluster.database();
    const store = await opened(url);
    await store.commit(one('before'));
    await cluster.kill();
    expect(await failure(store.commit(one('meanwhile')))).toMatchObject({
      code: 'WRITE_FAILED',
      message: expect.stringContaining('cannot be reached') as string,
    });
    await cluster.restart();
    await store.commit(one('later'));
    expect(await keysIn(store)).toEqual(['before', 'later']);
  });

  it('can be opened by another process as soon as the first one is gone', async () => {
    const url = await cluster.database();
    const first = await opened(url);
    const second = storeOf(url);
    const opening = second.open();
    await first.commit(one('a'));
    await first.close();
    await opening;
    expect(await keysIn(second)).toEqual(['a']);
  });

  it.each([
    ['mysql://localhost/x', 'OPTIONS_INVALID', 'must be postgres://'],
    ['postgres:///nobody?host=/nowhere', 'UNAVAILABLE', 'cannot be reached'],
  ])('say what is wrong with %s', async (url, code, text) => {
    const said = await failure(storeOf(url).open());
    expect(said).toMatchObject({ code, message: expect.stringContaining(text) as string });
  });

  it('report at once that there is no such database, or that the table has another version', async () => {
    const url = await cluster.database();
    const absent = url.replace(/\/[^/?]+\?/, '/absent?');
    expect(await failure(storeOf(absent).open())).toMatchObject({ code: 'UNAVAILABLE' });
    await (await opened(url)).close();
    await psql(url, (client) => client.query(`UPDATE proj_records SET value = 'later' WHERE key = ''`));
    expect(await failure(storeOf(url).open())).toMatchObject({ code: 'CORRUPT' });
  });

  it('are refused if a flush is only promised', async () => {
    const url = await cluster.database();
    await psql(url, (client) => client.query(`ALTER ROLE test SET synchronous_commit = off`));
    try {
      expect(await failure(storeOf(url).open())).toMatchObject({ code: 'UNAVAILABLE' });
    } finally {
      await psql(url, (client) => client.query(`ALTER ROLE test RESET synchronous_commit`));
    }
  });

  it('are flushed when a commit resolves', async () => {
    const url = await cluster.database();
    const store = await opened(url);
    for (let n = 0; n < 20; n++) await store.commit(one(`key/${n}`));
    await cluster.kill();
    await cluster.restart();
    expect(await keysIn(store)).toHaveLength(20);
  });
});

it('a broker with its store in PostgreSQL, killed under load, refuses and loses no guaranteed job', async () => {
  await jobsThroughRestarts(theater, SHORT, await cluster.database());
});
