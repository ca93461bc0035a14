import { memoryRecords } from '@proj/transport';
import type { RecordStore } from '@proj/transport';
import { describe, expect, it } from 'vitest';
import { doing, silence, Stage } from '../../test/nfp/stage.js';
import type { NfpJobRecord } from './job-book.js';
import type { NfpClient } from './client.js';

async function jobsOf(client: NfpClient): Promise<NfpJobRecord[]> {
  const list = [];
  for await (const record of client.jobs()) list.push(record);
  return list;
}

/** A store with some methods replaced. */
function but(store: RecordStore, methods: Partial<RecordStore>): RecordStore {
  return {
    open: () => store.open(),
    get: (key) => store.get(key),
    entries: (prefix) => store.entries(prefix),
    commit: (batch) => store.commit(batch),
    close: () => store.close(),
    ...methods,
  };
}

/** What a client leaves behind that has posted a job to w1 and w2, and was closed when it had the result of w1. */
async function prepared(timeoutMs = 60_000): Promise<{ stage: Stage; store: RecordStore }> {
  const stage = new Stage();
  const store = memoryRecords();
  const broker = await stage.broker((asked) => {
    asked.dispatch('w1', 'w2');
    if (asked.kind === 'get') asked.result('w1', 1);
  });
  const client = stage.client({ store, timeoutMs });
  const job = await stage.settle(client.post('sample', 't', { uuid: 'u1', args: [7] }));
  const first = await stage.settle(job.results().next());
  expect(first.value).toMatchObject({ worker: 'w1' });
  await stage.settle(client.close());
  await stage.settle(broker.close());
  return { stage, store };
}

