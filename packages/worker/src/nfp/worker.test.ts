import { defineNfpTask, NfpTaskFailure } from '../index.js';
import type { RecordStore } from '@proj/transport';
import { memoryRecords } from '@proj/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { Broker, DELETE, GET, POST, PUT } from '../../test/nfp/broker.js';
import { VirtualWorld } from '../../test/world.js';
import type { NfpTaskHandler } from './task.js';
import type { NfpWorkerOptions } from './options.js';
import { NfpWorker } from './worker.js';

let world: VirtualWorld;
let broker: Broker;

beforeEach(async () => {
  world = new VirtualWorld();
  broker = world.closeAtEnd(new Broker(world));
  await broker.start();
});
afterEach(async () => {
  await world.end();
  expect(world.network.clock.armed).toBe(0);
});

/** A worker that has sent READY. */
async function start(tasks: NfpWorkerOptions['tasks'], options: Partial<NfpWorkerOptions> = {}): Promise<NfpWorker> {
  const names = { endpoints: [broker.endpoint], service: 'math', name: 'math-1' };
  const worker = world.closeAtEnd(new NfpWorker({ ...names, tasks, transport: world.transport, ...options }));
  const ready = broker.hearsReady();
  await world.settle(worker.start());
  await ready;
  return worker;
}

/** A task that ends when the test says so. */
function held() {
  let end: (value: unknown) => void = () => {};
  const ended = new Promise((resolve) => {
    end = resolve;
  });
  const signals: AbortSignal[] = [];
  const task: NfpTaskHandler = (_call, { signal }) => {
    signals.push(signal);
    return Promise.race([
      ended,
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      }),
    ]);
  };
  return { task, end, signals };
}

