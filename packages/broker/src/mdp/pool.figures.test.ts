/** After a known workload every figure of a pool has the expected value. Messages take 1 ms each way. */
import { fromLatin1 } from '@proj/frames';
import { advance, settle, VirtualNetwork } from '@proj/transport/virtual';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TextPeer } from '../../test/raw-peer.js';
import { MdpPool } from './pool.js';

const ENDPOINT = 'tcp://sim:5555';

let network: VirtualNetwork;
let pool: MdpPool;
let peers: TextPeer[];

beforeEach(async () => {
  network = new VirtualNetwork();
  peers = [];
  const transport = network.transport('pool');
  pool = new MdpPool({
    endpoint: ENDPOINT,
    transport,
    heartbeatIntervalMs: 100_000,
    maxAttempts: 2,
    requestQueueMax: 2,
  });
  await settle(network.clock, pool.start());
});

afterEach(async () => {
  await settle(network.clock, Promise.all([pool.close(), ...peers.map((peer) => peer.close())]));
});

async function connect(name: string): Promise<TextPeer> {
  const made = TextPeer.connect(network.transport(name), ENDPOINT, { routingId: fromLatin1(name) });
  peers.push(made);
  await advance(network.clock, 10);
  return made;
}

async function send(peer: TextPeer, ...frames: string[]): Promise<void> {
  peer.send(...frames);
  await advance(network.clock, 10);
}

async function ready(name: string, service: string): Promise<TextPeer> {
  const made = await connect(name);
  await send(made, 'MDPW02', '\x01', service);
  return made;
}

/** Calls, and lets 10 ms pass. */
async function call(service: string, options: { timeoutMs?: number; signal?: AbortSignal } = {}): Promise<void> {
  void pool.request(service, 'x', options).catch(() => undefined);
  await advance(network.clock, 10);
}

/** Answers the next request, and lets 10 ms pass. */
async function answer(worker: TextPeer): Promise<void> {
  const [, , address = ''] = await settle(network.clock, worker.next());
  await send(worker, 'MDPW02', '\x04', address, '', 'done');
}

const detail = () => pool.stats({ detail: true }).detail;

/** The service of that name. */
const service = (name: string) => detail().services.find((each) => each.name === name);

it('counts calls of each service that are answered, refused, aborted, or late, and how long they waited and ran', async () => {
  const w1 = await ready('w1', 'echo');
  await ready('w2', 'other');
  await call('other');
  await call('echo'); // runs
  const aborted = new AbortController();
  await call('echo', { signal: aborted.signal }); // waits
  aborted.abort();
  await call('echo', { timeoutMs: 5 }); // waits, and is late
  await call('echo', { timeoutMs: 50 }); // waits
  await call('echo'); // waits
  await call('echo'); // does not fit
  await answer(w1);
  await advance(network.clock, 50); // the second call at the worker is late
  await answer(w1);
  expect(service('echo')).toMatchObject({
    requests: 5,
    outcomes: { ok: 1, aborted: 1, expired: 2, 'queue-full': 1 },
    waiting: 0,
    running: 1,
    workers: 1,
    waitMs: { count: 3, sumMs: 112 },
    workMs: { count: 2, sumMs: 121 },
  });
  expect(service('other')).toMatchObject({ requests: 1, outcomes: {}, running: 1 });
  expect(detail().clients).toEqual([{ id: 'this process', open: 2, refused: { expired: 2, 'queue-full': 1 } }]);
  expect(detail().gauges).toMatchObject({ workers: 2, openRequests: 2 });
});

it('counts resends, calls whose workers are lost, and garbage', async () => {
  await call('echo');
  for (const name of ['w1', 'w2']) {
    const worker = await ready(name, 'echo');
    await ready(`${name} idle`, 'other');
    await settle(network.clock, worker.close());
    await advance(network.clock, 10);
  }
  const stranger = await connect('x');
  await send(stranger, 'MDPW02', '\x09');
  await send(stranger, 'nonsense');
  const worker = await ready('w3', 'other');
  await send(worker, 'MDPW02', '\x04', 'c', '', 'nobody asked');
  await send(worker, 'MDPW02', '\x01', 'other');
  expect(detail().counters).toMatchObject({ requests: 1, dispatches: 2, resends: 1, workersLost: 3 });
  expect(detail().dropped).toMatchObject({
    'attempts-exhausted': 1,
    'unknown-command': 1,
    'unknown-header': 1,
    unexpected: 1,
  });
  expect(detail().clients).toEqual([
    { id: 'this process', open: 0, refused: { 'attempts-exhausted': 1 } },
    { id: 'x', open: 0, refused: { 'unknown-command': 1, 'unknown-header': 1 } },
  ]);
  expect(detail().workers).toMatchObject([
    { id: 'w1 idle', refused: {} },
    { id: 'w2 idle', refused: {} },
    { id: 'w3', services: ['other'], state: 'idle', stateMs: 9, done: 0, refused: { unexpected: 1 } },
  ]);
});
