import { beforeEach, describe, expect, it } from 'vitest';
import { EPOCH_MICROS, QueueUnderTest } from '../../test/queue-under-test.js';

let queue: QueueUnderTest;
beforeEach(() => {
  queue = new QueueUnderTest();
});

const answers = (lines: string[]) => lines.filter((line) => line.startsWith('->'));

describe('rule 32: delays', () => {
  it('rule 32: with delayMs a message is ready that long after it was stored', () => {
    queue = new QueueUnderTest({ delayMs: 500 });
    queue.accept(1);
    queue.produce('p', 'a', 'x');
    expect([queue.stats.delayed, queue.stats.ready]).toEqual([1, 0]);
    expect(queue.advance(499)).toEqual([]);
    expect(queue.advance(1)).toEqual(['500ms: -> #1 "x"']);
    expect(queue.store.counts.delayed).toBe(0);
  });

  it('rule 32: a header sets its own delay, if headers are read', () => {
    queue = new QueueUnderTest({ headers: true, delayMs: 500 });
    queue.accept(3);
    queue.produceFrames('p', ['a', 'PZQ-DELAY-MS:100', '', 'slow']);
    queue.produceFrames('p', ['b', 'PZQ-DELAY-MS:0', '', 'fast']);
    expect(queue.delivered).toEqual(['fast']);
    expect(queue.advance(100)).toEqual(['100ms: -> #1 "slow"']);
    expect(queue.stats.counters.headersDropped).toBe(0);
  });

  it('rule 32: when its time has come it takes its place by sequence', () => {
    queue = new QueueUnderTest({ headers: true });
    queue.produceFrames('p', ['a', 'PZQ-DELAY-MS:100', '', '1']);
    for (const n of ['2', '3', '4']) queue.produce('p', n, n);
    queue.accept(1);
    queue.advance(100);
    queue.accept(3);
    expect(queue.delivered).toEqual(['2', '3', '1', '4']);
  });

  it('rule 11: but behind messages that came back, which go before all that were not delivered', () => {
    queue = new QueueUnderTest({ headers: true });
    queue.produceFrames('p', ['a', 'PZQ-DELAY-MS:100', '', '1']);
    for (const n of ['2', '3', '4']) queue.produce('p', n, n);
    queue.accept(1);
    queue.advance(100);
    queue.nack(2);
    queue.accept(4);
    expect(queue.delivered).toEqual(['2', '3', '2', '1', '4']);
  });

  it('rule 32: survives a restart', () => {
    queue = new QueueUnderTest({ delayMs: 500 });
    queue.produce('p', 'a', 'x');
    queue.advance(300);
    queue.restart();
    queue.accept(1);
    expect(queue.advance(199)).toEqual([]);
    expect(queue.advance(1)).toEqual(['500ms: -> #1 "x"']);
  });

  it('rule 32: follows the wall clock, which is read at least every minute', () => {
    queue = new QueueUnderTest({ delayMs: 3_600_000 });
    queue.produce('p', 'a', 'x');
    queue.accept(1);
    queue.wallOffset = 3_600_000_000;
    expect(queue.advance(60_000)).toEqual(['60000ms: -> #1 "x"']);
  });

  it('rule 32: many at once come in portions, each message once', () => {
    queue = new QueueUnderTest({ delayMs: 500, maxInFlight: 1000, windowMax: 200, windowMaxBytes: 100_000 });
    for (let n = 0; n < 300; n++) queue.produce('p', `${n}`, `${n}`);
    queue.accept(300);
    queue.advance(600);
    expect(queue.delivered.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, n) => n));
  });

  it('rule 32: is reported again if the commit that answers it fails', () => {
    queue = new QueueUnderTest({ delayMs: 500 });
    queue.produce('p', 'a', 'x');
    queue.accept(1);
    queue.store.failing = 'EIO';
    queue.advance(600);
    expect([queue.delivered, queue.store.counts.delayed]).toEqual([['x'], 1]);
    queue.store.failing = undefined;
    queue.advance(300);
    expect([queue.delivered, queue.store.counts.delayed]).toEqual([['x'], 0]);
  });

  it('rule 32: a failed read is retried', () => {
    queue = new QueueUnderTest({ delayMs: 500 });
    queue.produce('p', 'a', 'x');
    queue.accept(1);
    queue.storeHeld = true;
    queue.advance(500);
    queue.takeAsked('due');
    expect(queue.step({ kind: 'due-failed', code: 'EIO' })).toEqual(['note read-failed EIO']);
    queue.storeHeld = false;
    expect(queue.advance(300)).toEqual(['800ms: -> #1 "x"']);
  });
});

