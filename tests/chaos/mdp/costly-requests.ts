/** Requests while every hundredth one kills a worker: none is lost, none is answered twice, and no client resends. */
import { expect } from 'vitest';
import { WorkerFleet } from '../worker-fleet.js';
import type { Stage } from './stage.js';

const PER_KILL = 100;
const WORKERS = 6;
/** A worker is killed only if this many are registered, so that one remains. */
const ALIVE_MIN = 2;

/** Sends this many requests, a multiple of 100, and kills a worker for each hundred. */
export async function costALife(theater: Stage, requests: number): Promise<void> {
  const { broker, endpoint } = await theater.broker({ 'log-level': 'debug', 'stats-ms': 86_400_000 });
  const crew = new WorkerFleet(WORKERS, (flags) => theater.worker(endpoint, flags));
  const client = await theater.client(endpoint);
  const received = (total: number) => Promise.race([client.received(total), broker.lost()]);

  let killed = 0;
  for (let asked = 0; asked < requests;) {
    await broker.line('worker-ready', {}, killed + ALIVE_MIN);
    // Every second victim is frozen before the broker gives it a request, so that it dies with one in hand.
    const frozen = killed % 2 === 1 ? await crew.takeVictim() : undefined;
    frozen?.kill('SIGSTOP');
    for (const end = asked + PER_KILL; asked < end; asked++) client.ask(`request ${asked}`);
    // Half of them are answered, and half are in progress or waiting: workers are busy.
    await received(asked - PER_KILL / 2);
    const victim = frozen ?? (await crew.takeVictim());
    victim.kill('SIGKILL');
    killed++;
    crew.hire();
  }
  await received(requests);
  client.ask('fence');
  await received(requests + 1);

  expect(killed).toBe(requests / PER_KILL);
  expect(client.answers.size).toBe(requests + 1);
  expect(client.total).toBe(requests + 1);
  broker.kill('SIGTERM');
  const { counters } = await broker.line('stats');
  expect(counters).toMatchObject({ requests: requests + 1, replies: requests + 1 });
  // Otherwise the workers died idle, and nothing is proven.
  expect((counters as { readonly resends: number }).resends).toBeGreaterThan(killed / 4);
}
