// Our job manager, with a router in Python that checks every frame, and with our broker and a client in Python.
import { fileURLToPath } from 'node:url';
import { EmqpJobManager } from '@proj/worker';
import type { EmqpJobManagerOptions } from '@proj/worker';
import { expect, it } from 'vitest';
import { testPeers } from '../test-peers.js';
import { pythonPeer } from '../python.js';
import { transport } from '../../transport.js';
import { brokerEvent, jobBody, stage } from './stage.js';

const { launch, keep } = testPeers();
const theater = stage();
const handlers = fileURLToPath(new URL('./jobs.mjs', import.meta.url));

async function manager(endpoint: string, options: Partial<EmqpJobManagerOptions> = {}): Promise<EmqpJobManager> {
  const made = keep(new EmqpJobManager({ transport, endpoints: [endpoint], handlers, concurrency: 2, ...options }));
  await made.start();
  return made;
}

/** A router in Python and our job manager, with both slots announced. */
async function scene(options: Partial<EmqpJobManagerOptions> = {}) {
  const router = launch(pythonPeer('emqp', 'router', {}));
  const { endpoint } = await router.line('listening');
  const made = await manager(endpoint as string, options);
  await router.line('ready', { slots: 2 });
  const request = (id: string, headers = 'reply-requested', callable = 'echo') => {
    router.tell({ do: 'request', id, headers, body: jobBody(id, callable) });
  };
  return { router, manager: made, request };
}

it('sends INFORM, announces its slots, does jobs and answers those that request it, each before its READY', async () => {
  const { router, request } = await scene({
    queues: [
      [20, 'mail'],
      [10, 'défaut'],
    ],
  });
  expect(await router.line('inform')).toMatchObject({ queues: '[[20, "mail"], [10, "d\\u00e9faut"]]' });
  request('m1');
  expect(await router.line('reply', { of: 'm1' })).toMatchObject({ result: '{"value": "m1"}' });
  request('m2', 'guarantee');
  await router.line('reply', { of: 'm2' });
  request('m3', '');
  await router.line('ready', {}, 5);
  expect(router.lines('reply', { of: 'm3' })).toEqual([]);
});

it('does more jobs than it has slots, one after the other', async () => {
  const { router, request } = await scene();
  const ids = Array.from({ length: 50 }, (_, at) => `m${at}`);
  for (const id of ids) request(id);
  for (const id of ids) await router.line('reply', { of: id });
  await router.line('ready', { slots: 2 - ids.length + 2 });
});

it('retries failed jobs, and kills jobs that take too long', async () => {
  const { router, manager: made, request } = await scene({ retryDelayMs: 1 });
  request('m1', 'reply-requested,retry-count:2', 'fail');
  expect(await router.line('reply', { of: 'm1' })).toMatchObject({ result: '{"value": "no m1"}' });
  request('m2', 'reply-requested,timeout:1', 'hang');
  expect(await router.line('reply', { of: 'm2' })).toMatchObject({ result: '{"value": "TimeoutError"}' });
  await router.line('ready', {}, 4);
  expect(made.stats()).toMatchObject({ retries: 2, timeouts: 1 });
});

it('sends KBAI and KBYE when it gets DISCONNECT, and nothing more', async () => {
  const { router, manager: made } = await scene();
  const ended = new Promise((resolve) => made.on('ended', resolve));
  router.tell({ do: 'disconnect' });
  await router.line('bye', { word: 'KBAI' });
  await router.line('bye', { word: 'KBYE' });
  await ended;
});

it('serves a client in Python behind our broker', async () => {
  const served = await theater.broker();
  const joined = brokerEvent(served.broker, 'peer-joined');
  const made = await manager(served.at.backend, { concurrency: 4 });
  await joined;
  const client = theater.client(served);
  const ids = Array.from({ length: 100 }, (_, at) => `job-${at}`);
  for (const id of ids) client.request(id, { headers: 'reply-requested,guarantee,timeout:100' });
  for (const id of ids) await client.result(id);
  for (const id of ids) expect(client.replies(id)).toHaveLength(2);
  expect(made.stats()).toMatchObject({ jobs: 100, done: 100, replies: 100 });
});
