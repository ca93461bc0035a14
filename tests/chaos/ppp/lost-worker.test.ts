// A worker is lost while it works: another one answers, and the client gets exactly one reply to its single request
// (docs/protocols/ppp.md, section 3, rules 9 to 13 and 16).
import type { LazyPirateClient } from '@proj/client';
import type { PeerProcess } from '@proj/testkit';
import { expect, it } from 'vitest';
import { CONNECTION_LOST, HOLD, LIFE_MS } from '../test-peers.js';
import type { Flags } from '../programs.js';
import { script } from '../programs.js';
import { lastCounters, stage } from './stage.js';

const theater = stage();

type Hire = (backend: string) => Promise<PeerProcess>;

const holding: Hire = (backend) => theater.worker(backend, { handler: HOLD });

/** Sends heartbeats for ever, but neither an answer nor a second READY. */
const mute: Hire = async (backend) => {
  const worker = theater.launch(script('ppp/fixtures/mute-worker.mjs', [], [backend]));
  await worker.line('ready');
  return worker;
};

/**
 * A request that one worker holds while another stands by. Calls take turns on one socket: a second reply would answer the next
 * request.
 */
async function scene(hire: Hire, flags?: Flags) {
  // It is stopped before it sends a heartbeat while working.
  const { queue, frontend, backend } = await theater.queue({ 'ppp-mute-expiry-ms': LIFE_MS, ...flags });
  const holder = await hire(backend);
  await queue.line('worker-ready');
  const client = theater.client(frontend, { sockets: 1 });
  const job = client.request('job');
  await holder.line('holding');
  await theater.worker(backend);
  await queue.line('worker-ready', {}, 2);
  return { queue, holder, client, job };
}

/**
 * Asks once more, and checks that both requests got one reply, from the other worker: HOLD would have added its process id.
 */
async function expectOneReply(queue: PeerProcess, client: LazyPirateClient, job: Promise<Buffer[]>) {
  expect((await job).map(String)).toEqual(['job']);
  expect(String((await client.request('fence'))[0])).toBe('fence');
  expect(client.stats()).toMatchObject({ calls: 2, sends: 2, finals: 2, dropped: {} });
  expect(await lastCounters(queue)).toMatchObject({ requests: 2, replies: 2, resends: 1 });
}

it('when it is killed, another one answers, once', async () => {
  const { queue, holder, client, job } = await scene(holding);
  holder.kill('SIGKILL');
  expect(CONNECTION_LOST).toContain((await queue.line('worker-lost'))['reason']);
  await expectOneReply(queue, client, job);
});

it('when it is stopped, another one answers, and a late reply of the first one reaches no client', async () => {
  const { queue, holder, client, job } = await scene(holding);
  holder.kill('SIGSTOP');
  await queue.line('worker-lost', { reason: 'expired' });
  await job;
  holder.kill('SIGCONT');
  await queue.line('worker-ready', {}, 3);
  await expectOneReply(queue, client, job);
});

it('when it only sends heartbeats, the job timeout takes its job away, and another one answers', async () => {
  const { queue, client, job } = await scene(mute, { 'ppp-job-timeout-ms': 5000 });
  await queue.line('worker-lost', { reason: 'job-timeout' });
  // It keeps sending heartbeats but is no longer registered: only READY would bring it back.
  await queue.line('message-dropped', { reason: 'unregistered' });
  await expectOneReply(queue, client, job);
  expect(queue.lines('worker-ready')).toHaveLength(2);
});
