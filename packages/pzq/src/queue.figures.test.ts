/** After a known workload every figure of a queue has the expected value. Messages take 1 ms each way. */
import { advance, settle, VirtualNetwork } from '@proj/transport/virtual';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FaultyStore } from '../test/faulty-store.js';
import { RawConsumer, RawDealer } from '../test/raw-peers.js';
import type { PzqServerOptions } from './options.js';
import { PzqServer } from './queue.js';

const RECEIVE = 'tcp://sim:1';
const SEND = 'tcp://sim:2';
const MONITOR = 'tcp://sim:3';
const DEAD = 'tcp://sim:4';

let network: VirtualNetwork;
let queue: PzqServer;
let peers: { close(): Promise<void> }[];

beforeEach(() => {
  network = new VirtualNetwork();
  peers = [];
});

afterEach(async () => {
  await settle(network.clock, Promise.all([queue.close(), ...peers.map((peer) => peer.close())]));
});

const after = (ms: number) => advance(network.clock, ms);

async function start(options: PzqServerOptions = {}): Promise<void> {
  const transport = network.transport('queue');
  const store = new FaultyStore();
  queue = new PzqServer({
    name: 'orders',
    store,
    receive: RECEIVE,
    send: SEND,
    monitor: MONITOR,
    transport,
    ...options,
  });
  await settle(network.clock, queue.start());
}

function keep<Kept extends { close(): Promise<void> }>(peer: Kept): Kept {
  peers.push(peer);
  return peer;
}

async function send(dealer: RawDealer, ...frames: string[]): Promise<void> {
  dealer.send(...frames);
  await after(10);
}

const detail = () => queue.stats({ detail: true }).detail;

/** The counts that are not 0. */
const counted = (counts: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));

it('counts puts, acknowledgements, returns, timeouts, expiries and dead letters, and how long messages waited and were worked on', async () => {
  await start({
    headers: true,
    dedupeWindowMs: 60_000,
    ackTimeoutMs: 1000,
    maxDeliveries: 2,
    deadLetterSend: DEAD,
    maxMessages: 5,
  });
  const producer = keep(new RawDealer(network.transport('p'), RECEIVE));
  await after(10);
  await send(producer, '1', '', 'a');
  await send(producer, '1', '', 'a'); // again
  await send(producer, '2', '', 'b');
  await send(producer, '3', 'PZQ-TTL-MS:5', '', 'c'); // expires
  await after(10);
  const consumer = keep(new RawConsumer(network.transport('c'), SEND));
  const a = await settle(network.clock, consumer.next());
  const b = await settle(network.clock, consumer.next());
  await after(50);
  consumer.answer(a, '1');
  await after(10);
  consumer.answer(b, '0');
  expect((await settle(network.clock, consumer.next())).body).toEqual(['b']);
  await after(1100); // the lease ends, and with it the second delivery
  expect(detail()).toMatchObject({
    protocol: 'pzq',
    counters: {
      stored: 3,
      deduplicated: 1,
      delivered: 3,
      redelivered: 1,
      acked: 1,
      nacked: 1,
      timedOut: 1,
      expired: 1,
      buried: 1,
    },
    gauges: { messages: 0, ready: 0, inFlight: 0, dead: 1, storeOk: 1 },
  });
  const [orders, dead] = detail().services;
  expect(orders).toMatchObject({
    name: 'orders',
    requests: 3,
    outcomes: { ok: 1, deduplicated: 1, expired: 1, 'max-deliveries': 1 },
    resends: 1,
    waiting: 0,
    running: 0,
    waitMs: { count: 3 },
    workMs: { count: 1 },
  });
  expect(orders).not.toHaveProperty('isDead');
  expect(dead).toMatchObject({ name: 'orders.dead', isDead: true, requests: 1, outcomes: {}, waiting: 1, running: 0 });
  expect(counted(detail().dropped)).toEqual({});
  expect(detail().commitMs?.count).toBe(queue.stats().counters.commits);
  const undertaker = keep(new RawConsumer(network.transport('u'), DEAD));
  const letter = await settle(network.clock, undertaker.next());
  expect(detail().services[1]).toMatchObject({ waiting: 0, running: 1 });
  undertaker.answer(letter, '1');
  await after(10);
  expect(detail().services[1]).toMatchObject({ requests: 1, outcomes: { ok: 1 }, waiting: 0, running: 0 });
});

