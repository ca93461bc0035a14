/** Rules 37 to 39: an operator's actions on workers and queues. */
import { memoryRecords } from '@proj/transport';
import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/emqp/broker-under-test.js';
import { SLICE } from '../../shared/errands.js';

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest({ unknownQueue: 'wait', byes: 'kbye', requestTtlMs: 2000 });
});

const dismiss = (worker: string, isGraceful: boolean) => broker.step({ kind: 'dismiss', worker, isGraceful });
const pause = (isPaused: boolean, queue = 'mail') => broker.step({ kind: 'pause', queue, isPaused });
const worker = (name: string, slots = 1) => {
  broker.inform(name, 'mail');
  broker.ready(name, slots);
};

describe('a dismissed worker', () => {
  it('rule 37: gets our goodbye, and results of its remaining jobs are forwarded', () => {
    worker('w1');
    broker.request('c1', 'j1', 'mail', 'reply-requested');
    expect(dismiss('w1', false)).toEqual(['-> w1 KBYE', 'left w1 dismissed']);
    expect(broker.reply('w1', 'j1')).toContain('-> c1 RESULT j1 {"value": 5}');
  });

  it('rule 37: finishes its jobs first if it is drained, and gets no new ones', () => {
    worker('w1', 2);
    broker.request('c1', 'j1', 'mail', 'reply-requested');
    expect(dismiss('w1', true)).toEqual([]);
    broker.request('c1', 'j2', 'mail', 'reply-requested');
    expect(broker.reply('w1', 'j1')).not.toContain('left w1 dismissed');
    expect(broker.ready('w1')).toEqual(['-> w1 KBYE', 'left w1 dismissed']);
    broker.inform('w2', 'mail');
    expect(broker.ready('w2')).toContain('-> w2 REQUEST j2 mail');
  });

  it('rule 37: leaves when the result of its last job is too late', () => {
    broker = new BrokerUnderTest({ unknownQueue: 'wait', byes: 'kbye', resultRouteTtlMs: 1000 });
    worker('w1');
    broker.request('c1', 'j1', 'mail', 'reply-requested');
    expect(dismiss('w1', true)).toEqual([]);
    expect(broker.ready('w1')).toEqual([]);
    expect(broker.advance(1000)).toContain('1000ms: left w1 dismissed');
  });

  it('rule 37: leaves when another worker answers its last job', () => {
    worker('w1');
    worker('w2');
    broker.request('c1', 'j1', 'mail', 'reply-requested, retry-count:1');
    expect(dismiss('w1', true)).toEqual([]);
    expect(broker.ready('w1')).toEqual([]);
    expect(broker.reply('w2', 'j1')).toContain('left w1 dismissed');
  });

  it('rule 37: may be a scheduler, or each worker of a queue', () => {
    broker.scheduler('s1');
    worker('w1');
    broker.inform('w2', 'mail', 'other');
    broker.inform('w3', 'other');
    expect(dismiss('s1', true)).toEqual(['-> s1 KBYE', 'left s1 dismissed']);
    expect(broker.step({ kind: 'dismiss', queue: 'mail', isGraceful: true })).toEqual([
      '-> w1 KBYE',
      'left w1 dismissed',
      '-> w2 KBYE',
      'left w2 dismissed',
    ]);
    expect(broker.stats.workers).toBe(1);
  });
});

