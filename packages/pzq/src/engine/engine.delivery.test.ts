import { fromLatin1 } from '@proj/frames';
import { encodePzqKey } from '@proj/frames/pzq';
import { beforeEach, describe, expect, it } from 'vitest';
import { EPOCH_MICROS, QueueUnderTest } from '../../test/queue-under-test.js';

let queue: QueueUnderTest;
beforeEach(() => {
  queue = new QueueUnderTest();
});

/** Messages 1 to `count`, each with its number as body. */
function fill(count: number, from = 1): void {
  for (let n = from; n < from + count; n++) queue.produce('p', `${n}`, `${n}`);
}

const numbers = () => queue.delivered.map(Number);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('rule 10: order', () => {
  it('rule 10: one consumer and no redelivery: first in, first out, however long the queue is', () => {
    fill(200);
    for (const seq of upTo(200)) {
      queue.accept(1);
      queue.ack(seq);
    }
    expect(numbers()).toEqual(upTo(200));
  });

  it('rule 10: setting the clock back changes nothing', () => {
    fill(3);
    queue.wallOffset = -3_600_000_000;
    fill(3, 4);
    queue.accept(6);
    expect(numbers()).toEqual(upTo(6));
  });

  it('rule 10: a long queue costs the memory of the window', () => {
    fill(200);
    expect([queue.stats.window, queue.stats.ready]).toEqual([20, 200]);
    queue.accept(15);
    expect(queue.stats.window).toBeLessThanOrEqual(20);
  });

  it('rule 10: a large window is filled in portions', () => {
    queue = new QueueUnderTest({ windowMax: 5000, windowMaxBytes: 10_000_000, intakeMax: 5000, batchMax: 1000 });
    fill(1500);
    queue.restart();
    expect(queue.stats.window).toBe(1499);
    queue.storeHeld = true;
    queue.restart();
    expect(queue.asked).toEqual([{ kind: 'load', outlet: 'queue', after: 0, limit: 1024, maxBytes: 4_194_304 }]);
  });

  it('rule 10: the window is bounded in bytes; a single message may be larger', () => {
    queue = new QueueUnderTest({ windowMaxBytes: 500 });
    for (let i = 0; i < 5; i++) queue.produce('p', `${i}`, 'x'.repeat(200));
    // The first one is offered, two are ready.
    expect(queue.stats.window).toBe(2);
    queue = new QueueUnderTest({ windowMaxBytes: 500 });
    for (let i = 0; i < 3; i++) queue.produce('p', `${i}`, 'x'.repeat(900));
    expect(queue.stats.window).toBe(1);
    queue.accept(3);
    expect(queue.deliveries).toHaveLength(3);
  });

  it('rule 10: a message that a read shows before its commit is reported waits for the report', () => {
    fill(40);
    queue.accept(12);
    queue.storeHeld = true;
    fill(1, 41);
    // The store has it, but the engine does not know yet; the load sees it.
    const [, ...later] = queue.asked;
    expect(later).toEqual([]);
    queue.accept(1);
    queue.storeHeld = false;
    queue.answerStore();
    queue.accept(40);
    expect(numbers()).toEqual(upTo(41));
  });
});

describe('rule 11: messages that come back', () => {
  it('rule 11: after a negative acknowledgement it is first again, before all that were not delivered', () => {
    fill(5);
    queue.accept(2);
    queue.nack(1);
    expect(queue.accept(1)).toEqual(['-> #3 "3"']);
    expect(queue.accept(1)).toEqual(['-> #1 "1"']);
    expect(queue.accept(1)).toEqual(['-> #4 "4"']);
  });

  it('rule 11: after the timeout, too', () => {
    fill(5);
    queue.accept(2);
    queue.advance(1000);
    queue.accept(4);
    expect(numbers()).toEqual([1, 2, 3, 1, 2, 4]);
    expect(queue.stats.counters.timedOut).toBe(2);
  });

  it('rule 11: several that came back are offered lowest first, in whatever order they came', () => {
    fill(6);
    queue.accept(4);
    for (const seq of [3, 1, 4, 2]) queue.nack(seq);
    queue.accept(5);
    expect(numbers().slice(5)).toEqual([1, 2, 3, 4]);
  });

  it('rule 11: an idle consumer gets it back within the same step', () => {
    fill(1);
    queue.accept(2);
    expect(numbers()).toEqual([1]);
    expect(queue.nack(1)).toEqual(['-> #1 "1"']);
  });
});

