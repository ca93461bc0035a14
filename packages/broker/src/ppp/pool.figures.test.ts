/** After a known workload every figure of a pool has the expected value. Messages take 1 ms each way. */
import { fromLatin1 } from '@proj/frames';
import { advance, settle, VirtualNetwork } from '@proj/transport/virtual';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TextPeer } from '../../test/raw-peer.js';
import { PppPool } from './pool.js';

const ENDPOINT = 'tcp://sim:5557';

let network: VirtualNetwork;
let pool: PppPool;
let peers: TextPeer[];

beforeEach(async () => {
  network = new VirtualNetwork();
  peers = [];
  const transport = network.transport('pool');
  pool = new PppPool({
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

async function ready(name: string): Promise<TextPeer> {
  const made = TextPeer.connect(network.transport(name), ENDPOINT, { routingId: fromLatin1(name) });
  peers.push(made);
  await advance(network.clock, 10);
  made.send('\x01');
  await advance(network.clock, 10);
  return made;
}

/** Calls, and lets 10 ms pass. */
async function call(options: { timeoutMs?: number; signal?: AbortSignal } = {}): Promise<void> {
  void pool.request('x', options).catch(() => undefined);
  await advance(network.clock, 10);
}

/** Answers the next request, and lets 10 ms pass. */
async function answer(worker: TextPeer): Promise<void> {
  const [id = ''] = await settle(network.clock, worker.next());
  worker.send(id, '', 'done');
  await advance(network.clock, 10);
}

const detail = () => pool.stats({ detail: true }).detail;

it('counts calls that are answered, resent, refused, aborted, or late, and how long they waited and ran', async () => {
  const w1 = await ready('w1');
  await call(); // runs
  const aborted = new AbortController();
  await call({ signal: aborted.signal }); // waits
  aborted.abort();
  await call({ timeoutMs: 5 }); // waits, and is late
  await call({ timeoutMs: 50 }); // waits
  await call(); // waits
  await call(); // does not fit
  await answer(w1);
  await advance(network.clock, 50); // the second call at the worker is late
  await answer(w1);
  expect(detail().services).toMatchObject([
    {
      name: 'ppp',
      requests: 5,
      outcomes: { ok: 1, aborted: 1, expired: 2, 'queue-full': 1 },
      waiting: 0,
      running: 1,
      workers: 1,
      // The first did not wait; then 60 - 39 ms and 71 + 9 ms.
      waitMs: { count: 3, sumMs: 112 },
      workMs: { count: 2, sumMs: 121 },
    },
  ]);
  expect(detail().clients).toEqual([{ id: 'this process', open: 1, refused: { expired: 2, 'queue-full': 1 } }]);
  await settle(network.clock, w1.close());
  await advance(network.clock, 10);
  const w2 = await ready('w2');
  await answer(w2);
  expect(detail()).toMatchObject({
    services: [{ resends: 1, outcomes: { ok: 2 }, running: 0 }],
    workers: [{ id: 'w2', state: 'idle', stateMs: 9, done: 1, resends: 0 }],
    gauges: { workers: 1, openRequests: 0 },
    counters: { requests: 5, dispatches: 4, replies: 3, resends: 1 },
  });
});

it('counts calls that are refused after a drain, and garbage from strangers', async () => {
  const stranger = await ready('w1');
  stranger.send('\x09');
  const other = TextPeer.connect(network.transport('x'), ENDPOINT, { routingId: fromLatin1('x') });
  peers.push(other);
  other.send('\x02');
  await advance(network.clock, 10);
  expect(detail().workers).toMatchObject([{ refused: { 'control-unknown': 1 } }]);
  expect(detail().clients).toMatchObject([{ id: 'this process' }, { id: 'x', open: 0, refused: { unregistered: 1 } }]);
  await call(); // runs
  const drained = pool.drain();
  await advance(network.clock, 10);
  await call();
  await settle(network.clock, drained);
  expect(detail().services).toMatchObject([{ requests: 1, outcomes: { draining: 1, drained: 1 } }]);
});
