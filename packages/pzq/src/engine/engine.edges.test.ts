import { encodePzqKey } from '@proj/frames/pzq';
import { beforeEach, describe, expect, it } from 'vitest';
import { EPOCH_MICROS, QueueUnderTest } from '../../test/queue-under-test.js';

let queue: QueueUnderTest;
beforeEach(() => {
  queue = new QueueUnderTest();
});

describe('acknowledgements without effect', () => {
  it('rule 13: a repeated one, while the removal waits to be written, is counted at once, and acknowledges once', () => {
    queue.produce('p', 'a', 'x');
    queue.accept(1);
    queue.storeHeld = true;
    queue.produce('p', 'b', 'x');
    queue.ack(1);
    queue.ack(1);
    expect(queue.dropped).toEqual({ 'key-unknown': 1 });
    queue.storeHeld = false;
    queue.answerStore();
    expect(queue.stats.counters).toMatchObject({ acked: 1, ackedLate: 0 });
  });

  it('rule 15: one for a message that never existed is counted at once, without asking the store', () => {
    queue.storeHeld = true;
    const key = encodePzqKey({ storedMicros: EPOCH_MICROS, epoch: queue.store.epoch, seq: 99 });
    queue.consumer({ kind: 'consumer-ack', key, positive: true });
    expect([queue.dropped, queue.asked]).toEqual([{ 'key-unknown': 1 }, []]);
  });

  it('rule 14: a late one counts as such, if the message is ready again and if it rests', () => {
    queue = new QueueUnderTest({ nackDelayMs: 500, nackDelayMaxMs: 500 });
    for (const id of ['a', 'b', 'c']) queue.produce('p', id, id);
    queue.accept(3);
    queue.nack(1);
    queue.ack(1);
    queue.advance(1000);
    queue.ack(3);
    expect(queue.stats.counters).toMatchObject({ acked: 2, ackedLate: 2 });
  });
});

describe('rule 33: a time to live that ends while a consumer has the message', () => {
  it('rule 33: leaves it with its consumer, which may acknowledge it, and is not reported again', () => {
    queue = new QueueUnderTest({ ttlMs: 100 });
    queue.produce('p', 'a', 'x');
    queue.accept(1);
    queue.advance(100);
    expect([queue.stats.inFlight, queue.stats.counters.expired]).toEqual([1, 0]);
    expect(queue.store.counts.nextDueMicros).toBe(Infinity);
    queue.ack(1);
    expect(queue.stats.counters).toMatchObject({ acked: 1, expired: 0 });
  });

  it('rule 33: ends it when it is returned, without a rest', () => {
    queue = new QueueUnderTest({ ttlMs: 100, nackDelayMs: 1000, nackDelayMaxMs: 1000 });
    queue.produce('p', 'a', 'x');
    queue.accept(1);
    queue.advance(150);
    queue.nack(1);
    expect([queue.stats.counters.expired, queue.store.rows.size]).toEqual([1, 0]);
  });

  it('rule 33: ends it as expired, although it was delivered often enough', () => {
    queue = new QueueUnderTest({ ttlMs: 100, maxDeliveries: 1 });
    queue.produce('p', 'a', 'x');
    queue.accept(1);
    queue.advance(150);
    expect(queue.nack(1)).toEqual([]);
    expect(queue.stats.counters).toMatchObject({ expired: 1, buried: 0 });
  });
});

describe('rule 35: dead letters', () => {
  /** One that was delivered too often, and has its own endpoint without a consumer. */
  function buried(): void {
    queue = new QueueUnderTest({ maxDeliveries: 1, deadLetterSend: true });
    queue.produce('p', 'a', 'x');
    queue.accept(1);
    queue.nack(1);
  }

  it('rule 35: one that is returned and dies again is available again', () => {
    buried();
    queue.block();
    queue.step({ kind: 'revive', id: 1, seqs: [1] });
    expect(queue.accept(1)).toEqual(['-> #1 "x"']);
    expect(queue.nack(1)).toEqual(['dead-letter #1 max-deliveries']);
    queue.accept(1);
    queue.advance(100);
    expect(queue.deliveries.map(({ outlet }) => outlet)).toEqual(['queue', 'queue', 'dead-letters']);
  });

  it('rule 35: one that is being removed is not delivered meanwhile', () => {
    buried();
    queue.block();
    queue.storeHeld = true;
    queue.step({ kind: 'discard', id: 1, letters: queue.store.dead(0, 1, 1000) });
    queue.advance(200);
    expect(queue.accept(1)).toEqual([]);
  });

  it('rule 35: one that is acknowledged while it is returned does not come back', () => {
    buried();
    queue.accept(1);
    queue.storeHeld = true;
    queue.step({ kind: 'revive', id: 1, seqs: [1] });
    queue.ack(1, true, 'dead-letters');
    queue.answerStore(1);
    // A store that reads while it writes would still show it.
    expect(queue.asked.map(({ kind }) => kind)).toEqual(['commit']);
    queue.room = 5;
    queue.storeHeld = false;
    queue.answerStore();
    queue.advance(5000);
    expect([queue.delivered, queue.store.rows.size]).toEqual([['x', 'x'], 0]);
  });

  it('rule 34: dead letters that are being written count towards the bound', () => {
    queue = new QueueUnderTest({ maxDeliveries: 1, deadLettersMax: 1 });
    for (const id of ['a', 'b']) queue.produce('p', id, id);
    queue.accept(2);
    queue.storeHeld = true;
    queue.nack(1);
    queue.nack(2);
    queue.storeHeld = false;
    queue.answerStore();
    queue.answerStore();
    expect(queue.store.counts).toMatchObject({ dead: 1, messages: 1 });
  });
});

