import { beforeEach, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/nfp/broker-under-test.js';

const BAD = ['header', 'command', 'direction', 'short', 'shape', 'service', 'target', 'uuid', 'status'] as const;

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest({ settleMs: 0, requestTtlMs: 5000, returnMs: 2000, maxAttempts: 1 });
});

/** The current detail. */
const detail = () => broker.engine.detail(broker.now);
const service = (name = 'sample') => detail().services.find((each) => each.name === name);
const worker = (id: string) => detail().workers.find((each) => each.id === id);

/** The worker says it has the job, and then its result. */
const does = (name: string, client: string, uuid: string, ms: number) => {
  broker.answer(name, 'response', client, uuid, 202);
  broker.advance(ms);
  broker.answer(name, 'response', client, uuid, 200);
};

it('counts a known workload exactly: results, failures, a resend, an expiry, refusals, bad frames of each kind', () => {
  broker.post('c1', 'early', 'any'); // nobody serves it, and nobody ever has: refused
  broker.ready('w1');
  broker.post('c1', 'j1', 'any');
  does('w1', 'c1', 'j1', 30);
  broker.post('c1', 'j2', 'any');
  broker.answer('w1', 'response', 'c1', 'j2', 500);
  broker.ready('w2');
  broker.post('c2', 'j3', 'any'); // to w1, which dies before it says a word: to w2 at once
  broker.advance(10);
  broker.gone('w1');
  broker.advance(20);
  does('w2', 'c2', 'j3', 5);
  broker.gone('w2');
  broker.post('c2', 'j4', 'any'); // nobody is there
  broker.advance(4000);
  expect(service()).toMatchObject({ waiting: 1, oldestWaitingMs: 4000, running: 0, workers: 0 });
  broker.advance(1000); // expires
  for (const reason of BAD) broker.message('bad', { kind: 'malformed', reason, side: 'unknown' });
  for (const reason of ['too-large', 'too-many-frames', 'no-frames'] as const) broker.rejected('bad', reason);
  broker.ready('w3');
  broker.post('c3', 'j5', 'nobody');
  broker.call('c3', 'put', 'j6', 'nobody');
  expect(service()).toMatchObject({
    requests: 4,
    outcomes: { ok: 2, failed: 1, expired: 1, 'no-worker': 1 },
    resends: 1,
    waiting: 0,
    oldestWaitingMs: 0,
    running: 0,
    workers: 1,
    waitMs: { count: 4, sumMs: 0 },
    workMs: { count: 2, sumMs: 30 + 25 },
  });
  const { counters, dropped, clients } = detail();
  expect(counters).toMatchObject({ callsPost: 6, callsPut: 1, redispatches: 1, queued: 1, workersReady: 3 });
  const bad = Object.fromEntries([...BAD, 'too-large', 'too-many-frames', 'no-frames'].map((reason) => [reason, 1]));
  expect(Object.entries(dropped).filter(([, count]) => count > 0)).toEqual(
    expect.arrayContaining(Object.entries({ ...bad, 'no-worker': 2, expired: 1, 'put-unserved': 1 })),
  );
  expect([...clients].sort((a, b) => a.id.localeCompare(b.id))).toEqual([
    { id: 'bad', open: 0, refused: bad },
    { id: 'c1', open: 0, refused: { 'no-worker': 1 } },
    { id: 'c2', open: 0, refused: { expired: 1 } },
    { id: 'c3', open: 0, refused: { 'no-worker': 1, 'put-unserved': 1 } },
  ]);
});

it('counts a job for several workers as one request, which runs and ends at each of them', () => {
  for (const name of ['w1', 'w2', 'w3']) broker.ready(name);
  broker.post('c1', 'j1');
  expect(service()).toMatchObject({ requests: 1, running: 3, outcomes: {} });
  expect(detail().clients).toEqual([{ id: 'c1', open: 3, refused: {} }]);
  broker.advance(10);
  broker.answer('w1', 'response', 'c1', 'j1', 200);
  broker.answer('w2', 'response', 'c1', 'j1', 404);
  expect(service()).toMatchObject({ requests: 1, running: 1, outcomes: { ok: 1, 'job-unknown': 1 } });
  broker.call('c1', 'delete', 'j1');
  expect(service()).toMatchObject({ running: 0, outcomes: { ok: 1, 'job-unknown': 1, cancelled: 1 } });
  expect(detail().clients).toEqual([]);
});