describe('rule 33: time to live', () => {
  it('rule 33: a message older than ttlMs is removed undelivered and counted, not as a timeout', () => {
    queue = new QueueUnderTest({ ttlMs: 500 });
    queue.produce('p', 'a', 'x');
    queue.produce('p', 'b', 'y');
    queue.advance(600);
    queue.accept(5);
    expect([queue.delivered, queue.store.rows.size]).toEqual([[], 0]);
    expect(queue.stats.counters).toMatchObject({ expired: 2, timedOut: 0, acked: 0 });
  });

  it('rule 33: even while it is only on disk', () => {
    queue = new QueueUnderTest({ ttlMs: 500 });
    for (let n = 0; n < 60; n++) queue.produce('p', `${n}`, `${n}`);
    queue.advance(600);
    expect([queue.store.rows.size, queue.stats.counters.expired]).toEqual([0, 60]);
  });

  it('rule 33: a message delivered in time may be acknowledged later; one that comes back late is not delivered again', () => {
    queue = new QueueUnderTest({ ttlMs: 500 });
    for (const n of ['1', '2']) queue.produce('p', n, n);
    queue.accept(5);
    queue.advance(600);
    expect(queue.store.rows.size).toBe(2);
    queue.ack(1);
    queue.nack(2);
    expect([queue.delivered, queue.store.rows.size]).toEqual([['1', '2'], 0]);
    expect(queue.stats.counters).toMatchObject({ acked: 1, expired: 1 });
  });

  it('rule 33: a header sets its own time to live', () => {
    queue = new QueueUnderTest({ headers: true });
    queue.produceFrames('p', ['a', 'PZQ-TTL-MS:100', '', 'short']);
    queue.produce('p', 'b', 'long');
    queue.advance(100);
    queue.accept(2);
    expect(queue.delivered).toEqual(['long']);
  });

  it('rule 33: becomes a dead letter with deadLetterExpired', () => {
    queue = new QueueUnderTest({ ttlMs: 500, deadLetterExpired: true });
    queue.produce('p', 'a', 'x');
    expect(queue.advance(500)).toEqual(['500ms: dead-letter #1 expired']);
    const died = { reason: 'expired', diedMicros: EPOCH_MICROS + 500_000 };
    expect(queue.store.dead(0, 10, 1000)).toMatchObject([{ seq: 1, ...died }]);
  });

  it('rule 33: a delayed message may expire before it was ready', () => {
    queue = new QueueUnderTest({ ttlMs: 500, delayMs: 900 });
    queue.produce('p', 'a', 'x');
    queue.accept(1);
    queue.advance(2000);
    expect([queue.delivered, queue.store.rows.size]).toEqual([[], 0]);
  });
});

