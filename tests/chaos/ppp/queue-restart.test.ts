// The queue is killed and restarted on its ports: workers send READY again, clients ask again and get their replies.
import { ownEndpoint } from '@proj/testkit';
import { expect, it } from 'vitest';
import { HOLD } from '../test-peers.js';
import { stage } from './stage.js';

const theater = stage();

it('after a queue kill, all workers are READY again, and clients get their replies by asking again', async () => {
  const frontend = await ownEndpoint();
  const backend = await ownEndpoint();
  const ports = { 'ppp-frontend': frontend, 'ppp-backend': backend };
  const first = await theater.queue(ports);
  const holder = await theater.worker(backend, { handler: HOLD });
  await first.queue.line('worker-ready');
  const client = theater.client(frontend, { timeoutMs: 1000, tries: 600 });
  const running = client.request('was running');
  await holder.line('holding');
  const workers = [holder, await theater.worker(backend), await theater.worker(backend)];
  await first.queue.line('worker-ready', {}, workers.length);
  first.queue.kill('SIGKILL');
  await first.queue.exit;
  const asked = client.request('asked meanwhile');

  const second = await theater.queue(ports);
  await Promise.all(workers.map((worker) => worker.line('ready', {}, 2)));
  await second.queue.line('worker-ready', {}, workers.length);
  expect(String((await running)[0])).toBe('was running');
  expect(String((await asked)[0])).toBe('asked meanwhile');
  const { calls, sends, finals } = client.stats();
  expect({ calls, finals }).toEqual({ calls: 2, finals: 2 });
  expect(sends).toBeGreaterThan(calls);
});
