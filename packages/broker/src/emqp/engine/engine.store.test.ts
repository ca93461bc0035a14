/** Rule 35: guaranteed jobs in a store. */
import { memoryRecords } from '@proj/transport';
import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/emqp/broker-under-test.js';

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest({ store: memoryRecords() });
});

const ask = (id: string, headers = 'guarantee', queue = 'default') => broker.request('c1', id, queue, headers);

/** Worker w1 with this many slots. */
function worker(slots: number, ...queues: string[]): void {
  broker.inform('w1', ...queues);
  broker.ready('w1', slots);
}

/** The same store with another broker. */
function restart(): void {
  const { records } = broker;
  broker = new BrokerUnderTest({ store: memoryRecords() });
  broker.restore(records);
}

describe('a guaranteed job', () => {
  it('rule 35: is accepted and given to a worker once it is on disk, not before', () => {
    worker(1);
    expect(ask('m1')).toEqual(['store 1: +1 -0']);
    expect(broker.stored(1)).toEqual(['-> c1 ACCEPTED m1', '-> w1 REQUEST m1 default']);
  });

  it('rule 35: shares the next write with jobs that came during the last one', () => {
    expect(ask('m1')).toEqual(['store 1: +1 -0']);
    expect([...ask('m2'), ...ask('m3')]).toEqual([]);
    expect(broker.stored(1)).toEqual(['-> c1 ACCEPTED m1', 'store 2: +2 -0']);
    expect(broker.stored(2)).toEqual(['-> c1 ACCEPTED m2', '-> c1 ACCEPTED m3']);
  });

  it('rule 15: may wait for a worker however many its client has waiting', () => {
    broker = new BrokerUnderTest({ store: memoryRecords(), queueMaxBytes: 2 ** 22, maxMessageBytes: 2 ** 20 });
    const sent = ['1', '2', '3', '4', '5'];
    for (const id of sent) broker.request('c1', id, 'default', 'guarantee', 'x'.repeat(50_000));
    broker.stored(1);
    broker.stored(2);
    expect([broker.stats.openRequests, broker.dropped]).toEqual([5, {}]);
  });

  it('rule 35: is refused without an answer if the store cannot take it', () => {
    ask('m1');
    expect(broker.stored(1, 'disk full')).toEqual([
      'note store-failed disk full',
      'note request-dropped store-failed c1 default',
    ]);
    expect(broker.stats).toMatchObject({ openRequests: 0, openBytes: 0, queues: [] });
    expect(ask('m2')).toEqual(['store 2: +1 -0']);
  });

  it('rule 35: reports once a minute per cause that the store fails', () => {
    const fail = (write: number, error: string) => {
      ask(`m${write}`);
      return broker.stored(write, error).filter((line) => line.includes('note store-failed'));
    };
    expect(fail(1, 'disk full')).toHaveLength(1);
    expect(fail(2, 'disk full')).toEqual([]);
    expect(fail(3, 'away')).toHaveLength(1);
    broker.advance(60_000);
    expect(fail(4, 'disk full')).toHaveLength(1);
  });

  it('rule 35: leaves the store when it is answered; a failed removal is repeated later', () => {
    worker(1);
    ask('m1', 'guarantee,reply-requested');
    broker.stored(1);
    expect(broker.reply('w1', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}', 'store 2: +0 -1']);
    expect(broker.stored(2, 'away')).toEqual(['note store-failed away']);
    expect(broker.live(5000, 'w1')).toEqual(['5000ms: store 3: +0 -1']);
    broker.stored(3);
    expect(broker.records.size).toBe(0);
  });

  it('rule 35: counts towards the bound of its queue while it is being written', () => {
    broker = new BrokerUnderTest({ store: memoryRecords(), defaultQueueMax: 2 });
    ask('m1');
    ask('m2');
    expect(ask('m3')).toEqual(['note request-dropped queue-full c1 default']);
    worker(9);
    expect(ask('m4')).toEqual([]);
    expect(broker.dropped).toEqual({ 'queue-full': 2 });
  });

  it('rule 35: counts towards the share of its client while it is being written', () => {
    broker = new BrokerUnderTest({ store: memoryRecords(), defaultQueueMax: 100 });
    for (let i = 0; i < 100; i++) ask(`m${i}`);
    expect(broker.dropped).toEqual({ 'queue-full': 25 });
    broker.stored(1);
    broker.stored(2);
    expect(broker.stats.openRequests).toBe(75);
  });

  it('rule 35: a job of another kind is not stored', () => {
    worker(2);
    expect(ask('m1', 'reply-requested')).toEqual(['-> c1 ACCEPTED m1', '-> w1 REQUEST m1 default']);
    expect(ask('m2', 'retry-count:1')).toEqual(['-> c1 ACCEPTED m2', '-> w1 REQUEST m2 default']);
  });
});

describe('another broker with the same store', () => {
  it('rule 35: runs accepted jobs in order, and answers the client under its routing id', () => {
    worker(1);
    for (const [i, id] of ['m1', 'm2', 'm3'].entries()) {
      ask(id, 'guarantee,reply-requested');
      broker.stored(i + 1);
    }
    restart();
    expect(broker.stats).toMatchObject({ openRequests: 3, counters: { restored: 3, requests: 0 } });
    broker.inform('w1');
    expect(broker.ready('w1', 3)).toEqual(['m1', 'm2', 'm3'].map((id) => `-> w1 REQUEST ${id} default`));
    expect(broker.reply('w1', 'm2')).toEqual(['-> c1 RESULT m2 {"value": 5}', 'store 1: +0 -1']);
  });

  it('rule 35: lets jobs wait for their own queue, since workers register later', () => {
    worker(1, 'mail');
    ask('m1', 'guarantee', 'mail');
    broker.stored(1);
    restart();
    broker.inform('w2');
    expect(broker.ready('w2')).toEqual([]);
    broker.inform('w1', 'mail');
    expect(broker.ready('w1')).toEqual(['-> w1 REQUEST m1 mail']);
  });

  it('rule 35: has no answered or refused job, and continues the numbers', () => {
    worker(1);
    ask('m1', 'guarantee');
    broker.stored(1);
    broker.reply('w1', 'm1');
    broker.stored(2);
    ask('m2');
    broker.stored(3, 'disk full');
    ask('m3');
    broker.stored(4);
    restart();
    expect(broker.stats.openRequests).toBe(1);
    ask('m4');
    broker.stored(1);
    expect(broker.records.size).toBe(4);
  });

  it('rule 35: accepts a job’s result from the worker that had it before', () => {
    worker(1);
    ask('m1', 'guarantee,reply-requested');
    broker.stored(1);
    restart();
    broker.inform('w1');
    expect(broker.reply('w1', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}', 'store 1: +0 -1']);
    expect(broker.ready('w1')).toEqual([]);
    expect(broker.stats).toMatchObject({ openRequests: 0, counters: { processed: 1, dispatches: 0 } });
  });

  it('rule 35: remembers how many workers a job has lost', () => {
    broker = new BrokerUnderTest({ store: memoryRecords(), guaranteeAttempts: 2 });
    worker(1);
    ask('m1');
    broker.stored(1);
    expect(broker.gone('w1')).toEqual(['left w1 gone', 'store 2: +1 -0']);
    broker.stored(2);
    const { records } = broker;
    broker = new BrokerUnderTest({ store: memoryRecords(), guaranteeAttempts: 2 });
    broker.restore(records);
    worker(1);
    expect(broker.gone('w1')).toContain('note request-dropped guarantee-exhausted c1 default');
  });
});

it('rule 35: a broker that stops leaves stored jobs to the next one, and waits for pending writes', () => {
  broker.inform('w1');
  ask('m1', 'guarantee,reply-requested');
  expect(broker.drain()).not.toContain('drained');
  expect(broker.stored(1)).toEqual(['-> c1 ACCEPTED m1', 'drained']);
  expect(broker.stats.counters).toMatchObject({ leftInStore: 1, dropped: { drained: 0 } });
  restart();
  expect(broker.stats.openRequests).toBe(1);
});