describe('rules 34 and 35: dead letters', () => {
  it('rule 34: a message that would be delivered more than maxDeliveries times becomes one', () => {
    queue = new QueueUnderTest({ maxDeliveries: 3 });
    queue.produce('p', 'a', 'x');
    queue.accept(9);
    queue.nack(1);
    queue.advance(1000);
    expect(queue.delivered).toEqual(['x', 'x', 'x']);
    expect(queue.nack(1)).toEqual(['dead-letter #1 max-deliveries']);
    expect(queue.delivered).toHaveLength(3);
    expect(queue.store.counts).toMatchObject({ messages: 0, dead: 1 });
  });

  it('rule 34: deliveries are counted over a restart, as far as the message came back', () => {
    queue = new QueueUnderTest({ maxDeliveries: 3 });
    queue.produce('p', 'a', 'x');
    queue.accept(2);
    queue.nack(1);
    expect(queue.store.scan(0, 1, 1000)).toMatchObject([{ deliveries: 1 }]);
    queue.restart();
    queue.accept(9);
    queue.nack(1);
    queue.nack(1);
    expect([queue.delivered.length, queue.store.counts.dead]).toEqual([4, 1]);
  });

  it('rule 34: without maxDeliveries a delivery costs no write', () => {
    queue.produce('p', 'a', 'x');
    queue.accept(3);
    queue.nack(1);
    queue.nack(1);
    expect(queue.stats.counters.commits).toBe(1);
  });

  it('rule 34: if there are deadLettersMax, messages stay in the queue instead', () => {
    queue = new QueueUnderTest({ maxDeliveries: 1, deadLettersMax: 1 });
    for (const n of ['1', '2']) queue.produce('p', n, n);
    queue.accept(2);
    queue.nack(1);
    expect(queue.nack(2)).toEqual(['note dead-letters-full']);
    queue.accept(1);
    expect([queue.delivered, queue.store.counts]).toMatchObject([['1', '2', '2'], { messages: 1, dead: 1 }]);
  });

  it('rule 34: a late acknowledgement removes a dead letter', () => {
    queue = new QueueUnderTest({ maxDeliveries: 1 });
    queue.produce('p', 'a', 'x');
    queue.accept(1);
    queue.advance(1000);
    expect(queue.store.counts.dead).toBe(1);
    queue.ack(1);
    expect([queue.store.rows.size, queue.stats.counters.acked]).toEqual([0, 1]);
  });

  it('rule 34: so does one that comes while the message becomes a dead letter', () => {
    for (const written of [true, false]) {
      queue = new QueueUnderTest({ maxDeliveries: 1, deadLetterSend: true });
      queue.produce('p', 'a', 'x');
      queue.accept(1);
      queue.storeHeld = true;
      if (!written) queue.store.failing = 'EIO';
      queue.advance(1000);
      queue.ack(1);
      queue.answerStore(1);
      // A store that reads while it writes would still show it.
      expect(queue.asked.filter(({ kind }) => kind === 'load')).toEqual([]);
      queue.storeHeld = false;
      queue.answerStore();
      queue.store.failing = undefined;
      queue.advance(1000);
      queue.accept(9);
      expect([queue.store.rows.size, queue.delivered]).toEqual([0, ['x']]);
    }
  });

  /** Two dead letters, 1 and 2. */
  function deadLetters(settings = {}): void {
    queue = new QueueUnderTest({ maxDeliveries: 1, ...settings });
    for (const n of ['1', '2']) queue.produce('p', n, n);
    queue.accept(2);
    queue.advance(1000);
    queue.deliveries.length = 0;
  }

  it('rule 35: one that is returned is delivered like a message that was never dead', () => {
    deadLetters();
    queue.produce('p', '3', '3');
    queue.block();
    expect(queue.step({ kind: 'revive', id: 7, seqs: [2] })).toEqual(['done 7']);
    queue.advance(50);
    queue.accept(2);
    expect(queue.delivered).toEqual(['2', '3']);
    expect(queue.store.scan(0, 1, 100)).toMatchObject([{ seq: 2, deliveries: 0 }]);
  });

  it('rule 35: one that is discarded is gone', () => {
    deadLetters();
    const letters = queue.store.dead(0, 1, 100);
    expect(queue.step({ kind: 'discard', id: 8, letters })).toEqual(['done 8']);
    expect([...queue.store.rows.keys()]).toEqual([2]);
  });

  it('rule 35: if the store fails both are answered so, and nothing has changed', () => {
    deadLetters({ deadLetterSend: true });
    queue.block();
    queue.store.failing = 'EIO';
    expect(queue.step({ kind: 'revive', id: 7, seqs: [2] })).toContain('done 7 EIO');
    expect(queue.store.counts.dead).toBe(2);
    queue.store.failing = undefined;
    queue.advance(1000);
    queue.accept(9);
    expect(queue.deliveries.map(({ outlet }) => outlet)).toEqual(['dead-letters', 'dead-letters']);
  });

  it('rule 35: deadLetterSend delivers them as plain messages; an acknowledgement removes them', () => {
    deadLetters({ deadLetterSend: true });
    expect(queue.accept(2)).toEqual(['-> #1 "1" to dead letters', '-> #2 "2" to dead letters']);
    queue.ack(1, true, 'dead-letters');
    queue.ack(2, false, 'dead-letters');
    expect(queue.accept(1)).toEqual(['-> #2 "2" to dead letters']);
    expect(queue.store.counts).toMatchObject({ messages: 0, dead: 1 });
    queue.advance(1000);
    expect(queue.accept(1)).toEqual(['-> #2 "2" to dead letters']);
  });

  it('rule 35: dead letters of an earlier run of the server are delivered, too', () => {
    deadLetters({ deadLetterSend: true });
    queue.restart();
    expect(queue.accept(2)).toEqual(['-> #1 "1" to dead letters', '-> #2 "2" to dead letters']);
  });

  it('rule 35: one that is returned while it is with a consumer of dead letters is delivered by the queue', () => {
    deadLetters({ deadLetterSend: true });
    queue.accept(2);
    expect(queue.step({ kind: 'revive', id: 1, seqs: [1, 2] })).toEqual(['done 1']);
    expect(queue.accept(2)).toEqual(['-> #1 "1"', '-> #2 "2"']);
    queue.advance(900);
    queue.accept(9);
    expect(queue.delivered).toHaveLength(4);
  });
});

