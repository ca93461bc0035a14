/** Rule 25: workers that an operator removes. */
import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/nfp/broker-under-test.js';

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest({ settleMs: 0 });
});

const drain = (worker: string) => broker.step({ kind: 'dismiss', worker, isGraceful: true });
const sentTo = (lines: readonly string[]) =>
  lines.filter((line) => line.includes(' POST ')).map((line) => line.split(' ')[1]);

describe('a dismissed worker', () => {
  it('rule 25: is sent DISCONNECT, and keeps its jobs', () => {
    broker.ready('w1');
    broker.ready('w2');
    broker.post('c1', 'j1', 'any');
    const lines = broker.step({ kind: 'dismiss', worker: 'w1', isGraceful: false });
    expect(lines).toEqual([
      '-> w1 DISCONNECT sample',
      'worker-lost w1 sample dismissed',
      expect.stringContaining('worker-lost w1'),
    ]);
    expect(broker.answer('w1', 'response', 'c1', 'j1', 200)).toContain('worker-ready w1 sample');
  });

  it('rule 25: if drained, gets no further jobs, except those that name it, and leaves when it has none', () => {
    broker.ready('w1');
    broker.ready('w2');
    broker.post('c1', 'j1', 'w1');
    expect(drain('w1')).toEqual([]);
    expect(sentTo(broker.post('c1', 'j2', 'any'))).toEqual(['w2']);
    expect(sentTo(broker.post('c1', 'j3', 'any'))).toEqual(['w2']);
    expect(sentTo(broker.post('c1', 'j4', 'all'))).toEqual(['w2']);
    expect(sentTo(broker.post('c1', 'j5', 'w1'))).toEqual(['w1']);
    broker.answer('w1', 'response', 'c1', 'j1', 200);
    expect(broker.stats.workers).toBe(2);
    expect(broker.answer('w1', 'response', 'c1', 'j5', 200).slice(-2)).toEqual([
      '-> w1 DISCONNECT sample',
      'worker-lost w1 sample dismissed',
    ]);
  });

  it('rule 25: leaves at once if it is drained without a job', () => {
    broker.ready('w1');
    expect(drain('w1')).toEqual(['-> w1 DISCONNECT sample', 'worker-lost w1 sample dismissed']);
    expect(drain('w1')).toEqual([]);
  });

  it('rule 25: is each worker of a service, and no other; new jobs wait for others', () => {
    for (const name of ['w1', 'w2']) broker.ready(name);
    broker.ready('w3', 'other');
    broker.post('c1', 'j1');
    expect(broker.step({ kind: 'dismiss', service: 'sample', isGraceful: true })).toEqual([]);
    expect(sentTo(broker.post('c1', 'j2', 'any'))).toEqual([]);
    expect(broker.stats.waiting).toBe(1);
    expect(sentTo(broker.ready('w4'))).toEqual(['w4']);
    broker.call('c1', 'delete', 'j1');
    expect(broker.stats.workers).toBe(2);
  });

  it('rule 25: leaves jobs for all workers waiting when it registers again', () => {
    broker.ready('w1');
    broker.post('c1', 'j1');
    broker.step({ kind: 'dismiss', service: 'sample', isGraceful: true });
    broker.post('c1', 'j2', 'all');
    broker.ready('w1');
    expect(broker.stats.waiting).toBe(1);
    expect(sentTo(broker.ready('w2'))).toEqual(['w2']);
    expect(broker.stats.waiting).toBe(0);
  });
});