it('reports how long jobs wait for an absent worker, and which worker that is', () => {
  broker.ready('w1');
  broker.gone('w1');
  broker.advance(100);
  broker.post('c1', 'j1', 'w1');
  broker.advance(50);
  expect(service()).toMatchObject({ requests: 1, waiting: 1, oldestWaitingMs: 50, running: 0, workers: 0 });
  expect(detail().workers).toEqual([
    {
      id: 'w1',
      services: ['sample'],
      state: 'away',
      stateMs: 150,
      silentMs: 150,
      running: 0,
      done: 0,
      resends: 0,
      refused: {},
    },
  ]);
  expect(detail().clients).toEqual([{ id: 'c1', open: 1, refused: {} }]);
  broker.ready('w1');
  broker.advance(7);
  broker.answer('w1', 'response', 'c1', 'j1', 200);
  expect(service()).toMatchObject({
    outcomes: { ok: 1 },
    waiting: 0,
    waitMs: { count: 1, sumMs: 50 },
    workMs: { count: 1, sumMs: 7 },
  });
});

it('reports what each worker does, since when, what it has done, and which of its jobs went to others', () => {
  broker.ready('w1');
  broker.ready('w2');
  broker.advance(5);
  broker.post('c1', 'j1', 'any');
  broker.advance(20);
  broker.answer('w1', 'response', 'c1', 'j1', 200);
  broker.post('c1', 'j2', 'any');
  broker.advance(3);
  broker.frames('w2', '', 'NFPW01', '0x99');
  expect(worker('w2')).toMatchObject({ refused: { command: 1 } });
  expect(detail().clients).toMatchObject([{ id: 'c1' }]);
  expect(detail().workers).toMatchObject([
    { id: 'w1', state: 'idle', stateMs: 3, silentMs: 3, running: 0, done: 1, resends: 0, refused: {} },
    { id: 'w2', state: 'busy', stateMs: 3, silentMs: 28, running: 1, done: 0, resends: 0 },
  ]);
  broker.gone('w2');
  expect(worker('w2')).toMatchObject({ state: 'away', resends: 1 });
  expect(worker('w1')).toMatchObject({ state: 'busy', running: 1 });
});

it('reports that a job given up after several workers ended once, and was resent', () => {
  for (const name of ['w1', 'w2', 'w3']) broker.ready(name);
  broker.post('c1', 'j1', 'any');
  broker.gone('w1');
  broker.gone('w2'); // its second worker: one resend is all it gets
  expect(service()).toMatchObject({ requests: 1, resends: 1, running: 0, outcomes: { 'worker-lost': 1 } });
});

it('keeps the figures of a service whose only worker is away', () => {
  broker.ready('w1');
  broker.post('c1', 'j1', 'any');
  broker.answer('w1', 'response', 'c1', 'j1', 200);
  broker.gone('w1');
  expect(service()).toMatchObject({ requests: 1, workers: 0 });
  broker.ready('w1');
  expect(service()).toMatchObject({ requests: 1, outcomes: { ok: 1 }, workers: 1 });
});

it('counts jobs for service all separately from those of the services that do them', () => {
  broker.ready('w1');
  broker.post('c1', 'j1', 'all', 'all');
  broker.answer('w1', 'response', 'c1', 'j1', 200);
  expect(service('all')).toMatchObject({ requests: 1, outcomes: { ok: 1 }, workers: 0 });
  expect(service()).toMatchObject({ requests: 0 });
});

it('forgets services that never had a worker, and all but a thousand of the others', () => {
  const open = new BrokerUnderTest({ queueForService: true, requestTtlMs: 10, registrationsPerSecondMax: 10_000 });
  open.post('c1', 'j', 'any', 'asked');
  expect(open.engine.detail(open.now).services).toHaveLength(1);
  open.advance(10);
  expect(open.engine.detail(open.now).services).toHaveLength(0);
  for (let i = 0; i < 1100; i++) {
    open.ready('w', `s${i}`);
    open.disconnect('w', `s${i}`);
  }
  const names = open.engine.detail(open.now).services.map(({ name }) => name);
  expect([names.length, names[0], names.at(-1)]).toEqual([1000, 's100', 's1099']);
});