it('reports how long messages wait and are worked on', async () => {
  await start();
  const producer = keep(new RawDealer(network.transport('p'), RECEIVE));
  const consumer = keep(new RawConsumer(network.transport('c'), SEND));
  await after(1000);
  await send(producer, '1', '', 'a');
  const first = await settle(network.clock, consumer.next());
  await after(90); // it was delivered 99 ms ago: 1 ms on the wire
  expect(detail().services).toMatchObject([{ waiting: 0, running: 1, waitMs: { count: 1, sumMs: 0 } }]);
  consumer.answer(first, '1');
  await after(10);
  expect(detail().services).toMatchObject([{ outcomes: { ok: 1 }, workMs: { count: 1, sumMs: 100 } }]);
  await settle(network.clock, consumer.close());
  await after(10);
  await send(producer, '2', '', 'b');
  await send(producer, '3', '', 'c');
  await after(80);
  expect(detail().services).toMatchObject([{ requests: 3, waiting: 2, oldestWaitingMs: 99 }]);
});

it('counts refusals and bad frames of each kind, by producer and socket', async () => {
  await start({ maxMessages: 1, maxMessageBytes: 1024, maxParts: 2, headers: true });
  const producer = keep(new RawDealer(network.transport('p'), RECEIVE));
  const other = keep(new RawDealer(network.transport('o'), RECEIVE));
  const watcher = keep(new RawDealer(network.transport('w'), MONITOR));
  const consumer = keep(new RawConsumer(network.transport('c'), SEND));
  await after(10);
  await send(other, '8', 'PZQ-DELAY-MS:x', '', 'a');
  await send(producer, '1', '', 'a');
  const delivery = await settle(network.clock, consumer.next());
  await send(producer, '2', '', 'b');
  await send(producer, '3', '', 'x'.repeat(1025));
  await send(producer, '4', '', 'a', 'b', 'c');
  await send(producer, '5');
  await send(other, '6', '');
  await send(other, '7', 'no blank');
  await send(watcher, 'nonsense');
  consumer.answer(delivery, '1');
  consumer.answer({ ...delivery, key: 'unknown' }, '1');
  consumer.answer(delivery);
  await after(10);
  const { dropped, clients, services } = detail();
  expect(counted(dropped)).toEqual({
    'queue-full-messages': 1,
    'too-large': 1,
    'too-many-parts': 1,
    'produce-one-frame': 1,
    'no-body': 1,
    'no-delimiter': 1,
    'invalid-header': 1,
    'monitor-unknown': 1,
    'key-unknown': 1,
    'extension-ignored': 1,
  });
  expect(services).toMatchObject([
    {
      requests: 1,
      outcomes: {
        'queue-full-messages': 1,
        'too-large': 1,
        'too-many-parts': 1,
        'no-body': 1,
        'no-delimiter': 1,
        'invalid-header': 1,
      },
    },
  ]);
  expect(clients.map(({ open, refused }) => ({ open, refused }))).toEqual(
    expect.arrayContaining([
      { open: 0, refused: { 'queue-full-messages': 1, 'too-large': 1, 'too-many-parts': 1, 'produce-one-frame': 1 } },
      { open: 0, refused: { 'no-body': 1, 'no-delimiter': 1, 'invalid-header': 1 } },
      { open: 0, refused: { 'monitor-unknown': 1 } },
    ]),
  );
  expect(clients).toHaveLength(3);
});

it("pauses and purges on an operator's command", async () => {
  await start();
  const producer = keep(new RawDealer(network.transport('p'), RECEIVE));
  const consumer = keep(new RawConsumer(network.transport('c'), SEND));
  await after(10);
  queue.pause();
  for (const id of ['1', '2', '3']) await send(producer, id, '', id);
  expect(detail().services).toMatchObject([{ name: 'orders', waiting: 3, running: 0, isPaused: true }]);
  expect(await settle(network.clock, queue.purge())).toBe(3);
  expect(queue.stats()).toMatchObject({ messages: 0, counters: { purged: 3 } });
  queue.resume();
  await send(producer, '4', '', 'd');
  expect((await settle(network.clock, consumer.next())).body).toEqual(['d']);
  // The virtual network does not distinguish consumers.
  expect(queue.drainConsumer('nobody')).toBe(0);
});
