// The store in PostgreSQL: the compliance suite with a real server, and failures that only a database has.
import { isProjError } from '@proj/transport';
import { PostgresStore } from '@proj/pzq';
import type { Batch } from '@proj/pzq';
import { storeCompliance } from '@proj/pzq/compliance';
import { PostgresCluster } from '@proj/testkit/postgres';
import { beforeAll, describe, expect, it } from 'vitest';

const EMPTY: Batch = { puts: [], removes: [], deliveries: [], buries: [], revives: [], passed: [] };
const ONE: Batch = {
  ...EMPTY,
  puts: [{ storedMicros: 1, body: [Buffer.from('one')], readyMicros: 0, expiresMicros: 0 }],
};

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('the store in PostgreSQL', () => {
  let cluster: PostgresCluster;

  beforeAll(async () => {
    cluster = await PostgresCluster.start();
    return () => cluster.remove();
  });

  describe('rule 26', () => {
    const subject = {
      place: async () => {
        const url = await cluster.database();
        return { store: () => new PostgresStore({ url }), remove: () => Promise.resolve() };
      },
      capabilities: {
        durable: true,
        moments: false,
        exclusive: false,
        shared: true,
        breakable: false,
        killable: false,
      },
    };
    for (const { name, applies, run } of storeCompliance(subject)) it.runIf(applies)(name, run);
  });

  it('creates its tables once if many servers start at the same time', async () => {
    const url = await cluster.database();
    const stores = Array.from({ length: 8 }, () => new PostgresStore({ url }));
    const opened = await Promise.all(stores.map((store) => store.open()));
    expect(new Set(opened.map(({ epoch }) => epoch)).size).toBe(1);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('rule 29: commits of several servers that remove the same messages in any order all succeed, and remove once', async () => {
    const url = await cluster.database();
    const stores = Array.from({ length: 4 }, () => new PostgresStore({ url }));
    await Promise.all(stores.map((store) => store.open()));
    const put = await stores[0]!.commit({ ...EMPTY, puts: Array.from({ length: 400 }, () => ONE.puts[0]!) });
    const removes = put.seqs.map((seq) => ({ seq, storedMicros: 1 }));
    const results = await Promise.all(
      stores.map((store, index) =>
        store.commit({ ...EMPTY, removes: index % 2 === 0 ? removes : [...removes].reverse() }),
      ),
    );
    const removed = results.flatMap((result) => result.removed).filter((one) => one);
    expect(removed.length).toBe(removes.length);
    const { counts } = await stores[0]!.commit({ ...EMPTY, passed: [1] });
    expect(counts).toMatchObject({ messages: 0, bytes: 0 });
    await Promise.all(stores.map((store) => store.close()));
  });

  it('is UNAVAILABLE if there is no server or no such database', async () => {
    const url = await cluster.database();
    for (const away of [url.replace('queue', 'no-queue'), 'postgres://test@127.0.0.1:1/queue']) {
      const error = await failure(new PostgresStore({ url: away }).open());
      expect(isProjError(error, 'UNAVAILABLE'), String(error)).toBe(true);
    }
  });
});

describe('the store in a PostgreSQL that dies, and in one that does not flush', () => {
  // Its own server: after a crash a server reads its log again, and the suite creates many databases.
  let cluster: PostgresCluster;

  beforeAll(async () => {
    cluster = await PostgresCluster.start();
    return () => cluster.remove();
  });

  it('is UNAVAILABLE while the server is dead; no committed message is lost, and the same store continues', async () => {
    const store = new PostgresStore({ url: await cluster.database() });
    await store.open();
    const { seqs } = await store.commit(ONE);
    await cluster.kill();
    for (const attempt of [() => store.commit(ONE), () => store.probe(), () => store.leases.take(1, 1, 1)]) {
      const error = await failure(attempt());
      expect(isProjError(error, 'UNAVAILABLE'), String(error)).toBe(true);
    }
    await cluster.restart();
    await store.probe();
    expect((await store.scan(0, 10, 1000)).map(({ seq }) => seq)).toEqual(seqs);
    expect((await store.commit(ONE)).counts.messages).toBe(2);
    await store.close();
  });

  it.each(['fsync', 'synchronous_commit'])(
    'rule 29: is refused with %s = off, unless that is allowed',
    async (setting) => {
      await cluster.kill();
      await cluster.restart(`${setting}=off`);
      const url = await cluster.database();
      const error = await failure(new PostgresStore({ url }).open());
      expect(isProjError(error, 'UNAVAILABLE'), String(error)).toBe(true);
      expect((error as Error).message).toContain(setting);
      const store = new PostgresStore({ url, allowUnsafeDurability: true });
      expect((await store.open()).lastSeq).toBe(0);
      await store.close();
    },
  );
});