describe('a task', () => {
  it("gets the client's arguments and its own identity", async () => {
    const calls: unknown[] = [];
    await start({ note: (call) => void calls.push(call) });
    broker.post('u1', 'note', { args: [1], kwargs: { a: 2 }, timeout: 5 });
    expect(await broker.result('u1')).toMatchObject({ result: null, failed: false });
    expect(calls).toEqual([
      { task: 'note', args: [1], kwargs: { a: 2 }, uuid: 'u1', client: 'c1', service: 'math', timeoutMs: 5000, run: 1 },
    ]);
  });

  it('with schemas gets their output, and no call that they refuse', async () => {
    const add = defineNfpTask({
      args: z.tuple([z.number(), z.coerce.number()]),
      kwargs: z.object({ times: z.number().default(1) }),
      handler: ({ args: [a, b], kwargs: { times } }) => (a + b) * times,
    });
    await start({ add });
    broker.post('u1', 'add', { args: [2, '3'] });
    expect(await broker.result('u1')).toMatchObject({ result: 5 });
    broker.post('u2', 'add', { args: [2, 3], kwargs: { times: 'x' } });
    const { failed, errors } = await broker.result('u2');
    expect([failed, errors]).toEqual([true, [expect.stringMatching(/^kwargs\.times: /)]]);
  });

  it.each<[string, NfpTaskHandler, RegExp]>([
    ['throws', () => Promise.reject(new Error('no such host')), /^no such host$/],
    ['throws no error', () => nothing('text'), /^text$/],
    ['returns a function', () => () => 1, /^result: JSON cannot express function$/],
    ['returns a cycle', () => cycle(), /circular/],
  ])('rule 9: that %s has failed', async (_, task, error) => {
    const worker = await start({ task });
    const errors: (string | undefined)[] = [];
    worker.on('error', ({ uuid }) => errors.push(uuid));
    broker.post('u1', 'task');
    expect(await broker.result('u1')).toMatchObject({ failed: true, errors: [expect.stringMatching(error) as string] });
    expect(errors).toEqual(['u1']);
  });

  it.each<[unknown, unknown]>([
    [{ done: ['a'] }, { done: ['a'] }],
    [1n, null],
    [undefined, null],
  ])('rule 9: that has failed may have a result (%#)', async (result, told) => {
    await start({ t: () => Promise.reject(new NfpTaskFailure('b is gone', result)) });
    broker.send(POST, 'u1', { task: 't' });
    expect(await broker.result('u1')).toMatchObject({ failed: true, errors: ['b is gone'], result: told });
  });

  it('rule 9: that has failed may have a result by an NfpTaskFailure of another copy of the package', async () => {
    class NfpTaskFailure extends Error {
      override readonly name = 'NfpTaskFailure';
      readonly result = 'a';
    }
    await start({ t: () => Promise.reject(new NfpTaskFailure('b is gone')) });
    broker.send(POST, 'u1', { task: 't' });
    expect(await broker.result('u1')).toMatchObject({ failed: true, errors: ['b is gone'], result: 'a' });
  });

  it('rule 9: that is unknown has failed', async () => {
    await start({ add: () => 1 });
    broker.post('u1', 'toString');
    expect(await broker.result('u1')).toMatchObject({ failed: true, errors: ['unknown task "toString"'] });
  });

  it('rule 9: reads PUTs in order, at most putQueueMax waiting, until its end', async () => {
    const { task, end } = held();
    let puts: AsyncIterator<{ value: unknown }> | undefined;
    const reader: NfpTaskHandler = (call, context) => {
      puts = context.puts;
      return task(call, context);
    };
    const worker = await start({ reader }, { putQueueMax: 2 });
    broker.post('u1', 'reader');
    await broker.hears('event');
    for (const offset of [1, 2, 3]) broker.send(PUT, 'u1', { offset });
    await world.advance(10);
    expect(worker.stats().putsDropped).toBe(1);
    expect(await puts!.next()).toMatchObject({ value: { value: { offset: 1 } } });
    expect(await puts!.next()).toMatchObject({ value: { value: { offset: 2 } } });
    const last = puts!.next();
    end(1);
    expect(await world.settle(last)).toEqual({ done: true, value: undefined });
  });

  it('rule 9: may ask its client, one question after the other', async () => {
    await start({
      ask: (_call, { requestInput }) =>
        Promise.all([requestInput('a?'), requestInput('b?', { default: 7, timeoutMs: 100 })]),
    });
    broker.post('u1', 'ask');
    const { text } = await broker.hears('event', (said) => said.text.includes('"a?"'));
    expect(broker.said.some((said) => said.text.includes('"b?"'))).toBe(false);
    const { extras } = JSON.parse(text) as { extras: { input_request: { id: string } } };
    broker.send(PUT, 'u1', { input_id: extras.input_request.id, value: 'yes' });
    expect(await broker.result('u1')).toMatchObject({ result: ['yes', 7] });
  });

  it('rule 9: is told if its client refuses to answer, or does not answer', async () => {
    const ask: NfpTaskHandler = async (_call, { requestInput }) => {
      const late = await requestInput('a?', { timeoutMs: 100 }).catch(
        (error: unknown) => (error as { code: string }).code,
      );
      return [late, await requestInput('b?').catch((error: unknown) => (error as { code: string }).code)];
    };
    await start({ ask });
    broker.post('u1', 'ask');
    const { text } = await broker.hears('event', (said) => said.text.includes('"b?"'));
    const { extras } = JSON.parse(text) as { extras: { input_request: { id: string } } };
    broker.send(PUT, 'u1', { input_id: extras.input_request.id, cancel: true });
    expect(await broker.result('u1')).toMatchObject({ result: ['TIMEOUT', 'REJECTED'] });
  });

  it('rule 9: cannot send an invalid event, nor stream after its end', async () => {
    let stream: ((chunk: string) => Promise<void>) | undefined;
    const task: NfpTaskHandler = (_call, context) => {
      stream = context.stream;
      expect(() => context.progress('x', { extras: { cycle: cycle() } })).toThrow('extras must be JSON');
      expect(() => context.event('x'.repeat(70_000))).toThrow(/^event of 7\d{4} bytes: the limit is 65536$/);
      return 'fine';
    };
    await start({ task });
    broker.post('u1', 'task');
    expect(await broker.result('u1')).toMatchObject({ result: 'fine' });
    await expect(stream!('late')).rejects.toMatchObject({ code: 'PROTOCOL_LOCAL' });
  });

  it('rule 8: learns by its signal that its job was deleted', async () => {
    const { task, signals } = held();
    await start({ task });
    broker.post('u1', 'task');
    await broker.hears('event');
    broker.send(DELETE, 'u1');
    expect(await broker.result('u1')).toMatchObject({ status: 'cancelled' });
    expect(signals[0]?.reason).toMatchObject({ code: 'REJECTED' });
  });
});

