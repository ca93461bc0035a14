/** Requests while every hundredth one kills a worker: none is lost, none is answered twice, and no client asks again. */
import { ProjError } from '@proj/transport';
import { expect } from 'vitest';
import { WorkerFleet } from '../worker-fleet.js';
import { Tally } from '../tally.js';
import type { Stage } from './stage.js';
import { lastCounters } from './stage.js';

const PER_KILL = 100;
const WORKERS = 6;
/** A worker is killed only if this many are registered, so that one remains. */
const ALIVE_MIN = 2;
/** More than there are workers, so that some requests wait. */
const SOCKETS = 50;

/** Sends this many requests, a multiple of 100, and kills a worker for each hundred. */
export async function costALife(theater: Stage, requests: number): Promise<void> {
  const { queue, frontend, backend } = await theater.queue();
  const crew = new WorkerFleet(WORKERS, (flags) => theater.worker(backend, flags));
  const client = theater.client(frontend, { sockets: SOCKETS });
  const tally = new Tally();
  const ask = async (text: string) => {
    const answer = client.request(text).then(([reply]) => String(reply));
    tally.count(await answer.catch((error: unknown) => (error instanceof ProjError ? error.code : String(error))));
  };

  let killed = 0;
  for (let asked = 0; asked < requests;) {
    await queue.line('worker-ready', {}, killed + ALIVE_MIN);
    // Every second victim is frozen before the queue gives it a request, so that it dies with one in hand.
    const frozen = killed % 2 === 1 ? await crew.takeVictim() : undefined;
    frozen?.kill('SIGSTOP');
    for (const end = asked + PER_KILL; asked < end; asked++) void ask(`request ${asked}`);
    // Half of them are answered, and half are in progress or waiting: workers are busy.
    await tally.received(asked - PER_KILL / 2);
    const victim = frozen ?? (await crew.takeVictim());
    victim.kill('SIGKILL');
    killed++;
    crew.hire();
  }
  await tally.received(requests);

  expect(killed).toBe(requests / PER_KILL);
  const expected = Array.from({ length: requests }, (_, number) => `request ${number}`);
  expect(expected.filter((text) => tally.answers.get(text) !== 1)).toEqual([]);
  expect(tally.answers.size).toBe(requests);
  expect(client.stats()).toMatchObject({ calls: requests, sends: requests, finals: requests, dropped: {} });
  const counters = await lastCounters(queue);
  expect(counters).toMatchObject({ requests, replies: requests });
  // Otherwise the workers died idle, and nothing is proven.
  expect(counters.resends).toBeGreaterThan(killed / 4);
}
