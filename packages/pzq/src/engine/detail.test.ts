import { beforeEach, expect, it } from 'vitest';
import { peerNamed, QueueUnderTest } from '../../test/queue-under-test.js';

let queue: QueueUnderTest;
beforeEach(() => {
  queue = new QueueUnderTest({ ackTimeoutMs: 1000, headers: true });
});

const detail = () => queue.engine.detail('orders', queue.now);
const come = (name: string) => queue.step({ kind: 'consumer-came', outlet: 'queue', peer: peerNamed(name) });
/** The transport passes the offer to this one. */
const take = (name: string) => queue.step({ kind: 'delivered', outlet: 'queue', peer: peerNamed(name) });

it('reports what each consumer has, since when, what it has done, and what came back from it', () => {
  for (const body of ['1', '2', '3', '4', '5']) queue.produce('p', body, body);
  queue.advance(5);
  come('a');
  come('b');
  queue.advance(20);
  take('a'); // 1
  take('a'); // 2
  queue.advance(10);
  queue.ack(1);
  queue.nack(2); // comes back, and is next
  queue.block();
  queue.advance(60);
  take('a'); // 2
  queue.advance(1000); // its lease ends
  queue.block();
  queue.advance(60);
  take('a'); // 2
  queue.advance(7);
  expect(detail().workers).toEqual([
    {
      id: 'a',
      services: ['orders'],
      state: 'busy',
      stateMs: 7,
      silentMs: 1127,
      running: 1,
      done: 1,
      resends: 2,
      refused: {},
    },
    {
      id: 'b',
      services: ['orders'],
      state: 'idle',
      stateMs: 1157,
      silentMs: 1157,
      running: 0,
      done: 0,
      resends: 0,
      refused: {},
    },
  ]);
  expect(detail().services).toMatchObject([
    { name: 'orders', requests: 5, outcomes: { ok: 1 }, resends: 2, running: 1, workers: 2 },
  ]);
});

it('reports refusals of consumers, even of those that have left', () => {
  come('a');
  come('b');
  const say = (name: string, key: string) =>
    queue.step({
      kind: 'consumer',
      outlet: 'queue',
      peer: peerNamed(name),
      command: { kind: 'consumer-ack', key: Buffer.from(key), positive: true },
    });
  say('a', 'x');
  say('b', 'x');
  say('b', 'y');
  queue.step({ kind: 'rejected', socket: 'queue', peer: peerNamed('a'), reason: 'too-large' });
  queue.step({ kind: 'consumer-gone', outlet: 'queue', peer: peerNamed('b') });
  expect(detail().workers).toMatchObject([{ id: 'a', refused: { 'key-unknown': 1, 'too-large': 1 } }]);
  expect(detail().clients).toEqual([{ id: 'b', open: 0, refused: { 'key-unknown': 2 } }]);
});

it('counts waiting from when a message was stored, even before a restart and beyond the window', () => {
  for (let n = 0; n < 30; n++) queue.produce('p', `${n}`, 'x');
  queue.advance(10_000);
  queue.restart();
  expect(detail().services[0]).toMatchObject({ requests: 0, waiting: 30, oldestWaitingMs: 10_000 });
  queue.advance(500);
  queue.accept(25);
  expect(detail().services[0]?.waitMs).toMatchObject({ count: 25, sumMs: 25 * 10_500 });
});

it('counts waiting from when its delay was over or it came back', () => {
  queue.produceFrames('p', ['id', 'PZQ-DELAY-MS:400', '', 'x']);
  queue.advance(100);
  expect(detail().services[0]).toMatchObject({ waiting: 0, oldestWaitingMs: 0 });
  queue.advance(350);
  expect(detail().services[0]).toMatchObject({ waiting: 1, oldestWaitingMs: 50 });
  queue.accept(1);
  queue.advance(30);
  queue.nack(1);
  queue.advance(20);
  expect(detail().services[0]).toMatchObject({ waiting: 1, oldestWaitingMs: 20, waitMs: { count: 1, sumMs: 50 } });
});

it('counts commits by how long they took, including failed ones', () => {
  queue.storeHeld = true;
  queue.produce('p', '1', '1');
  queue.advance(5);
  queue.answerStore();
  queue.produce('p', '2', '2');
  queue.advance(7);
  queue.takeAsked('commit');
  queue.step({ kind: 'commit-failed', code: 'ENOSPC' });
  expect(detail().commitMs).toMatchObject({ count: 2, sumMs: 12 });
  expect(detail().gauges).toMatchObject({ storeOk: 0, messages: 1 });
  expect(detail().services[0]?.outcomes).toEqual({ 'store-unavailable': 1 });
});

it('counts an acknowledgement of a message that is no longer in memory', () => {
  queue.produce('p', '1', '1');
  queue.accept(1);
  const key = queue.keyOf(1);
  queue.restart();
  queue.consumer({ kind: 'consumer-ack', key, positive: true });
  expect(detail().services[0]).toMatchObject({ outcomes: { ok: 1 }, workMs: { count: 0 }, waiting: 0 });
});
