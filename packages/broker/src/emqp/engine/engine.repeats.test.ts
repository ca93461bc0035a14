/** Rule 36: guaranteed jobs that are requested again. */
import { memoryRecords } from '@proj/transport';
import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest, jobBody } from '../../../test/emqp/broker-under-test.js';

const ID = 'dcdc6435-72a1-4c2b-97a1-a383ef355ca2';
const WISHES = 'guarantee,reply-requested';

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest();
});

const ask = (client: string, headers = WISHES, id = ID, body = jobBody()) =>
  broker.request(client, id, 'default', headers, body);

/** Worker w1 with this many slots. */
function worker(slots = 1): void {
  broker.inform('w1');
  broker.ready('w1', slots);
}

describe('a guaranteed job that is requested again', () => {
  it('rule 36: is accepted again but not run again, and its result goes where it was last requested', () => {
    worker(2);
    expect(ask('c1')).toEqual([`-> c1 ACCEPTED ${ID}`, `-> w1 REQUEST ${ID} default`]);
    broker.gone('c1');
    expect(ask('c2')).toEqual([`-> c2 ACCEPTED ${ID}`]);
    expect(broker.reply('w1', ID)).toEqual([`-> c2 RESULT ${ID} {"value": 5}`]);
    expect(broker.stats).toMatchObject({ openRequests: 0, counters: { requests: 1, repeats: 1, dispatches: 1 } });
  });

  it('rule 36: keeps its place while it waits', () => {
    ask('c1', WISHES);
    broker.request('c1', 'm2');
    ask('c2');
    broker.inform('w1');
    expect(broker.ready('w1', 3)).toEqual([`-> w1 REQUEST ${ID} default`, '-> w1 REQUEST m2 default']);
  });

  it('rule 36: is another job once it is over', () => {
    worker(2);
    ask('c1');
    broker.reply('w1', ID);
    expect(ask('c2')).toEqual([`-> c2 ACCEPTED ${ID}`, `-> w1 REQUEST ${ID} default`]);
  });

  it('rule 36: gets a new route for its result', () => {
    broker = new BrokerUnderTest({ resultRouteTtlMs: 5000 });
    worker();
    ask('c1');
    broker.live(5000, 'w1');
    expect(broker.dropped).toEqual({ 'result-expired': 1 });
    ask('c1');
    broker.live(4000, 'w1');
    expect(broker.reply('w1', ID)).toEqual([`-> c1 RESULT ${ID} {"value": 5}`]);
  });

  it('rule 36: is accepted even by a broker that stops, which says goodbye where it was last requested', () => {
    worker();
    ask('c1');
    broker.drain();
    expect(ask('c2')).toEqual([`-> c2 ACCEPTED ${ID}`]);
    expect(broker.request('c2', 'm2', 'default', WISHES)).toEqual(['note request-dropped draining c2 default']);
    broker.reply('w1', ID);
    expect(broker.ready('w1')).toEqual(expect.arrayContaining(['-> c2 KBAI', 'drained']));
  });
});

describe('a REQUEST that is not the same', () => {
  it.each([
    ['without guarantee', () => [ask('c1', 'reply-requested'), ask('c2', 'reply-requested')]],
    ['with another body', () => [ask('c1'), ask('c2', WISHES, ID, jobBody('sub'))]],
    ['with other headers', () => [ask('c1'), ask('c2', 'guarantee')]],
    ['for another queue', () => [ask('c1'), broker.request('c2', ID, 'mail', WISHES)]],
    ['with another key', () => [ask('c1@ada'), ask('c2@bob')]],
    ['of nobody’s key', () => [ask('c1@ada'), ask('c2')]],
    ['with a key instead of none', () => [ask('c1'), ask('c2@bob')]],
    ['from a client whose ids are not UUIDs', () => [ask('c1', WISHES, 'uuid'), ask('c2', WISHES, 'uuid')]],
  ])('rule 36: %s is another job', (_, requests) => {
    worker(2);
    for (const lines of requests()) expect(lines).toHaveLength(2);
    expect(broker.stats).toMatchObject({ openRequests: 2, counters: { repeats: 0 } });
  });
});

describe('with a store', () => {
  beforeEach(() => {
    broker = new BrokerUnderTest({ store: memoryRecords() });
  });

  it('rule 36: a job being stored is accepted once, where its client is by then', () => {
    worker();
    ask('c1');
    expect(ask('c2')).toEqual([]);
    expect(broker.stored(1)).toEqual([`-> c2 ACCEPTED ${ID}`, `-> w1 REQUEST ${ID} default`]);
  });

  it('rule 36: a job that the store could not take is new when it is requested again', () => {
    ask('c1');
    broker.stored(1, 'disk full');
    expect(ask('c2')).toEqual(['store 2: +1 -0']);
  });

  it('rule 36: a job that was over, not removed yet, and requested again is one job for the next broker', () => {
    worker(2);
    ask('c1');
    broker.stored(1);
    broker.reply('w1', ID);
    broker.stored(2, 'away');
    ask('c2');
    broker.stored(3);
    const { records } = broker;
    expect(records.size).toBe(4);
    broker = new BrokerUnderTest({ store: memoryRecords() });
    expect(broker.restore(records)).toContain('store 1: +1 -1');
    broker.stored(1);
    worker(2);
    expect(broker.reply('w1', ID)).toEqual([`-> c2 RESULT ${ID} {"value": 5}`, 'store 2: +0 -1']);
    broker.stored(2);
    expect(broker.stats.openRequests + broker.records.size).toBe(0);
  });

  it('rule 36: a broker with restored jobs knows them, and their clients by their keys', () => {
    for (const client of ['c1@ada', 'c2@ada']) ask(client);
    broker.stored(1);
    expect(ask('c3@ada')).toEqual([`-> c3@ada ACCEPTED ${ID}`, 'store 2: +1 -0']);
    broker.stored(2);
    const { records } = broker;
    broker = new BrokerUnderTest({ store: memoryRecords() });
    broker.restore(records);
    expect(ask('c4@bob')).toEqual(['store 1: +1 -0']);
    worker(1);
    expect(broker.reply('w1', ID)).toEqual([`-> c3@ada RESULT ${ID} {"value": 5}`]);
  });
});