describe('a paused queue', () => {
  it('rule 38: accepts jobs, and gives none to workers until it is resumed', () => {
    worker('w1', 2);
    expect(pause(true)).toEqual([]);
    expect(broker.request('c1', 'j1', 'mail')).toEqual(['-> c1 ACCEPTED j1']);
    broker.request('c1', 'j2', 'mail');
    broker.request('c1', 'j3', 'mail');
    expect(broker.engine.detail(broker.now).services).toMatchObject([{ waiting: 3, running: 0, isPaused: true }]);
    expect(broker.ready('w1')).toEqual([]);
    expect(pause(false)).toEqual(['-> w1 REQUEST j1 mail', '-> w1 REQUEST j2 mail', '-> w1 REQUEST j3 mail']);
    expect(broker.engine.detail(broker.now).services[0]).not.toHaveProperty('isPaused');
  });

  it('rule 38: is resumed a slice at a time, in order, unless it is paused again', () => {
    worker('w1', 0);
    pause(true);
    for (let index = 0; index < 200; index++) broker.request('c1', `j${index}`, 'mail');
    broker.ready('w1', 300);
    expect(pause(false)).toHaveLength(SLICE);
    expect(broker.request('c1', 'later', 'mail')).toEqual(['-> c1 ACCEPTED later']);
    pause(true);
    expect(broker.advance(10)).toEqual([]);
    pause(false);
    expect(broker.advance(10).at(-1)).toMatch(/REQUEST later mail$/);
    expect(broker.request('c1', 'last', 'mail')).toContain('-> w1 REQUEST last mail');
  });

  it('rule 38: keeps what waits without a worker, and its waiting limit runs only after it is resumed', () => {
    broker.request('c1', 'j1', 'mail');
    pause(true);
    broker.advance(10_000);
    expect(broker.stats.queues).toMatchObject([{ name: 'mail', waiting: 1 }]);
    pause(false);
    broker.advance(2000);
    expect(broker.stats.queues).toMatchObject([{ name: 'default', waiting: 1 }]);
  });

  it('rule 38: stays paused while it has no workers, and leaves other queues alone', () => {
    worker('w1');
    pause(true);
    broker.bye('w1');
    broker.inform('w2', 'mail', 'other');
    broker.ready('w2');
    broker.request('c1', 'j1', 'mail');
    expect(broker.request('c1', 'j2', 'other')).toContain('-> w2 REQUEST j2 other');
    expect(broker.ready('w2')).toEqual([]);
    pause(false);
    broker.bye('w2');
    expect(pause(true, 'nowhere')).toEqual([]);
  });
});

describe('a purged queue', () => {
  it('rule 39: gives up waiting jobs, tells clients that await results, and leaves running jobs alone', () => {
    worker('w1');
    broker.request('c1', 'j1', 'mail', 'reply-requested');
    broker.request('c1', 'j2', 'mail', 'reply-requested');
    broker.request('c2', 'j3', 'mail');
    expect(broker.step({ kind: 'purge', queue: 'mail' })).toEqual([
      '-> c1 RESULT j2 {"value": "job lost: an operator has purged its queue"}',
      'note request-dropped purged c1 mail',
      'note request-dropped purged c2 mail',
    ]);
    expect(broker.dropped).toEqual({ purged: 2 });
    expect(broker.stats.openRequests).toBe(1);
  });

  it('rule 39: removes guaranteed jobs from the store', () => {
    broker = new BrokerUnderTest({ unknownQueue: 'wait', store: memoryRecords() });
    broker.inform('w1', 'mail');
    broker.request('c1', 'j1', 'mail', 'guarantee');
    broker.stored(1);
    expect(broker.step({ kind: 'purge', queue: 'mail' })).toContain('store 2: +0 -1');
  });

  it('rule 39: is given up a slice at a time; meanwhile a free worker gets nothing from it, and what comes later stays', () => {
    worker('w1');
    for (let index = 0; index <= 200; index++) broker.request('c1', `j${index}`, 'mail');
    broker.step({ kind: 'purge', queue: 'mail' });
    expect(broker.dropped).toEqual({ purged: SLICE });
    expect([...pause(true), ...pause(false)]).toEqual([]);
    broker.advance(1);
    expect(broker.dropped).toEqual({ purged: 2 * SLICE });
    expect(broker.ready('w1')).toEqual([]);
    expect(broker.request('c2', 'later', 'mail')).toEqual(['-> c2 ACCEPTED later']);
    expect(broker.advance(2)).toEqual(['3ms: -> w1 REQUEST later mail']);
    expect(broker.dropped).toEqual({ purged: 200 });
  });
});