describe('rule 12: leases', () => {
  it('rule 12: a lease begins when the socket accepts the delivery, and ends exactly ackTimeoutMs later', () => {
    fill(1);
    queue.advance(700);
    queue.accept(1);
    queue.advance(999);
    expect(queue.stats.counters.timedOut).toBe(0);
    queue.advance(1);
    expect(queue.stats.counters.timedOut).toBe(1);
  });

  it('rule 12: an offer that no consumer took is made again, with a new time', () => {
    fill(1);
    queue.advance(80);
    expect(queue.block()).toEqual([]);
    expect(queue.accept(1)).toEqual(['-> #1 "1"']);
    expect(queue.deliveries[0]!.command.sentMicros).toBe(EPOCH_MICROS + 80_000);
  });

  it('rule 12: offers that fail at once are 50 ms apart', () => {
    fill(1);
    queue.block();
    queue.accept(1);
    expect(queue.deliveries).toEqual([]);
    queue.advance(49);
    expect(queue.deliveries).toEqual([]);
    expect(queue.advance(1)).toEqual(['50ms: -> #1 "1"']);
  });

  it('rule 12: a process that was busy allows acknowledgements in its sockets as much extra time', () => {
    fill(1);
    queue.accept(1);
    expect(queue.stall(1500)).toEqual(['note running-late 500ms']);
    queue.advance(499);
    expect(queue.stats.counters.timedOut).toBe(0);
    queue.advance(1);
    expect(queue.stats.counters.timedOut).toBe(1);
  });

  it('rule 12: setting clocks does not move a lease', () => {
    fill(1);
    queue.accept(1);
    queue.wallOffset = 3_600_000_000;
    queue.advance(999);
    expect(queue.stats.inFlight).toBe(1);
  });
});

describe('rules 13 and 14: acknowledgements', () => {
  it('rule 13: a positive one removes with the next commit, and the message never comes back', () => {
    fill(2);
    queue.accept(1);
    queue.ack(1);
    expect([...queue.store.rows.keys()]).toEqual([2]);
    queue.advance(5000);
    queue.accept(1);
    expect(numbers()).toEqual([1, 2]);
  });

  it('rule 13: nor does it while its removal is not written', () => {
    fill(1);
    queue.accept(1);
    queue.storeHeld = true;
    queue.ack(1);
    queue.advance(2000);
    queue.accept(5);
    expect([numbers(), queue.stats.inFlight]).toEqual([[1], 0]);
  });

  it('rule 13: nor does a read that started before bring it back', () => {
    fill(60);
    queue.accept(10);
    queue.storeHeld = true;
    queue.accept(2);
    expect(queue.takeAsked('load')).toMatchObject({ after: 21 });
    const messages = queue.store.scan(21, 20, 5000);
    queue.ack(30);
    queue.answerStore();
    expect([messages.some(({ seq }) => seq === 30), queue.store.rows.has(30)]).toEqual([true, false]);
    queue.storeHeld = false;
    queue.step({ kind: 'loaded', outlet: 'queue', messages });
    queue.accept(60);
    expect(numbers()).toEqual(upTo(60).filter((n) => n !== 30));
  });

  it('rule 14: a late positive one removes a message that is ready again', () => {
    fill(2);
    queue.accept(1);
    queue.advance(1000);
    queue.ack(1);
    queue.accept(2);
    expect([numbers(), queue.store.rows.size, queue.stats.counters]).toMatchObject([
      [1, 2],
      1,
      { acked: 1, ackedLate: 1 },
    ]);
  });

  it('rule 14: and one that is in flight at another consumer', () => {
    fill(1);
    queue.accept(2);
    queue.advance(1000);
    expect(numbers()).toEqual([1, 1]);
    queue.ack(1);
    queue.advance(5000);
    expect([numbers(), queue.store.rows.size]).toEqual([[1, 1], 0]);
  });

  it('rule 14: and one that is only on disk, or from an earlier run of the server', () => {
    fill(50);
    queue.accept(1);
    const key = queue.keyOf(1);
    queue.restart();
    queue.consumer({ kind: 'consumer-ack', key, positive: true });
    queue.ack(45);
    expect([queue.store.rows.has(1), queue.store.rows.has(45)]).toEqual([false, false]);
    expect(queue.stats.counters.acked).toBe(2);
  });

  it('rule 14: and one whose offer is still open', () => {
    fill(2);
    queue.ack(1);
    expect(queue.block()).toEqual([]);
    queue.advance(50);
    queue.accept(5);
    expect(numbers()).toEqual([2]);
  });

  it('rule 14: a late negative one of a ready message does nothing', () => {
    fill(2);
    queue.accept(1);
    queue.advance(1000);
    queue.nack(1);
    queue.accept(2);
    const { nacked, dropped } = queue.stats.counters;
    expect([numbers(), nacked, dropped['key-unknown']]).toEqual([[1, 2, 1], 0, 0]);
  });

  it('rule 14: a negative one for an open offer counts once it is delivered', () => {
    fill(2);
    queue.nack(1);
    queue.accept(1);
    expect([queue.stats.inFlight, queue.stats.counters.nacked]).toEqual([0, 1]);
    queue.accept(1);
    expect(numbers()).toEqual([1, 1]);
    queue.nack(2);
    queue.block();
    queue.advance(50);
    queue.accept(1);
    expect(queue.stats.inFlight).toBe(2);
  });

  it('rule 13: a repeated acknowledgement is counted and does nothing', () => {
    fill(1);
    queue.accept(1);
    queue.ack(1);
    expect(queue.ack(1)).toEqual(['note message-dropped key-unknown queue']);
    queue.storeHeld = true;
    expect(queue.stats.counters.acked).toBe(1);
  });
});