it('rule 19: a second drain does not restart the time limit', () => {
  queue = new QueueUnderTest({ ackTimeoutMs: 10_000 });
  queue.produce('p', 'a', 'x');
  queue.accept(1);
  queue.step({ kind: 'drain' });
  queue.advance(1500);
  queue.step({ kind: 'drain' });
  expect(queue.advance(500)).toEqual(['2000ms: drained']);
});

it('rule 12: a process that was very busy adds one acknowledgement timeout, not many', () => {
  queue.produce('p', 'a', 'x');
  queue.accept(1);
  queue.now = 60_000;
  queue.step({ kind: 'timer', lateMs: 59_000 });
  expect(queue.engine.deadline).toBeLessThanOrEqual(queue.now + 1000);
});

describe('rule 20: reading from disk', () => {
  it('rule 20: a load does not show messages of an unreported commit', () => {
    queue = new QueueUnderTest({ windowMax: 2 });
    for (const id of ['a', 'b', 'c']) queue.produce('p', id, id);
    queue.storeHeld = true;
    queue.accept(2);
    queue.produce('p', 'd', 'd');
    const commit = queue.takeAsked('commit') as { readonly batch: Parameters<typeof queue.store.commit>[0] };
    const result = queue.store.commit(commit.batch);
    queue.answerStore();
    expect(queue.stats.window).toBeLessThanOrEqual(1);
    queue.step({ kind: 'committed', result });
    queue.storeHeld = false;
    queue.answerStore();
    queue.accept(5);
    expect(queue.delivered).toEqual(['a', 'b', 'c', 'd']);
  });

  it('rule 20: a message settled while a load is running does not come back with it', () => {
    queue = new QueueUnderTest({ windowMax: 2 });
    for (const id of ['a', 'b', 'c', 'd', 'e']) queue.produce('p', id, id);
    queue.storeHeld = true;
    queue.accept(2);
    const load = queue.takeAsked('load') as { readonly after: number };
    const messages = queue.store.scan(load.after, 10, 10_000);
    queue.ack(5);
    queue.answerStore();
    queue.step({ kind: 'loaded', outlet: 'queue', messages });
    queue.storeHeld = false;
    queue.answerStore();
    queue.accept(5);
    expect(queue.delivered).toEqual(['a', 'b', 'c', 'd']);
  });

  it('rule 20: a failed load is retried after probeIntervalMs, not at once', () => {
    queue = new QueueUnderTest({ windowMax: 2 });
    for (const id of ['a', 'b', 'c', 'd']) queue.produce('p', id, id);
    queue.storeHeld = true;
    queue.accept(2);
    queue.takeAsked('load');
    queue.step({ kind: 'load-failed', outlet: 'queue', code: 'EIO' });
    expect(queue.asked).toEqual([]);
    queue.advance(299);
    expect(queue.asked).toEqual([]);
    queue.advance(1);
    expect(queue.asked.map(({ kind }) => kind)).toEqual(['load']);
  });
});

describe('producers whose messages wait', () => {
  it('rule 5: a refusal in a commit that fails keeps its own reason', () => {
    queue.storeHeld = true;
    queue.produce('p', 'a', 'x');
    queue.produce('p', 'b', 'x');
    queue.produceFrames('p', ['c', '']);
    queue.answerStore(1);
    queue.store.failing = 'EIO';
    expect(queue.answerStore(1).filter((line) => line.startsWith('->'))).toEqual([
      '-> p "b" 0 Store is unavailable: EIO',
      '-> p "c" 0 Trying to save empty message',
    ]);
  });

  it('rule 18: a producer that always has a message waiting is not refused for those that were stored', () => {
    queue = new QueueUnderTest({ intakeMax: 8 });
    queue.storeHeld = true;
    queue.produce('p', 'first', 'x');
    for (let n = 0; n < 30; n++) {
      queue.produce('p', `${n}`, 'x');
      queue.answerStore(1);
    }
    queue.storeHeld = false;
    queue.answerStore();
    expect([queue.dropped, queue.stats.counters.stored]).toEqual([{}, 31]);
  });
});
