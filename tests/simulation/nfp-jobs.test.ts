/** NORFAB's broker, workers and client, all ours, on the in-memory network: jobs outlive the broker. */
import { NfpBroker } from '@proj/broker';
import { NfpClient, nfpResultsOrThrow } from '@proj/client';
import { memoryRecords } from '@proj/transport';
import { settle, VirtualNetwork } from '@proj/transport/virtual';
import { nextEvent } from '@proj/testkit';
import { NfpWorker } from '@proj/worker';
import type { NfpWorkerEvents } from '@proj/worker';
import { afterEach, beforeEach, expect, it } from 'vitest';

const ENDPOINT = 'tcp://sim:5555';

let network: VirtualNetwork;
const open: { close(): Promise<void> }[] = [];

beforeEach(() => {
  network = new VirtualNetwork({ seed: 1 });
});

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await settle(network.clock, one.close());
  expect(network.clock.armed).toBe(0);
});

function keep<One extends { close(): Promise<void> }>(one: One): One {
  open.push(one);
  return one;
}

async function startBroker(process: string): Promise<NfpBroker> {
  const broker = keep(
    new NfpBroker({ endpoint: ENDPOINT, transport: network.transport(process), settleMs: 0, lingerMs: 0 }),
  );
  await settle(network.clock, broker.start());
  return broker;
}

async function startWorker(name: string, gate?: Promise<void>): Promise<NfpWorker> {
  const worker = new NfpWorker({
    endpoints: [ENDPOINT],
    service: 'math',
    name,
    transport: network.transport(name),
    tasks: {
      add: async ({ args }, { signal }) => {
        await Promise.race([gate, aborted(signal)]);
        return (args as number[]).reduce((sum, n) => sum + n, 0);
      },
    },
  });
  await settle(network.clock, keep(worker).start());
  return worker;
}

/** Rejects when the signal aborts. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

/** Resolves when the worker starts its first job. */
function startOf(worker: NfpWorker): Promise<unknown> {
  return nextEvent<NfpWorkerEvents, 'note'>(worker, 'note', ({ code }) => code === 'job-started');
}

/** Resolves when this many workers have registered. */
function registered(broker: NfpBroker, count: number): Promise<void> {
  return new Promise((resolve) => {
    let seen = 0;
    broker.on('worker-ready', () => {
      if (++seen === count) resolve();
    });
  });
}

it('after a broker restart, its workers are back, and running and new jobs are answered, within 2 s', async () => {
  const first = await startBroker('broker-1');
  const bothHere = registered(first, 2);
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  const begun = [];
  for (const name of ['w1', 'w2']) begun.push(startOf(await startWorker(name, gate)));
  await settle(network.clock, bothHere);
  const client = keep(new NfpClient({ endpoints: [ENDPOINT], transport: network.transport('client'), lingerMs: 0 }));
  const job = await settle(network.clock, client.post('math', 'add', { args: [1, 2] }));
  expect(await settle(network.clock, job.dispatched)).toEqual(['w1', 'w2']);
  await settle(network.clock, Promise.all(begun));

  await settle(network.clock, first.close());
  const start = network.clock.now();
  const second = await startBroker('broker-2');
  const bothBack = registered(second, 2);
  await settle(network.clock, bothBack);
  release();
  expect(nfpResultsOrThrow(await settle(network.clock, job.done()))).toEqual({ w1: 3, w2: 3 });
  const again = await settle(network.clock, client.run('math', 'add', { args: [20, 22], target: 'any' }));
  expect(Object.values(nfpResultsOrThrow(again))).toEqual([42]);
  expect(network.clock.now() - start).toBeLessThan(2000);
  expect(client.stats()).toMatchObject({ reposts: 0, jobs: 0 });
});

it('a restarted client resumes its job, and the worker does it once', async () => {
  const broker = await startBroker('broker');
  const here = registered(broker, 1);
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  const worker = await startWorker('w1', gate);
  await settle(network.clock, here);
  const started = startOf(worker);
  const store = memoryRecords();
  const options = { endpoints: [ENDPOINT], store, lingerMs: 0 };
  const before = new NfpClient({ ...options, transport: network.transport('client-1') });
  const posted = await settle(network.clock, before.post('math', 'add', { args: [1] }));
  await settle(network.clock, posted.dispatched);
  await settle(network.clock, started);
  await settle(network.clock, before.close());
  release();
  const after = keep(new NfpClient({ ...options, transport: network.transport('client-2') }));
  const [job] = await settle(network.clock, after.start());
  expect(job?.uuid).toBe(posted.uuid);
  expect(nfpResultsOrThrow(await settle(network.clock, job!.done()))).toEqual({ w1: 1 });
  expect(after.stats().posts).toBe(0);
});

it('an aborted job is cancelled at its worker', async () => {
  const broker = await startBroker('broker');
  const here = registered(broker, 1);
  const worker = await startWorker('w1', new Promise<void>(() => {}));
  const begun = startOf(worker);
  const ended = nextEvent<NfpWorkerEvents, 'note'>(worker, 'note', ({ code }) => code === 'job-finished');
  await settle(network.clock, here);
  const client = keep(new NfpClient({ endpoints: [ENDPOINT], transport: network.transport('client'), lingerMs: 0 }));
  const controller = new AbortController();
  const job = await settle(network.clock, client.post('math', 'add', { signal: controller.signal }));
  await settle(network.clock, job.dispatched);
  await settle(network.clock, begun);
  controller.abort(new Error('enough'));
  await expect(job.done()).rejects.toThrow('enough');
  await settle(network.clock, ended);
  const results = await settle(network.clock, client.get(job.uuid));
  expect(results['w1']).toMatchObject({ status: 200, failed: true });
});

it('workers report about themselves what their management shows', async () => {
  const broker = await startBroker('broker');
  const here = registered(broker, 2);
  for (const name of ['w1', 'w2']) await startWorker(name);
  await settle(network.clock, here);
  const client = keep(new NfpClient({ endpoints: [ENDPOINT], transport: network.transport('client'), lingerMs: 0 }));
  const answers = await settle(network.clock, client.mmiWorkers('show_workers'));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});
