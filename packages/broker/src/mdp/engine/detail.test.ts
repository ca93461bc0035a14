import { beforeEach, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/mdp/broker-under-test.js';

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest({ maxAttempts: 2, requestTtlMs: 5000, heartbeatIntervalMs: 10_000 });
});

/** The current detail. */
const detail = () => broker.engine.detail(broker.now);

it('counts a known workload of a service exactly: replies, a resend, an expiry, a refusal', () => {
  broker.ready('w1');
  broker.request('c1', 'a');
  broker.request('c2', 'b');
  broker.advance(30);
  broker.final('w1', 'c1', 'A'); // b waited 30 ms
  broker.advance(10);
  broker.gone('w1'); // b goes back
  broker.advance(20);
  broker.ready('w2'); // and waited 20 ms
  broker.advance(5);
  broker.final('w2', 'c2', 'B');
  broker.request('c1', 'c');
  broker.gone('w2'); // c goes back, and nobody comes
  broker.advance(5000);
  expect(detail().services).toMatchObject([
    {
      name: 'echo',
      requests: 3,
      outcomes: { ok: 2, 'expired-unserved': 1 },
      resends: 2,
      waiting: 0,
      running: 0,
      workers: 0,
      waitMs: { count: 4, sumMs: 50 },
      workMs: { count: 2, sumMs: 35 },
    },
  ]);
  expect(detail().counters).toMatchObject({ requests: 3, replies: 2, resends: 2, dispatches: 4 });
  expect(detail().dropped['expired-unserved']).toBe(1);
});

it('reports how long requests of a service wait and run, now and in total', () => {
  broker.ready('w1');
  broker.request('c1', 'a');
  broker.request('c2', 'b');
  broker.advance(30);
  broker.final('w1', 'c1', 'A');
  broker.request('c3', 'c');
  broker.advance(10);
  const [service] = detail().services;
  expect(service).toMatchObject({
    name: 'echo',
    requests: 3,
    resends: 0,
    outcomes: { ok: 1 },
    waiting: 1,
    oldestWaitingMs: 10,
    running: 1,
    workers: 1,
    waitMs: { count: 2, sumMs: 30 },
    workMs: { count: 1, sumMs: 30 },
  });
});

it('reports the outcome of requests that ended without a reply', () => {
  for (const name of ['w1', 'w2', 'w3']) broker.ready(name);
  broker.request('c1', 'a');
  broker.gone('w1');
  broker.gone('w2'); // its second worker
  expect(detail().services).toMatchObject([{ requests: 1, resends: 1, outcomes: { 'attempts-exhausted': 1 } }]);
});

it('counts a service inside the broker like one of workers', () => {
  broker.serve('time');
  broker.request('c1', 'a', 'time', '0.2');
  broker.advance(7);
  broker.ownFinal(1, 'now');
  const time = detail().services.find(({ name }) => name === 'time');
  expect(time).toMatchObject({ requests: 1, outcomes: { ok: 1 }, workMs: { count: 1, sumMs: 7 } });
});

it('reports what each worker does, since when, and how long it has been silent', () => {
  broker.ready('w1');
  broker.ready('w2');
  broker.advance(5);
  broker.request('c1', 'a');
  broker.advance(20);
  broker.final('w1', 'c1', 'A');
  broker.request('c1', 'b');
  broker.advance(3);
  expect(detail().workers).toEqual([
    {
      id: 'w1',
      services: ['echo'],
      state: 'idle',
      stateMs: 3,
      silentMs: 3,
      running: 0,
      done: 1,
      resends: 0,
      refused: {},
    },
    {
      id: 'w2',
      services: ['echo'],
      state: 'busy',
      stateMs: 3,
      silentMs: 28,
      running: 1,
      done: 0,
      resends: 0,
      refused: {},
    },
  ]);
});

it('reports which clients have open requests, and which peers send garbage', () => {
  broker.ready('w1');
  broker.request('c1', 'a');
  broker.frames('c2', 'MDPC02', '\x09', 'echo', 'x');
  broker.frames('c2', 'nonsense');
  expect(detail().clients).toEqual([
    { id: 'c1', open: 1, refused: {} },
    { id: 'c2', open: 0, refused: expect.any(Object) as object },
  ]);
  const refused = detail().clients[1]?.refused ?? {};
  expect(Object.values(refused).reduce((sum, each) => sum + each, 0)).toBe(2);
});

it('shows the refusals of a peer that has registered again as a worker', () => {
  broker.ready('w1');
  broker.frames('w1', 'MDPW02', '\x09');
  broker.ready('w1');
  const { workers, clients } = detail();
  expect([workers[0]?.refused, clients]).toEqual([{ 'unknown-command': 1 }, []]);
});

it('reports an answered request as lost to its client if that was gone', () => {
  broker.ready('w1');
  broker.request('c1', 'a');
  broker.gone('c1');
  broker.final('w1', 'c1', 'A');
  expect(detail().services[0]?.outcomes).toEqual({ 'client-gone': 1 });
});

it('counts refusals of a known service among its outcomes', () => {
  broker.ready('w1');
  broker.request('c1', 'a');
  broker.drain();
  broker.request('c2', 'b');
  expect(detail().services[0]?.outcomes).toEqual({ draining: 1 });
});

it('continues the figures of a service whose workers return, and keeps none of names without workers', () => {
  broker.ready('w1');
  broker.request('c1', 'a');
  broker.final('w1', 'c1', 'A');
  broker.gone('w1');
  broker.request('c1', 'x', 'unknown');
  broker.advance(5000);
  expect(detail().services.map(({ name, outcomes }) => [name, outcomes])).toEqual([['echo', { ok: 1 }]]);
  broker.ready('w2');
  broker.request('c1', 'b');
  expect(detail().services).toMatchObject([{ name: 'echo', requests: 2, outcomes: { ok: 1 }, workers: 1 }]);
});
