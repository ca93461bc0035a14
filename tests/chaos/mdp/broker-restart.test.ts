// The broker is killed and restarted at its endpoint: workers and clients return by themselves, soon.
import { MdpClient } from '@proj/client';
import { encodeMdp } from '@proj/frames/mdp';
import { ownEndpoint } from '@proj/testkit';
import type { PeerProcess } from '@proj/testkit';
import { expect, it } from 'vitest';
import { HOLD } from '../test-peers.js';
import { TRANSPORT, transport } from '../../transport.js';
import { RawPeer } from './raw-peer.js';
import { stage } from './stage.js';

/**
 * Long, since the test counts in this unit: a busy machine must not need many of them for what takes an idle one a
 * millisecond.
 */
const INTERVAL_MS = 500;
const BEATS = { 'heartbeat-ms': INTERVAL_MS };
/** Intervals that a process on a busy machine may need for what takes it a millisecond. */
const SLACK = 5;
/** Intervals that a transport may pause before it reconnects: 2 s by default with ours, 0.1 s with libzmq. */
const PAUSE = TRANSPORT === 'zmtp' ? 2000 / INTERVAL_MS : 1;

const theater = stage();

/** A worker in the test, with its own service: the broker's heartbeats to it count the broker's intervals. */
async function intervalsOf(endpoint: string): Promise<() => number> {
  let messages = 0;
  const witness = theater.keep(await RawPeer.connect(endpoint, () => messages++));
  witness.send(encodeMdp({ kind: 'worker-ready', version: '0.2', service: 'witness' }));
  return () => messages;
}

/** The longest back-off that a worker has announced, in intervals. */
async function longestBackoff(workers: readonly PeerProcess[]): Promise<number> {
  await Promise.all(workers.map((worker) => worker.line('lost')));
  const delays = workers.flatMap((worker) => worker.lines('lost').map((line) => Number(line['retryInMs'])));
  return Math.ceil(Math.max(...delays) / INTERVAL_MS);
}

it('after a broker kill, workers return within an interval plus their back-off, and clients get their replies', async () => {
  const endpoint = await ownEndpoint();
  const first = await theater.broker({ mdp: endpoint, ...BEATS });
  const holder = await theater.worker(endpoint, { handler: HOLD, ...BEATS });
  const client = theater.keep(new MdpClient({ transport, endpoints: [endpoint], timeoutMs: 1000, tries: 600 }));
  const running = client.request('echo', 'was running');
  await holder.line('holding');
  const workers = [holder, await theater.worker(endpoint, BEATS), await theater.worker(endpoint, BEATS)];
  await first.broker.line('worker-ready', {}, workers.length);
  first.broker.kill('SIGKILL');
  await first.broker.exit;
  const asked = client.request('echo', 'asked meanwhile');

  const second = await theater.broker({ mdp: endpoint, ...BEATS });
  const intervals = await intervalsOf(endpoint);
  await second.broker.line('worker-ready', { service: 'echo' }, workers.length);
  const needed = intervals();
  expect(needed).toBeLessThanOrEqual(1 + (await longestBackoff(workers)) + PAUSE + SLACK);
  expect(String((await running)[0])).toBe('was running');
  expect(String((await asked)[0])).toBe('asked meanwhile');
  expect(client.stats()).toMatchObject({ calls: 2, finals: 2 });
});
