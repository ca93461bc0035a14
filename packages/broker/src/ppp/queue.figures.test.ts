/** After a known workload every figure of a queue has the expected value. Messages take 1 ms each way. */
import { fromLatin1 } from '@proj/frames';
import { advance, settle, VirtualNetwork } from '@proj/transport/virtual';
import { encodeZ85, generateCurveKeys } from '@proj/transport/curve';
import type { PortOptions } from '@proj/transport';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TextPeer } from '../../test/raw-peer.js';
import type { PppQueueOptions } from './options.js';
import { PppQueue } from './queue.js';

const FRONTEND = 'tcp://sim:5556';
const BACKEND = 'tcp://sim:5557';

let network: VirtualNetwork;
let queue: PppQueue;
const peers: TextPeer[] = [];

beforeEach(() => {
  network = new VirtualNetwork();
});

afterEach(async () => {
  await settle(network.clock, Promise.all([queue.close(), ...peers.splice(0).map((peer) => peer.close())]));
});

async function start(options: PppQueueOptions = {}): Promise<void> {
  queue = new PppQueue({
    frontend: FRONTEND,
    backend: BACKEND,
    transport: network.transport('queue'),
    heartbeatIntervalMs: 100_000,
    ...options,
  });
  await settle(network.clock, queue.start());
}

async function join(name: string, endpoint: string, port: PortOptions = {}): Promise<TextPeer> {
  const made = TextPeer.connect(network.transport(name), endpoint, { routingId: fromLatin1(name), ...port });
  peers.push(made);
  await advance(network.clock, 10);
  return made;
}

/** Sends, and lets time pass, 10 ms by default. */
async function send(peer: TextPeer, frames: readonly string[], ms = 10): Promise<void> {
  peer.send(...frames);
  await advance(network.clock, ms);
}

async function crash(peer: TextPeer): Promise<void> {
  peers.splice(peers.indexOf(peer), 1);
  await settle(network.clock, peer.close());
  await advance(network.clock, 10);
}

const detail = () => queue.stats({ detail: true }).detail;

/** The counts of drops that are not 0. */
const dropped = () => Object.fromEntries(Object.entries(detail().dropped).filter(([, count]) => count > 0));

it('counts requests, outcomes, resends, waiting time and working time', async () => {
  await start({ requestQueueMax: 2, requestTtlMs: 5000, maxAttempts: 2 });
  const w1 = await join('w1', BACKEND);
  await send(w1, ['\x01']);
  const c1 = await join('c1', FRONTEND);
  const c2 = await join('c2', FRONTEND);
  await send(c1, ['', 'a'], 20); // runs at w1
  await send(c2, ['', 'b'], 10); // waits
  await send(c2, ['', 'c'], 10); // waits
  await send(c1, ['', 'd'], 10); // does not fit
  await send(w1, ['c1', '', 'A'], 30); // a took 50 ms; b waited 30 ms, c 20 ms so far
  const now = detail();
  expect(now.services).toMatchObject([
    {
      name: 'ppp',
      requests: 3,
      outcomes: { ok: 1, 'queue-full': 1 },
      resends: 0,
      waiting: 1,
      oldestWaitingMs: 49, // it came after 1 ms on the wire
      running: 1,
      workers: 1,
      waitMs: { count: 2, sumMs: 30 },
      workMs: { count: 1, sumMs: 50 },
    },
  ]);
  expect(now.workers).toEqual([
    {
      id: 'w1',
      services: ['ppp'],
      state: 'busy',
      stateMs: 29,
      silentMs: expect.closeTo(29, -1) as number,
      running: 1,
      done: 1,
      resends: 0,
      refused: {},
    },
  ]);
  expect(now.clients).toEqual([
    { id: 'c2', open: 2, refused: {} },
    { id: 'c1', open: 0, refused: { 'queue-full': 1 } },
  ]);
  expect(now.gauges).toMatchObject({ workers: 1, openRequests: 2 });
  await crash(w1); // b goes back and waits in front of c
  await advance(network.clock, 5000); // both expire
  expect(detail().services).toMatchObject([
    {
      requests: 3,
      outcomes: { ok: 1, 'queue-full': 1, expired: 2 },
      resends: 1,
      waiting: 0,
      oldestWaitingMs: 0,
      running: 0,
      workers: 0,
    },
  ]);
  expect(detail()).toMatchObject({
    counters: { requests: 3, dispatches: 2, resends: 1, replies: 1, workersReady: 1, workersLost: 1 },
    workers: [],
    clients: [
      { id: 'c1', open: 0, refused: { 'queue-full': 1 } },
      { id: 'c2', open: 0, refused: { expired: 2 } },
    ],
  });
  expect(dropped()).toEqual({ 'queue-full': 1, expired: 2 });
});