describe('a recorded job', () => {
  it('rule 8: is recorded before it is posted', async () => {
    const stage = new Stage();
    const store = memoryRecords();
    const broker = await stage.broker();
    let release = (): void => {};
    const kept = new Promise<void>((resolve) => (release = resolve));
    const slow = but(store, { commit: (batch) => kept.then(() => store.commit(batch)) });
    const posted = stage.client({ store: slow }).post('sample', 't');
    await stage.advance(1000);
    expect(broker.heard).toEqual([]);
    release();
    const job = await stage.settle(posted);
    await stage.settle(job.done());
    expect(broker.heard[0]).toBe('post all');
  });

  it('rule 8: is not posted if the store does not keep it', async () => {
    const stage = new Stage();
    const broker = await stage.broker();
    const full = but(memoryRecords(), { commit: () => Promise.reject(new Error('disk full')) });
    await expect(stage.settle(stage.client({ store: full }).post('sample', 't'))).rejects.toThrow('disk full');
    await stage.advance(1000);
    expect(broker.heard).toEqual([]);
  });

  it('rule 8: answers of two hundred workers during one write are written together', async () => {
    const stage = new Stage();
    const store = memoryRecords();
    const names = Array.from({ length: 200 }, (_, index) => `w${index}`);
    await stage.broker(doing(...names));
    let release = (): void => {};
    const disk = new Promise<void>((resolve) => (release = resolve));
    let commits = 0;
    const slow = but(store, {
      commit: (batch) => (commits++ === 0 ? Promise.resolve() : disk).then(() => store.commit(batch)),
    });
    const client = stage.client({ store: slow });
    await stage.settle(client.run('sample', 't'));
    release();
    await stage.advance(1);
    const [record] = await stage.settle(jobsOf(client));
    expect(record).toMatchObject({ state: 'COMPLETED', workers: names });
    expect(record!.results).toHaveLength(200);
    expect(commits).toBe(3);
  });

  it('rule 8: its end is recorded before the store is closed, and before the next one with its uuid', async () => {
    const stage = new Stage();
    const store = memoryRecords();
    await stage.broker();
    const waiting: (() => void)[] = [];
    const slow = but(store, {
      commit: (batch) => new Promise<void>((resolve) => waiting.push(resolve)).then(() => store.commit(batch)),
    });
    const release = (): void => {
      for (const go of waiting.splice(0)) go();
    };
    const client = stage.client({ store: slow });
    const posted = client.post('sample', 't', { uuid: 'u1' });
    await stage.advance(1);
    release();
    const job = await stage.settle(posted);
    await stage.settle(job.done());
    const again = client.post('sample', 't', { uuid: 'u1', args: [2] });
    await stage.advance(1);
    // The first change of the first job is still being written: its end, and the second job, wait.
    expect(waiting).toHaveLength(1);
    for (let turn = 0; turn < 3; turn++) {
      release();
      await stage.advance(1);
    }
    await stage.settle(again);
    expect(await stage.settle(jobsOf(client))).toMatchObject([{ args: [2] }]);
    const closed = client.close();
    await stage.advance(2000);
    release();
    await stage.advance(1);
    release();
    await stage.settle(closed);
    await store.open();
    const [record] = await stage.settle(jobsOf(stage.client({ store })));
    expect(record!.args).toEqual([2]);
  });

  it('rule 8: is requested by the next process from the workers that have not answered, and not reposted', async () => {
    const { stage, store } = await prepared();
    const broker = await stage.broker(doing('w1', 'w2'));
    const client = stage.client({ store });
    const [job] = await stage.settle(client.start());
    const results = await stage.settle(job!.done());
    expect(results).toMatchObject({ w1: { result: 1 }, w2: { result: 'done by w2' } });
    expect(broker.heard).toEqual(['get ["w2"]']);
    expect(await stage.settle(jobsOf(client))).toMatchObject([{ uuid: 'u1', state: 'COMPLETED', args: [7] }]);
  });

  it('rule 8: is reposted, under its uuid, if all say that they do not know it', async () => {
    const { stage, store } = await prepared();
    const broker = await stage.broker((asked) => {
      if (broker.asked.length > 1) doing('w2')(asked);
      else {
        asked.dispatch('w2');
        asked.say('w2', 404, 'JOB NOT FOUND');
      }
    });
    const client = stage.client({ store });
    const [job] = await stage.settle(client.start());
    await stage.settle(job!.done());
    expect(broker.heard).toEqual(['get ["w2"]', 'post all', 'get ["w2"]']);
    expect(broker.asked[1]!.call.uuid).toBe('u1');
    expect(broker.asked[1]!.body).toEqual({ task: 't', kwargs: {}, args: [7] });
  });

  it('rule 8: has one result of each worker, even if workers with a recorded result answer again', async () => {
    const { stage, store } = await prepared();
    const broker = await stage.broker((asked) => {
      if (broker.asked.length > 1) doing('w1', 'w2')(asked);
      else {
        asked.dispatch('w2');
        asked.say('w2', 404, 'JOB NOT FOUND');
      }
    });
    const client = stage.client({ store });
    const [job] = await stage.settle(client.start());
    await stage.settle(job!.done());
    const results = [];
    for await (const { worker, result } of job!.results()) results.push([worker, result]);
    expect(results).toEqual([
      ['w1', 1],
      ['w2', 'done by w2'],
    ]);
    expect(await stage.settle(jobsOf(client))).toMatchObject([{ results: [{ worker: 'w1' }, { worker: 'w2' }] }]);
  });

  it('rule 8: is requested from all workers if it is not known which worker has it', async () => {
    const stage = new Stage();
    const store = memoryRecords();
    const first = await stage.broker(silence);
    const before = stage.client({ store });
    await stage.settle(before.post('sample', 't', { target: 'any' }));
    await stage.settle(before.close());
    await stage.settle(first.close());
    const broker = await stage.broker((asked) => {
      asked.dispatch('w1', 'w2');
      asked.say('w1', 404, 'JOB NOT FOUND');
      asked.result('w2', 2);
    });
    const [job] = await stage.settle(stage.client({ store }).start());
    expect(Object.keys(await stage.settle(job!.done()))).toEqual(['w2']);
    expect(broker.heard).toEqual(['get all']);
  });

  it('rule 8: is STALE after its deadline, and no worker is asked', async () => {
    const { stage, store } = await prepared(5000);
    const broker = await stage.broker();
    await stage.advance(10_000);
    const client = stage.client({ store });
    expect(await stage.settle(client.start())).toEqual([]);
    expect(await stage.settle(jobsOf(client))).toMatchObject([{ state: 'STALE' }]);
    expect(broker.heard).toEqual([]);
  });

  it('rule 8: of a later version keeps the client from starting, and stays', async () => {
    const { stage, store } = await prepared();
    await store.open();
    const later = Buffer.from(JSON.stringify({ version: 2, uuid: 'u2' }));
    await store.commit({ puts: [['nfp/job/u2', later]] });
    await store.close();
    await expect(stage.settle(stage.client({ store }).start())).rejects.toMatchObject({
      code: 'CORRUPT',
      message: 'NfpClient store: job nfp/job/u2 has version 2, this version reads 1: use the version that wrote it',
    });
    await store.open();
    expect(await store.get('nfp/job/u2')).toEqual(later);
  });

  it('rule 8: is kept for jobTtlMs after its end', async () => {
    const stage = new Stage();
    const store = memoryRecords();
    await stage.broker();
    const jobTtlMs = 100_000;
    const first = stage.client({ store, jobTtlMs });
    await stage.settle(first.run('sample', 't'));
    await stage.settle(first.close());
    const second = stage.client({ store, jobTtlMs });
    expect(await stage.settle(jobsOf(second))).toHaveLength(1);
    await stage.settle(second.close());
    await stage.advance(jobTtlMs);
    expect(await stage.settle(jobsOf(stage.client({ store, jobTtlMs })))).toEqual([]);
  });

  it('rule 8: leaves jobTtlMs after its end while the client runs, too, one after the other', async () => {
    const stage = new Stage();
    await stage.broker();
    const client = stage.client({ store: memoryRecords(), jobTtlMs: 100_000 });
    for (const uuid of ['u2', 'u1']) {
      await stage.settle(client.run('sample', 't', { uuid }));
      await stage.advance(1000);
    }
    await stage.advance(98_500);
    expect(await stage.settle(jobsOf(client))).toMatchObject([{ uuid: 'u1' }]);
    await stage.advance(1000);
    expect(await stage.settle(jobsOf(client))).toEqual([]);
  });

  it('rule 8: ended jobs leave 500 at a time, with nothing left behind', async () => {
    const stage = new Stage();
    await stage.broker();
    const store = memoryRecords();
    const removed: number[] = [];
    const watched = but(store, {
      commit: (batch) => {
        if (batch.removes !== undefined) removed.push(batch.removes.length);
        return store.commit(batch);
      },
    });
    const client = stage.client({ store: watched, jobTtlMs: 100_000 });
    await stage.settle(Promise.all(Array.from({ length: 501 }, () => client.run('sample', 't'))));
    await stage.advance(110_000);
    // Each is a record and its position in the order of ends.
    expect(removed).toEqual([1000, 2]);
    await stage.settle(client.close());
    await store.open();
    for await (const [key] of store.entries()) expect.unreachable(key);
  });

  it('rule 8: whose uuid is used again stays until that job has been over for jobTtlMs', async () => {
    const stage = new Stage();
    await stage.broker();
    const client = stage.client({ store: memoryRecords(), jobTtlMs: 100_000 });
    await stage.settle(client.run('sample', 't', { uuid: 'u1' }));
    await stage.advance(60_000);
    await stage.settle(client.run('sample', 't', { uuid: 'u1', args: [2] }));
    await stage.advance(60_000);
    expect(await stage.settle(jobsOf(client))).toMatchObject([{ uuid: 'u1', args: [2] }]);
    await stage.advance(41_000);
    expect(await stage.settle(jobsOf(client))).toEqual([]);
  });

  it('rule 8: an ended job that a store does not remove is reported, and retried after a minute', async () => {
    const stage = new Stage();
    await stage.broker();
    const store = memoryRecords();
    let full = true;
    const sick = but(store, {
      commit: (batch) =>
        full && batch.removes !== undefined ? Promise.reject(new Error('disk full')) : store.commit(batch),
    });
    const client = stage.client({ store: sick, jobTtlMs: 100_000 });
    const errors: unknown[] = [];
    client.on('error', (error) => void errors.push(error));
    await stage.settle(client.run('sample', 't'));
    await stage.advance(101_000);
    expect(errors).toEqual([new Error('disk full')]);
    full = false;
    await stage.advance(60_000);
    expect([errors.length, await stage.settle(jobsOf(client))]).toEqual([1, []]);
  });

  it('tells get and delete which service to ask', async () => {
    const { stage, store } = await prepared();
    const broker = await stage.broker(doing('w1', 'w2'));
    const client = stage.client({ store });
    await stage.settle(client.get('u1'));
    expect(broker.asked.find(({ call }) => call.target === 'all')!.call.service).toBe('sample');
  });

  it('a store that cannot be read fails the call, and the next one tries again', async () => {
    const stage = new Stage();
    await stage.broker();
    const store = memoryRecords();
    let broken = true;
    const sick = but(store, { open: () => (broken ? Promise.reject(new Error('locked')) : store.open()) });
    const client = stage.client({ store: sick });
    await expect(stage.settle(client.run('sample', 't'))).rejects.toThrow('locked');
    broken = false;
    expect(Object.keys(await stage.settle(client.run('sample', 't')))).toEqual(['w1']);
  });
});
