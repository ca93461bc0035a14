/** Rule 27: how a broker stops. */
import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/emqp/broker-under-test.js';

const BYES = ['-> w1 KBAI', '-> w1 KBYE', 'left w1 drained'];
const TO_CLIENT = ['-> c1 KBAI', '-> c1 KBYE'];

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest();
  broker.inform('w1');
});

describe('rule 27: a broker that stops', () => {
  it('rule 27: ends at once when there is nothing to do', () => {
    broker.ready('w1');
    expect(broker.drain()).toEqual([...BYES, 'drained']);
    expect(broker.engine.deadline).toBe(Infinity);
  });

  it('rule 27: takes no new requests, workers or schedulers', () => {
    broker.ready('w1');
    broker.request('c1', 'm1');
    broker.drain();
    expect(broker.request('c1', 'm2')).toEqual(['note request-dropped draining c1 default']);
    expect(broker.inform('w2')).toEqual(['note message-dropped stopping w2']);
    expect(broker.scheduler('s1')).toEqual(['note message-dropped stopping s1']);
    expect(broker.schedule('c1', 'm3')).toEqual(['note message-dropped no-scheduler c1']);
  });

  it('rule 27: says goodbye to schedulers and idle workers at once, to busy ones after their last job', () => {
    broker.inform('w2');
    broker.scheduler('s1');
    broker.ready('w1', 2);
    broker.request('c1', 'm1', 'default', 'reply-requested');
    broker.request('c1', 'm2');
    expect(broker.drain()).toEqual([
      '-> w2 KBAI',
      '-> w2 KBYE',
      'left w2 drained',
      '-> s1 KBAI',
      '-> s1 KBYE',
      'left s1 drained',
    ]);
    expect(broker.reply('w1', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}']);
    expect(broker.ready('w1')).toEqual([]);
    expect(broker.ready('w1')).toEqual([...BYES, ...TO_CLIENT, 'drained']);
  });

  it('rule 27: says goodbye to waiting clients, once, when nothing more will come', () => {
    broker.ready('w1', 2);
    broker.scheduler('s1');
    for (const [client, id] of [
      ['c1', 'm1'],
      ['c1', 'm2'],
      ['s1', 'm3'],
    ] as const)
      broker.request(client, id, 'default', 'reply-requested');
    broker.request('c2', 'm4');
    expect(broker.drain().filter((line) => line.startsWith('-> c'))).toEqual([]);
    broker.reply('w1', 'm1');
    expect(broker.live(10_000, 'w1').filter((line) => / c\d /.test(line))).toEqual([
      '10000ms: -> c1 RESULT m2 {"value": "job lost: the broker has stopped"}',
      '10000ms: note request-dropped drained c1 default',
      '10000ms: note request-dropped drained c2 default',
      '10000ms: -> c1 KBAI',
      '10000ms: -> c1 KBYE',
    ]);
  });

  it('rule 27: READY, not REPLY, ends a job', () => {
    broker.ready('w1');
    broker.request('c1', 'm1', 'default', 'reply-requested');
    broker.drain();
    expect(broker.reply('w1', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}']);
    expect(broker.stats.workers).toBe(1);
    expect(broker.ready('w1')).toEqual([...BYES, ...TO_CLIENT, 'drained']);
  });

  it('rule 27: nor does the READY of a process that has just started end it, while a reply is due', () => {
    broker.ready('w1');
    broker.request('c1', 'm1', 'default', 'reply-requested');
    broker.ready('w1');
    expect(broker.drain()).toEqual([]);
    expect(broker.reply('w1', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}', ...BYES, ...TO_CLIENT, 'drained']);
  });

  it('rule 27: gives waiting requests to slots that become free', () => {
    broker.ready('w1');
    broker.request('c1', 'm1');
    broker.request('c1', 'm2');
    broker.drain();
    expect(broker.ready('w1')).toEqual(['-> w1 REQUEST m2 default']);
    expect(broker.ready('w1')).toEqual([...BYES, 'drained']);
    expect(broker.dropped).toEqual({});
  });

  it('rule 27: waits at most drainMs; the remaining jobs are counted and logged', () => {
    broker.ready('w1');
    broker.request('c1', 'm1');
    broker.request('c2', 'm2');
    broker.drain();
    expect(broker.live(10_000, 'w1')).toEqual([
      '10000ms: note request-dropped drained c1 default',
      '10000ms: note request-dropped drained c2 default',
      ...BYES.map((line) => `10000ms: ${line}`),
      '10000ms: drained',
    ]);
    expect(broker.dropped).toEqual({ drained: 2 });
    expect(broker.stats).toMatchObject({ openRequests: 0, openBytes: 0, workers: 0, queues: [] });
  });

  it('rule 27: requests without a worker are counted when the last worker goes', () => {
    broker.ready('w1');
    broker.request('c1', 'm1');
    broker.request('c2', 'm2');
    broker.drain();
    expect(broker.bye('w1')).toEqual(['left w1 bye', 'note request-dropped drained c2 default', 'drained']);
  });

  it('rule 27: waits for a worker that has left with a job', () => {
    broker.ready('w1');
    broker.request('c1', 'm1', 'default', 'reply-requested');
    broker.bye('w1');
    expect(broker.drain()).toEqual([]);
    expect(broker.reply('w1', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}', ...TO_CLIENT, 'drained']);
  });

  it('rule 27: releases the guaranteed jobs that a worker does not answer, with the worker', () => {
    broker.ready('w1');
    broker.request('c1', 'm1', 'default', 'guarantee');
    broker.drain();
    expect(broker.ready('w1')).toEqual([...BYES, 'drained']);
    expect(broker.stats.counters).toMatchObject({ unconfirmed: 1 });
  });

  it('rule 27: told by an admin, answers ACK first, and again when told again', () => {
    broker.ready('w1');
    broker.request('c1', 'm1');
    expect(broker.admin('a1', 'DISCONNECT')).toEqual(['-> a1 ACK admin:1']);
    expect(broker.admin('a1', 'DISCONNECT')).toEqual(['-> a1 ACK admin:1']);
    expect(broker.ready('w1')).toEqual([...BYES, 'drained']);
  });

  it('rule 27: ignores everything after it has ended', () => {
    broker.drain();
    expect(broker.request('c1', 'm1')).toEqual([]);
    expect(broker.inform('w1')).toEqual([]);
    expect(broker.admin('a1', 'STATUS')).toEqual([]);
    expect(broker.drain()).toEqual([]);
  });
});