describe('rules 36 and 37: pauses and extensions', () => {
  it('rule 36: a negative acknowledgement is followed by a pause, a timeout is not', () => {
    queue = new QueueUnderTest({ nackDelayMs: 200, nackDelayMaxMs: 200 });
    for (const n of ['1', '2']) queue.produce('p', n, n);
    queue.accept(9);
    queue.nack(1);
    expect([queue.stats.delayed, queue.advance(199)]).toEqual([1, []]);
    expect(queue.advance(1)).toEqual(['200ms: -> #1 "1"']);
    expect(queue.advance(800)).toEqual(['1000ms: -> #2 "2"']);
  });

  it('rule 36: the pause doubles with each delivery up to nackDelayMaxMs', () => {
    queue = new QueueUnderTest({ nackDelayMs: 100, nackDelayMaxMs: 350 });
    queue.produce('p', 'a', 'x');
    queue.accept(9);
    const pauses = [];
    for (let i = 0; i < 4; i++) {
      const before = queue.now;
      queue.nack(1);
      pauses.push(queue.engine.deadline - before);
      queue.advance(350);
    }
    expect(pauses).toEqual([100, 200, 350, 350]);
  });

  it('rule 36: a resting message counts as in flight', () => {
    queue = new QueueUnderTest({ nackDelayMs: 200, nackDelayMaxMs: 200, maxInFlight: 1 });
    for (const n of ['1', '2']) queue.produce('p', n, n);
    queue.accept(9);
    queue.nack(1);
    queue.advance(199);
    expect(queue.delivered).toEqual(['1']);
  });

  it('rule 36: a positive acknowledgement ends a rest', () => {
    queue = new QueueUnderTest({ nackDelayMs: 200, nackDelayMaxMs: 200 });
    queue.produce('p', 'a', 'x');
    queue.accept(9);
    queue.nack(1);
    queue.ack(1);
    queue.advance(500);
    expect([queue.delivered, queue.store.rows.size, queue.engine.deadline]).toEqual([['x'], 0, Infinity]);
  });

  it('rule 37: a key alone restarts the lease with extendLease', () => {
    queue = new QueueUnderTest({ extendLease: true });
    queue.produce('p', 'a', 'x');
    queue.accept(9);
    queue.advance(800);
    expect(queue.extend(1)).toEqual([]);
    queue.advance(999);
    expect(queue.delivered).toEqual(['x']);
    queue.advance(1);
    expect([queue.delivered, queue.stats.counters.extended]).toEqual([['x', 'x'], 1]);
  });

  it('rule 37: without it, or for a message not in flight, it is counted and ignored', () => {
    queue.produce('p', 'a', 'x');
    queue.accept(1);
    expect(queue.extend(1)).toEqual(['note message-dropped extension-ignored queue']);
    queue = new QueueUnderTest({ extendLease: true });
    for (const n of ['1', '2']) queue.produce('p', n, n);
    queue.extend(2);
    expect(queue.dropped).toEqual({ 'extension-ignored': 1 });
  });
});

describe('rule 38: headers', () => {
  it.each(['PZQ-DELAY-MS', 'PZQ-TTL-MS'])('rule 38: an invalid value of %s is refused', (name) => {
    queue = new QueueUnderTest({ headers: true });
    const lines = queue.produceFrames('p', ['a', `${name}:soon`, '', 'x']);
    expect([answers(lines), queue.store.rows.size]).toEqual([[`-> p "a" 0 Invalid header ${name}`], 0]);
  });

  it('rule 38: without option headers they are not read', () => {
    expect(queue.produceFrames('p', ['a', 'PZQ-TTL-MS:soon', '', 'x'])).toEqual(['-> p "a" 1']);
  });

  it('rule 38: others are dropped and counted', () => {
    queue = new QueueUnderTest({ headers: true });
    queue.produceFrames('p', ['a', 'X:1', 'PZQ-TTL-MS:100', '', 'x']);
    expect(queue.stats.counters.headersDropped).toBe(1);
  });
});