describe('rule 15: keys', () => {
  const key = (parts: { storedMicros?: number; epoch?: bigint; seq?: number }) =>
    encodePzqKey({ storedMicros: EPOCH_MICROS, epoch: queue.store.epoch, seq: 1, ...parts });

  it.each([
    ['of another store', () => key({ epoch: 1n })],
    ['of another time', () => key({ storedMicros: 5 })],
    ['of a sequence that was never given out', () => key({ seq: 99 })],
    ['of another shape', () => fromLatin1('1795199726332593')],
    ['blank', () => fromLatin1('')],
  ])('rule 15: one %s is counted and does nothing', (_, make) => {
    fill(1);
    queue.accept(1);
    const lines = queue.consumer({ kind: 'consumer-ack', key: make(), positive: true });
    expect(lines).toEqual(['note message-dropped key-unknown queue']);
    expect([queue.dropped, queue.stats.inFlight, queue.store.rows.size]).toEqual([{ 'key-unknown': 1 }, 1, 1]);
  });

  it('rule 15: one with another time for a message on disk does nothing either', () => {
    fill(60);
    queue.consumer({ kind: 'consumer-ack', key: key({ seq: 50, storedMicros: 5 }), positive: true });
    expect([queue.store.rows.has(50), queue.dropped, queue.stats.counters.acked]).toEqual([
      true,
      { 'key-unknown': 1 },
      0,
    ]);
  });

  it('rule 15: anything but an acknowledgement is counted', () => {
    queue.consumer({ kind: 'malformed', reason: 'no-frames' });
    expect(queue.dropped).toEqual({ 'no-frames': 1 });
  });
});

describe('rules 16 and 17: bounds in flight', () => {
  it('rule 16: at maxInFlight deliveries wait, and nothing is evicted', () => {
    queue = new QueueUnderTest({ maxInFlight: 3 });
    fill(5);
    queue.accept(5);
    expect(numbers()).toEqual([1, 2, 3]);
    queue.ack(2);
    expect(numbers()).toEqual([1, 2, 3, 4]);
  });

  it('rule 16: also at maxInFlightBytes; one message may be larger', () => {
    queue = new QueueUnderTest({ maxInFlightBytes: 100 });
    for (const size of [60, 60, 500]) queue.produce('p', 'id', 'x'.repeat(size));
    queue.accept(5);
    expect(queue.deliveries).toHaveLength(1);
    queue.ack(1);
    expect(queue.deliveries).toHaveLength(2);
    queue.ack(2);
    expect(queue.deliveries).toHaveLength(3);
  });

  it('rule 16: a thousand empty frames take memory as well', () => {
    queue = new QueueUnderTest({ maxParts: 1000, maxInFlightBytes: 200_000 });
    for (let index = 0; index < 3; index++) queue.produce('p', 'id', ...new Array<string>(1000).fill(''));
    queue.accept(5);
    expect(queue.deliveries).toHaveLength(1);
    queue.ack(1);
    expect(queue.deliveries).toHaveLength(2);
  });

  it('rule 16: messages are offered one at a time', () => {
    queue.storeHeld = false;
    fill(5);
    queue.accept(1);
    expect([queue.stats.inFlight, queue.stats.window]).toEqual([1, 3]);
  });

  it('rule 17: without a consumer nothing is in flight, for any length of time', () => {
    fill(3);
    for (let i = 0; i < 50; i++) {
      queue.block();
      queue.advance(100);
    }
    expect([queue.stats.inFlight, queue.stats.counters.timedOut, queue.stats.ready]).toEqual([0, 0, 3]);
    queue.accept(3);
    expect(numbers()).toEqual([1, 2, 3]);
  });
});

describe('rule 20: start', () => {
  it('rule 20: everything unacknowledged is ready at once, in order, under the same keys', () => {
    fill(30);
    queue.accept(10);
    queue.ack(3);
    const key = queue.keyOf(1);
    queue.restart();
    queue.accept(30);
    expect(numbers().slice(10)).toEqual(upTo(30).filter((n) => n !== 3));
    expect(queue.deliveries[10]!.command.key).toEqual(key);
  });

  it('rule 20: a sequence is never reused, not even after the queue was empty', () => {
    fill(2);
    queue.accept(2);
    queue.ack(1);
    queue.ack(2);
    queue.restart();
    fill(1);
    expect([...queue.store.rows.keys()]).toEqual([3]);
  });

  it('rule 20: a read that fails is noted and tried again', () => {
    fill(30);
    queue.storeHeld = true;
    queue.restart();
    expect(queue.step({ kind: 'load-failed', outlet: 'queue', code: 'EIO' })).toEqual(['note read-failed EIO']);
    queue.storeHeld = false;
    queue.advance(299);
    queue.accept(1);
    expect(numbers()).toEqual([]);
    queue.advance(1);
    expect(numbers()).toEqual([1]);
  });
});