it('counts a request whose workers are lost, one whose client is gone, and what a drain ends', async () => {
  await start({ maxAttempts: 2, drainMs: 0 });
  const client = await join('c1', FRONTEND);
  await send(client, ['', 'a']);
  for (const name of ['w1', 'w2']) {
    const worker = await join(name, BACKEND);
    await send(worker, ['\x01']);
    await crash(worker);
  }
  expect(detail().services).toMatchObject([{ requests: 1, resends: 1, outcomes: { 'attempts-exhausted': 1 } }]);
  const worker = await join('w3', BACKEND);
  await send(worker, ['\x01']);
  const leaver = await join('c2', FRONTEND);
  await send(leaver, ['', 'b']);
  await crash(leaver);
  await send(worker, ['c2', '', 'B']);
  expect(detail().services).toMatchObject([{ outcomes: { 'attempts-exhausted': 1, 'client-gone': 1 } }]);
  expect(detail().workers).toMatchObject([{ id: 'w3', state: 'idle', stateMs: 9, done: 1 }]);
  await send(client, ['', 'c']);
  await send(client, ['', 'd']);
  await settle(network.clock, queue.drain());
  expect(detail().services).toMatchObject([
    { requests: 4, running: 0, outcomes: { 'attempts-exhausted': 1, 'client-gone': 1, drained: 2 } },
  ]);
});

it('counts the resends that a worker causes by forgetting its jobs', async () => {
  await start({ maxAttempts: 9 });
  const worker = await join('w1', BACKEND);
  await send(worker, ['\x01']);
  const client = await join('c1', FRONTEND);
  await send(client, ['', 'a']);
  for (let times = 0; times < 3; times++) await send(worker, ['\x01']);
  await send(worker, ['c1', '', 'A']);
  expect(detail()).toMatchObject({
    services: [{ resends: 3, outcomes: { ok: 1 } }],
    workers: [{ id: 'w1', done: 1, resends: 3 }],
  });
});

it('counts bad frames of each kind, of strangers, clients and workers', async () => {
  await start({ maxMessageFrames: 8 });
  const worker = await join('w1', BACKEND);
  await send(worker, ['\x01']);
  for (const frames of [[''], ['xx'], ['\x07'], ['c1', 'A'], ['c1', '', 'A'], Array<string>(9).fill('x')])
    await send(worker, frames);
  const stranger = await join('both', BACKEND);
  await send(stranger, ['\x02']);
  const client = await join('both', FRONTEND);
  for (const frames of [['\x01'], ['', 'a'], [''], Array<string>(9).fill('x')]) await send(client, frames);
  await send(worker, ['other', '', 'A']);
  const all = detail();
  expect(all.workers).toMatchObject([
    {
      id: 'w1',
      refused: {
        'control-empty': 1,
        'control-length': 1,
        'control-unknown': 1,
        'reply-malformed': 1,
        'reply-unexpected': 1,
        'reply-address': 1,
        'too-large': 1,
      },
    },
  ]);
  expect(all.clients).toEqual([
    { id: 'both', open: 1, refused: { 'control-unexpected': 1, 'request-no-content': 1, 'too-large': 1 } },
    { id: 'both (backend)', open: 0, refused: { unregistered: 1 } },
  ]);
  expect(dropped()).toEqual({
    'control-empty': 1,
    'control-length': 1,
    'control-unknown': 1,
    'control-unexpected': 1,
    'reply-malformed': 1,
    'reply-unexpected': 1,
    'reply-address': 1,
    'request-no-content': 1,
    'too-large': 2,
    unregistered: 1,
  });
});

it('reports keys, and counts refused keys and peers without rights', async () => {
  const [server, ada, bob, eve] = [1, 2, 3, 4].map(() => generateCurveKeys());
  const [adaKey = '', bobKey = '', eveKey = ''] = [ada, bob, eve].map((keys) => keys && encodeZ85(keys.publicKey));
  if (!server || !ada || !bob || !eve) throw new Error('no keys');
  await start({
    curve: { keys: server, authorize: (key) => encodeZ85(key) !== eveKey },
    access: [{ keys: [adaKey], request: ['ppp'], serve: ['ppp'] }],
  });
  const as = (keys: typeof ada) => ({ curve: { role: 'client', keys, serverKey: server.publicKey } as const });
  await send(await join('w1', BACKEND, as(ada)), ['\x01']);
  await send(await join('c1', FRONTEND, as(ada)), ['', 'a']);
  await send(await join('c2', FRONTEND, as(bob)), ['', 'b']);
  await join('c3', FRONTEND, as(eve));
  const all = detail();
  expect(all.workers).toMatchObject([{ id: 'w1', key: adaKey }]);
  expect(all.clients).toEqual([
    { id: 'c1', key: adaKey, open: 1, refused: {} },
    { id: 'c2', key: bobKey, open: 0, refused: { 'not-allowed': 1 } },
    { id: eveKey, key: eveKey, open: 0, refused: { key: all.refused['key'] } },
  ]);
  expect(all.refused).toEqual({ key: expect.any(Number) as number, handshake: 0 });
  expect(all.refused['key']).toBeGreaterThan(0);
  expect(all.services).toMatchObject([{ requests: 1, outcomes: { 'not-allowed': 1 } }]);
});
