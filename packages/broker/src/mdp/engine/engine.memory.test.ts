import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/mdp/broker-under-test.js';

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest();
});

function beTight(isTight = true): void {
  broker.engine.step({ kind: 'memory', isTight }, 0);
}

describe('rule 18: while memory is short', () => {
  it('a request that would have to wait is refused, one that a worker takes at once is not', () => {
    broker.ready('w1');
    beTight();
    expect(broker.request('c1', 'x')).toEqual(['-> w1 REQUEST c1 "x"']);
    expect(broker.request('c1', 'y')).toEqual(['note request-dropped memory c1 echo']);
    expect(broker.stats.counters.dropped.memory).toBe(1);
    beTight(false);
    expect(broker.request('c1', 'z')).toEqual([]);
    expect(broker.stats.openRequests).toBe(2);
  });

  it('a worker may register if requests wait for it, and not otherwise', () => {
    broker.request('c1', 'x');
    beTight();
    expect(broker.ready('w1', 'other')).toContain('note message-dropped memory w1');
    expect(broker.ready('w2', 'echo')).toContain('-> w2 REQUEST c1 "x"');
    expect(broker.stats.workers).toBe(1);
  });

  it('listings are refused, and single questions answered', () => {
    broker.ready('w1', 'echo');
    beTight();
    expect(broker.request('c1', '', 'mmi.services')).toEqual(['note request-dropped memory c1 mmi.services']);
    expect(broker.request('c1', 'echo', 'mmi.service')).toHaveLength(1);
  });
});
