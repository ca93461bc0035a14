// 10,000 requests while every hundredth costs a worker its life: none is lost, none is answered twice, and no client sends again.
import type { PeerProcess } from '@proj/testkit';
import { expect, it } from 'vitest';
import { stage } from './stage.js';

const REQUESTS = 10_000;
const PER_KILL = 100;
const WORKERS = 6;
/** Registered workers without which nobody is killed: one must remain. */
const ALIVE_MIN = 2;

const theater = stage();

it('0 of 10,000 requests are lost with a worker killed every 100', { timeout: 600_000 }, async () => {
  const { broker, endpoint } = await theater.broker({ 'log-level': 'debug', 'stats-ms': 86_400_000 });
  const workers: Promise<PeerProcess>[] = [];
  const hire = () => {
    const worker = theater.worker(endpoint);
    // Whoever takes it from the list is told; nobody is when the test has failed before.
    worker.catch(() => undefined);
    workers.push(worker);
  };
  for (let number = 0; number < WORKERS; number++) hire();
  const client = await theater.client(endpoint);
  const received = (total: number) => Promise.race([client.received(total), broker.lost()]);

  let killed = 0;
  for (let asked = 0; asked < REQUESTS;) {
    await broker.line('worker-ready', {}, killed + ALIVE_MIN);
    for (const end = asked + PER_KILL; asked < end; asked++) client.ask(`request ${asked}`);
    // Half of them are answered and half are under way or waiting: workers are busy.
    await received(asked - PER_KILL / 2);
    const victim = await workers.shift()!;
    victim.kill('SIGKILL');
    killed++;
    hire();
  }
  await received(REQUESTS);
  client.ask('fence');
  await received(REQUESTS + 1);

  expect(killed).toBe(REQUESTS / PER_KILL);
  expect(client.answers.size).toBe(REQUESTS + 1);
  expect(client.total).toBe(REQUESTS + 1);
  broker.kill('SIGTERM');
  const { counters } = await broker.line('stats');
  expect(counters).toMatchObject({ requests: REQUESTS + 1, replies: REQUESTS + 1 });
  // Otherwise the workers died idle, and nothing has been proved.
  expect((counters as { readonly resends: number }).resends).toBeGreaterThan(killed / 4);
  await Promise.all(workers);
});
