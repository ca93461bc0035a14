/** The facade over the in-memory network: sockets and time are virtual, everything else is what users run. */
import { EmqpBroker } from '@proj/broker';
import { EmqpClient } from '@proj/client';
import { isProjError, memoryRecords } from '@proj/transport';
import type { RecordStore } from '@proj/transport';
import { advance, settle, VirtualNetwork } from '@proj/transport/virtual';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RawWorker } from '../test/raw-worker.js';
import { EmqpScheduler } from './scheduler.js';
import type { EmqpSchedulerOptions } from './options.js';

const FRONTEND = 'tcp://sim:47291';
const JOB = { path: 'm', callable: 'f' };

let network: VirtualNetwork;
let broker: EmqpBroker;
let client: EmqpClient;
let store: RecordStore;
const schedulers: EmqpScheduler[] = [];

beforeEach(async () => {
  network = new VirtualNetwork({ seed: 1 });
  store = memoryRecords();
  broker = new EmqpBroker({
    frontend: FRONTEND,
    backend: 'tcp://sim:47290',
    admin: 'tcp://sim:47293',
    transport: network.transport('broker'),
    lingerMs: 0,
  });
  client = new EmqpClient({ endpoints: [FRONTEND], transport: network.transport('client'), lingerMs: 0 });
  await settle(network.clock, broker.start());
});

afterEach(async () => {
  const closing = [broker, client, ...schedulers.splice(0)].map((one) => one.close());
  await settle(network.clock, Promise.all(closing));
  expect(network.clock.armed).toBe(0);
});

/** A scheduler that a broker has acknowledged. */
async function scheduler(options: Partial<EmqpSchedulerOptions> = {}): Promise<EmqpScheduler> {
  const made = new EmqpScheduler({
    endpoints: [FRONTEND],
    store,
    transport: network.transport(`scheduler ${schedulers.length}`),
    lingerMs: 0,
    ...options,
  });
  schedulers.push(made);
  await settle(network.clock, made.start());
  await until(() => made.stats()?.registered === true);
  return made;
}

async function until(condition: () => boolean): Promise<void> {
  for (let round = 0; round < 10_000 && !condition(); round++) await advance(network.clock, 1);
  expect(condition()).toBe(true);
}

describe('a scheduler', () => {
  it('runs what a client schedules through a broker until it is unscheduled', async () => {
    const made = await scheduler();
    await settle(network.clock, client.schedule('q', JOB, { intervalSeconds: 10 }));
    await until(() => made.stats()!.accepted === 1);
    await advance(network.clock, 20_000);
    await until(() => made.stats()!.accepted === 3);
    await settle(network.clock, client.unschedule('q', JOB));
    await until(() => made.stats()!.unscheduled === 1);
    await advance(network.clock, 60_000);
    expect(made.stats()).toMatchObject({ fired: 3, jobs: 0 });
  });

  it('rule 2: continues after a restart with the same store', async () => {
    const first = await scheduler();
    await settle(network.clock, client.schedule('q', JOB, { intervalSeconds: 10, haste: false }));
    await until(() => first.stats()!.scheduled === 1);
    await settle(network.clock, first.drain());
    const second = await scheduler();
    expect(second.stats()!.jobs).toBe(1);
    await advance(network.clock, 10_000);
    await until(() => second.stats()!.accepted === 1);
  });

  it('rule 1: reconnects after a restart of its broker, and sends the runs that were due meanwhile', async () => {
    const made = await scheduler();
    await settle(network.clock, client.schedule('q', JOB, { intervalSeconds: 5, haste: false }));
    await until(() => made.stats()!.scheduled === 1);
    await settle(network.clock, broker.close());
    await advance(network.clock, 12_000);
    expect(made.stats()).toMatchObject({ registered: false, held: 1, fired: 0 });
    broker = new EmqpBroker({
      frontend: FRONTEND,
      backend: 'tcp://sim:47290',
      admin: 'tcp://sim:47293',
      transport: network.transport('broker again'),
      lingerMs: 0,
    });
    await settle(network.clock, broker.start());
    await advance(network.clock, 30_000);
    await until(() => made.stats()!.registered && made.stats()!.accepted > 0);
    expect(made.stats()!.conversations).toBe(2);
  });

  it('reports exact figures for a known workload: results, a broker that restarts, an unscheduled run', async () => {
    const made = await scheduler();
    const detail = () => made.stats({ detail: true })!.detail;
    const worker = new RawWorker(network.transport('worker'), 'tcp://sim:47290');
    worker.inform('q');
    await advance(network.clock, 100);
    await settle(network.clock, client.schedule('q', JOB, { intervalSeconds: 10, haste: false }));
    await until(() => made.stats()!.scheduled === 1);
    await advance(network.clock, 10_100);
    const service = { name: 'm.f', requests: 1, resends: 0, waiting: 0, running: 1, workers: 1 };
    expect(detail().services).toMatchObject([{ ...service, outcomes: {}, waitMs: { count: 1, sumMs: 0 } }]);
    worker.answer();
    await advance(network.clock, 100);
    expect(detail()).toMatchObject({
      protocol: 'scheduler',
      counters: { scheduled: 1, fired: 1, results: 1 },
      gauges: { jobs: 1, held: 0, storeOk: 1 },
      services: [{ ...service, running: 0, outcomes: { ok: 1 }, workMs: { count: 1 } }],
      workers: [{ id: FRONTEND, services: ['m.f'], state: 'idle', done: 1 }],
      clients: [],
      refused: { key: 0, handshake: 0 },
      jobs: [{ service: 'm.f', schedule: 'every 10 s', fired: 1, result: 'ok' }],
    });
    await advance(network.clock, 10_000);
    await settle(network.clock, Promise.all([broker.close(), worker.close()]));
    await advance(network.clock, 12_000);
    expect(detail()).toMatchObject({
      services: [
        { ...service, requests: 3, outcomes: { ok: 1, 'broker-lost': 1 }, waiting: 1, running: 0, workers: 0 },
      ],
      workers: [{ state: 'away' }],
      jobs: [{ fired: 2, result: 'broker-lost' }],
    });
  });

  it('rule 8: ends with its store closed', async () => {
    const made = await scheduler({ lingerMs: 1000 });
    const ends: string[] = [];
    made.on('ended', () => ends.push('ended'));
    await settle(network.clock, made.drain());
    await settle(network.clock, made.close());
    expect(ends).toEqual(['ended']);
    await expect(store.get('x')).rejects.toThrow(/not open/);
    await until(() => broker.stats().schedulers === 0);
  });

  it('never opens a store when it is closed before its start', async () => {
    const made = new EmqpScheduler({ store });
    await made.close();
    await expect(made.start()).rejects.toThrow(/start after close/);
  });

  it('rejects invalid records, and closes the store again', async () => {
    await store.open();
    await store.commit({ puts: [['emqp/job/x', Buffer.from('{}\n')]] });
    await store.close();
    const made = new EmqpScheduler({ store, transport: network.transport('x') });
    const error: unknown = await settle(
      network.clock,
      made.start().catch((reason: unknown) => reason),
    );
    expect(isProjError(error, 'CORRUPT'), String(error)).toBe(true);
    await expect(store.get('x')).rejects.toThrow(/not open/);
  });

  it.each([
    [{ timeZone: 'Mars/Olympus' }, /timeZone Mars\/Olympus/],
    [{ brokerExpiryMs: 1000 }, /brokerExpiryMs/],
    [{ store: {} as RecordStore }, /RecordStore/],
  ])('refuses options %o', (options, words) => {
    expect(() => new EmqpScheduler({ store, ...options })).toThrow(words);
  });
});
