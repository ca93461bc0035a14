// 10,000 requests while every hundredth costs a worker its life: none is lost, none is answered twice, and no client asks again.
import { ProjError } from '@proj/transport';
import { expect, it } from 'vitest';
import { Crew } from '../crew.js';
import { Tally } from '../tally.js';
import { lastCounters, stage } from './stage.js';

const REQUESTS = 10_000;
const PER_KILL = 100;
const WORKERS = 6;
/** Registered workers without which nobody is killed: one must remain. */
const ALIVE_MIN = 2;
/** More than there are workers, so that requests wait as well. */
const SOCKETS = 50;

const theater = stage();

it('0 of 10,000 requests are lost with a worker killed every 100', { timeout: 600_000 }, async () => {
  const { queue, frontend, backend } = await theater.queue();
  const crew = new Crew(WORKERS, (flags) => theater.worker(backend, flags));
  const client = theater.client(frontend, { sockets: SOCKETS });
  const tally = new Tally();
  const ask = async (text: string) => {
    const answer = client.request(text).then(([reply]) => String(reply));
    tally.count(await answer.catch((error: unknown) => (error instanceof ProjError ? error.code : String(error))));
  };

  let killed = 0;
  for (let asked = 0; asked < REQUESTS;) {
    await queue.line('worker-ready', {}, killed + ALIVE_MIN);
    // Every second one is frozen before the queue gives it a request, so that it dies with one in hand.
    const frozen = killed % 2 === 1 ? await crew.takeVictim() : undefined;
    frozen?.kill('SIGSTOP');
    for (const end = asked + PER_KILL; asked < end; asked++) void ask(`request ${asked}`);
    // Half of them are answered and half are under way or waiting: workers are busy.
    await tally.received(asked - PER_KILL / 2);
    const victim = frozen ?? (await crew.takeVictim());
    victim.kill('SIGKILL');
    killed++;
    crew.hire();
  }
  await tally.received(REQUESTS);

  expect(killed).toBe(REQUESTS / PER_KILL);
  const expected = Array.from({ length: REQUESTS }, (_, number) => `request ${number}`);
  expect(expected.filter((text) => tally.answers.get(text) !== 1)).toEqual([]);
  expect(tally.answers.size).toBe(REQUESTS);
  expect(client.stats()).toMatchObject({ calls: REQUESTS, sends: REQUESTS, finals: REQUESTS, dropped: {} });
  const counters = await lastCounters(queue);
  expect(counters).toMatchObject({ requests: REQUESTS, replies: REQUESTS });
  // Otherwise the workers died idle, and nothing has been proved.
  expect(counters.resends).toBeGreaterThan(killed / 4);
});