/** Throws a value that is not an error. */
function nothing(text: string): never {
  // oxlint-disable-next-line typescript/only-throw-error -- what this is about
  throw text;
}

function cycle(): unknown {
  const list: unknown[] = [];
  list.push(list);
  return list;
}

describe('the life of a worker', () => {
  it('rule 14: drain waits for running tasks, and their results stay in the store', async () => {
    const { task, end } = held();
    const store = memoryRecords();
    const worker = await start({ task }, { store });
    broker.post('u1', 'task');
    await broker.hears('event');
    const drained = worker.drain();
    end(5);
    await world.settle(drained);
    await broker.hearsDisconnect();
    await start({ task }, { store });
    broker.send(GET, 'u1');
    expect(await broker.hears('response', ({ status }) => status === 200)).toMatchObject({
      text: expect.stringContaining('5') as string,
    });
  });

  it('rule 14: close aborts running tasks, and the next start runs them again', async () => {
    const { task, signals } = held();
    const store = memoryRecords();
    const worker = await start({ task }, { store });
    broker.post('u1', 'task');
    await broker.hears('event');
    await world.settle(worker.close());
    expect(signals[0]?.reason).toMatchObject({ code: 'CLOSED' });
    const runs: number[] = [];
    await start({ task: ({ run }) => runs.push(run) }, { store });
    await broker.result('u1');
    expect(runs).toEqual([2]);
  });

  it('rule 14: shutdown by management ends it, and drain resolves then, too', async () => {
    const worker = await start({ add: () => 1 }, { managementCommands: true });
    const obeyed: string[] = [];
    worker.on('management', ({ task }) => obeyed.push(task));
    broker.send('0x11', 'm1', { task: 'shutdown' });
    await broker.hears('mmi');
    await world.settle(worker.drain());
    expect(obeyed).toEqual(['shutdown']);
    await broker.hearsDisconnect();
  });

  it('starts once, closes once, and does not start again', async () => {
    const worker = await start({ add: () => 1 });
    expect(worker.start()).toBe(worker.start());
    await world.settle(Promise.all([worker.close(), worker.close(), worker.drain()]));
    const other = new NfpWorker({ service: 's', name: 'n', tasks: { add: () => 1 }, transport: world.transport });
    await other.close();
    await expect(other.start()).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('does not start with a store that cannot be opened, or holds invalid jobs', async () => {
    const make = (store: RecordStore) =>
      new NfpWorker({
        endpoints: [broker.endpoint],
        service: 's',
        name: 'n',
        tasks: { add: () => 1 },
        store,
        transport: world.transport,
      });
    const broken = Object.assign(memoryRecords(), { open: () => Promise.reject(new Error('no disk')) });
    await expect(world.settle(make(broken).start())).rejects.toThrow('no disk');
    const foreign = memoryRecords();
    await foreign.open();
    await foreign.commit({ puts: [['job/x', Buffer.from('{}')]] });
    let closed = 0;
    const counting = Object.assign(foreign, {
      close: () => {
        closed++;
        return Promise.resolve();
      },
    });
    await expect(world.settle(make(counting).start())).rejects.toMatchObject({ code: 'CORRUPT' });
    expect(closed).toBe(1);
  });

  it('rule 11: a job of a later version keeps the worker from starting', async () => {
    const store = memoryRecords();
    await store.open();
    await store.commit({ puts: [['job/x', Buffer.from('{"v":2,"uuid":"x","seq":1}')]] });
    const late = new NfpWorker({
      endpoints: [broker.endpoint],
      service: 's',
      name: 'n',
      tasks: { add: () => 1 },
      store,
      transport: world.transport,
    });
    await expect(world.settle(late.start())).rejects.toThrow(
      'record job/x of the store is not a job of this version: use the version that wrote it',
    );
  });

  it('rule 11: a store that fails is an error of the worker, and 500 for the client', async () => {
    const store = Object.assign(memoryRecords(), { commit: () => Promise.reject(new Error('disk full')) });
    const worker = await start({ add: () => 1 }, { store });
    const errors: unknown[] = [];
    worker.on('error', ({ error }) => errors.push(error));
    broker.post('u1', 'add');
    expect(await broker.hears('response')).toMatchObject({ status: 500 });
    expect(errors).toMatchObject([{ message: 'disk full' }]);
    expect(worker.stats()).toMatchObject({ refused: { store: 1 }, storeFailures: 1 });
  });
});
