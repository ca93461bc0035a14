import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/mdp/broker-under-test.js';
import { RESERVE_BYTES } from '../../shared/budget.js';

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest();
});

function beTight(isTight = true): void {
  broker.engine.step({ kind: 'memory', isTight }, 0);
}

describe('rule 18: while memory is short', () => {
  const long = 'x'.repeat(RESERVE_BYTES);

  it('a long request that would have to wait is refused, one that a worker takes at once is not', () => {
    broker.ready('w1');
    beTight();
    expect(broker.request('c1', long)).toEqual([`-> w1 REQUEST c1 "${long}"`]);
    expect(broker.request('c1', long)[0]).toBe('note request-dropped memory c1 echo');
    expect(broker.stats.counters.dropped.memory).toBe(1);
    beTight(false);
    expect(broker.request('c1', long)).toEqual([]);
    expect(broker.stats.openRequests).toBe(2);
  });

  it('short requests wait, also for a worker that comes meanwhile, until they are a megabyte together', () => {
    beTight();
    const short = 'x'.repeat(RESERVE_BYTES / 4);
    for (const client of ['c1', 'c2', 'c3']) expect(broker.request(client, short, 'new')).toEqual([]);
    expect(broker.request('c4', short, 'new')[0]).toBe('note request-dropped memory c4 new');
    expect(broker.ready('w1', 'new')).toContain(`-> w1 REQUEST c1 "${short}"`);
    expect(broker.stats.openRequests).toBe(3);
  });

  it('who has most waiting makes room for who has little', () => {
    for (let count = 0; count < 8; count++) broker.request('hoarder', long, 'nobody');
    beTight();
    for (const client of ['c1', 'c2', 'c3']) broker.request(client, 'x'.repeat(RESERVE_BYTES / 4), 'nobody');
    expect(broker.request('c4', 'x'.repeat(RESERVE_BYTES / 4), 'nobody')[0]).toBe(
      'note request-dropped displaced hoarder nobody',
    );
    expect(broker.request('hoarder', 'x', 'nobody')).toEqual([]);
    expect(broker.request('hoarder', long, 'nobody')[0]).toBe('note request-dropped memory hoarder nobody');
  });

  it('listings are refused, and single questions answered', () => {
    broker.ready('w1', 'echo');
    beTight();
    expect(broker.request('c1', '', 'mmi.services')).toEqual(['note request-dropped memory c1 mmi.services']);
    expect(broker.request('c1', 'echo', 'mmi.service')).toHaveLength(1);
  });
});
