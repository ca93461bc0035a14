import type { EmqpMalformedReason } from '@proj/frames/emqp';
import { memoryRecords } from '@proj/transport';
import { beforeEach, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/emqp/broker-under-test.js';
import { peerNamed } from '../../../test/keyed.js';

const BAD: readonly EmqpMalformedReason[] = [
  ...(['too-few-frames', 'no-empty-frame', 'version', 'unknown-command', 'wrong-direction', 'id-invalid'] as const),
  ...(['frame-count', 'inform-type', 'queues-invalid', 'queue-invalid', 'no-interval', 'interval-too-long'] as const),
  ...(['headers-too-long', 'cron-too-long', 'topic-empty', 'topic-too-long', 'text-invalid'] as const),
];

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest({ queueMax: 2, defaultQueueMax: 2, unknownQueue: 'wait', requestTtlMs: 2000 });
});

/** The current detail. */
const detail = () => broker.engine.detail(broker.now);
const queue = (name: string) => detail().services.find((each) => each.name === name);
const worker = (id: string) => detail().workers.find((each) => each.id === id);

it('counts a known workload exactly: results, a resend, a loss, refusals, bad frames of each kind', () => {
  broker.inform('w1', 'mail');
  broker.ready('w1', 2);
  broker.request('c1', 'j1', 'mail', 'reply-requested');
  broker.request('c1', 'j2', 'mail', 'reply-requested,guarantee');
  broker.request('c2', 'j3', 'mail', 'reply-requested'); // waits
  broker.request('c2', 'j4', 'mail');
  broker.request('c2', 'j5', 'mail'); // one too many
  broker.advance(30);
  broker.reply('w1', 'j1');
  broker.ready('w1'); // j3
  broker.advance(5);
  expect(queue('mail')).toMatchObject({ requests: 4, waiting: 1, oldestWaitingMs: 35, running: 2, workers: 1 });
  broker.inform('w2', 'mail');
  broker.gone('w1'); // j2 goes to the front, j3 is lost
  broker.advance(10);
  broker.ready('w2', 2); // j2, j4
  broker.advance(7);
  broker.reply('w2', 'j2');
  broker.ready('w2', 2); // j4, and a slot
  for (const reason of BAD) {
    const command = { kind: 'malformed', reason } as const;
    broker.step({ kind: 'message', port: 'frontend', peer: peerNamed('bad'), command });
  }
  for (const reason of ['too-large', 'too-many-frames', 'no-frames'] as const) broker.rejected('bad', reason);
  expect(queue('mail')).toMatchObject({
    requests: 4,
    outcomes: { ok: 3, 'jobs-lost': 1, 'queue-full': 1 },
    resends: 1,
    waiting: 0,
    oldestWaitingMs: 0,
    running: 0,
    workers: 1,
    waitMs: { count: 5, sumMs: 30 + 10 + 45 },
    workMs: { count: 3, sumMs: 30 + 7 + 7 },
  });
  const { counters, dropped, clients } = detail();
  expect(counters).toMatchObject({ requests: 4, dispatches: 5, resends: 1, processed: 3, peersJoined: 2 });
  const bad = Object.fromEntries([...BAD, 'too-large', 'too-many-frames', 'no-frames'].map((reason) => [reason, 1]));
  expect(Object.fromEntries(Object.entries(dropped).filter(([, count]) => count > 0))).toEqual({
    ...bad,
    'queue-full': 1,
    'jobs-lost': 1,
  });
  expect(clients).toEqual([
    { id: 'c2', open: 0, refused: { 'queue-full': 1, 'jobs-lost': 1 } },
    { id: 'bad', open: 0, refused: bad },
  ]);
});

it('reports what each worker does, since when, and what it has done', () => {
  broker.inform('w1', 'mail', 'default');
  broker.inform('w2', 'mail');
  broker.scheduler('s1');
  broker.advance(5);
  broker.ready('w1');
  broker.request('c1', 'j1', 'mail', 'reply-requested');
  broker.advance(20);
  broker.reply('w1', 'j1');
  broker.ready('w2');
  broker.advance(3);
  broker.request('c1', 'j2', 'mail', 'reply-requested');
  broker.advance(4);
  expect(detail().workers).toEqual([
    {
      id: 'w1',
      services: ['default', 'mail'],
      state: 'idle',
      stateMs: 7,
      silentMs: 7,
      running: 0,
      done: 1,
      resends: 0,
      refused: {},
    },
    {
      id: 'w2',
      services: ['mail'],
      state: 'busy',
      stateMs: 4,
      silentMs: 7,
      running: 1,
      done: 0,
      resends: 0,
      refused: {},
    },
    {
      id: 's1',
      services: ['scheduler'],
      state: 'idle',
      stateMs: 32,
      silentMs: 32,
      running: 0,
      done: 0,
      resends: 0,
      refused: {},
    },
  ]);
  expect(detail().clients).toEqual([{ id: 'c1', open: 1, refused: {} }]);
  broker.bye('w2');
  expect(worker('w2')).toMatchObject({ state: 'away', running: 1, stateMs: 0 });
  expect(detail().gauges).toMatchObject({ workers: 1, schedulers: 1, leaving: 1, slots: 0, openRequests: 1 });
});

it('counts a job that waited too long for a worker as moved, and as a request of the other queue', () => {
  broker.request('c1', 'j1', 'mail', 'reply-requested');
  expect(queue('mail')).toMatchObject({ requests: 1, waiting: 1, workers: 0 });
  broker.advance(2000);
  expect(queue('mail')).toBeUndefined();
  expect(queue('default')).toMatchObject({ requests: 1, waiting: 1 });
  broker.inform('w1', 'default');
  broker.ready('w1');
  broker.reply('w1', 'j1');
  expect(queue('default')).toMatchObject({ outcomes: { ok: 1 }, waitMs: { count: 1, sumMs: 2000 } });
});

it('counts jobs that end in silence as unconfirmed, and those that READY ends as done', () => {
  broker.inform('w1', 'mail');
  broker.ready('w1', 2);
  broker.request('c1', 'j1', 'mail');
  broker.request('c1', 'j2', 'mail');
  broker.advance(9);
  broker.ready('w1');
  broker.bye('w1');
  expect(queue('mail')).toMatchObject({
    requests: 2,
    outcomes: { ok: 1, unconfirmed: 1 },
    running: 0,
    workers: 0,
    workMs: { count: 1, sumMs: 9 },
  });
});

it('reports which worker had jobs resent because one of its processes was replaced', () => {
  broker.inform('w1', 'mail');
  broker.ready('w1', 2);
  broker.request('c1', 'j1', 'mail', 'reply-requested,retry-count:1');
  broker.request('c1', 'j2', 'mail', 'reply-requested,retry-count:1');
  broker.live(11_000, 'w1');
  broker.ready('w1'); // for neither of them
  broker.reply('w1', 'j1'); // so it was j2's
  expect(worker('w1')).toMatchObject({ resends: 1, done: 1 });
  expect(queue('mail')).toMatchObject({ resends: 1, running: 1 });
});

it('counts refusals of the store, and jobs left in it, in their queue', () => {
  const stored = new BrokerUnderTest({ unknownQueue: 'wait', store: memoryRecords() });
  stored.inform('w1', 'mail');
  stored.request('c1', 'j1', 'mail', 'guarantee');
  stored.stored(1, 'disk full');
  stored.request('c1', 'j2', 'mail', 'guarantee');
  stored.stored(2);
  expect(stored.engine.detail(stored.now).services).toMatchObject([
    { name: 'mail', requests: 1, outcomes: { 'store-failed': 1 }, waiting: 1 },
  ]);
});
