/** Rules 17 to 20: what happens to jobs whose workers die or leave. */
import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/emqp/broker-under-test.js';

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest();
});

/** These workers for queue default, with one slot each. */
function workers(...names: string[]): void {
  for (const name of names) {
    broker.inform(name);
    broker.ready(name);
  }
}

describe('a guaranteed job', () => {
  it('rule 17: goes to the next worker at once when its worker expires', () => {
    workers('w1');
    broker.request('c1', 'm1', 'default', 'guarantee');
    broker.advance(1000);
    workers('w2');
    expect(broker.live(8000, 'w2')).toEqual(['9000ms: left w1 expired', '9000ms: -> w2 REQUEST m1 default']);
  });

  it('rule 17: waits in front of all others without another worker', () => {
    workers('w1');
    broker.request('c1', 'm1', 'default', 'guarantee');
    broker.request('c1', 'm2');
    broker.gone('w1');
    broker.inform('w2');
    expect(broker.ready('w2', 2)).toEqual(['-> w2 REQUEST m1 default', '-> w2 REQUEST m2 default']);
  });

  it('rule 17: several keep their order in front', () => {
    broker.inform('w1');
    broker.ready('w1', 2);
    for (const id of ['m1', 'm2']) broker.request('c1', id, 'default', 'guarantee');
    broker.request('c1', 'm3');
    broker.gone('w1');
    broker.inform('w2');
    expect(broker.ready('w2', 3).map((line) => line.split(' ')[3])).toEqual(['m1', 'm2', 'm3']);
  });

  it('rule 17: is routed like a new request when its queue has lost its last worker', () => {
    workers('w2');
    broker.inform('w1', 'mail');
    broker.ready('w1');
    broker.request('c1', 'm1', 'mail', 'guarantee');
    expect(broker.gone('w1')).toEqual(['left w1 gone', '-> w2 REQUEST m1 mail']);
  });

  it('rule 17: is answered by its last worker', () => {
    workers('w1', 'w2');
    broker.request('c1', 'm1', 'default', 'guarantee,reply-requested');
    broker.gone('w1');
    expect(broker.reply('w2', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}']);
    expect(broker.stats.openRequests).toBe(0);
  });

  it('rule 17: may be answered by a worker that was given up and returned under another name; the other answer is dropped', () => {
    workers('w1', 'w2');
    broker.request('c1', 'm1', 'default', 'guarantee,reply-requested');
    broker.gone('w1');
    broker.inform('w3');
    expect(broker.reply('w3', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}']);
    expect(broker.reply('w2', 'm1')).toEqual(['note message-dropped reply-unknown w2']);
  });

  it('rule 17: may be answered while it waits again, and then does not start', () => {
    workers('w1');
    broker.request('c1', 'm1', 'default', 'guarantee,reply-requested');
    broker.gone('w1');
    broker.inform('w1');
    expect(broker.reply('w1', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}']);
    expect(broker.ready('w1')).toEqual([]);
  });

  it('rule 17: is not confused with another job with the same id', () => {
    broker.inform('w1');
    broker.ready('w1', 2);
    broker.request('c1', 'uuid', 'default', 'guarantee');
    broker.request('c2', 'uuid', 'default', 'guarantee');
    broker.inform('w2');
    expect(broker.reply('w2', 'uuid')).toEqual(['note message-dropped reply-unknown w2']);
    expect(broker.stats.openRequests).toBe(2);
  });

  it('rule 17: is given up after guaranteeAttempts, and its client is told', () => {
    broker = new BrokerUnderTest({ guaranteeAttempts: 2 });
    workers('w1', 'w2', 'w3');
    broker.request('c1', 'm1', 'default', 'guarantee,reply-requested');
    expect(broker.gone('w1')).toContain('-> w2 REQUEST m1 default');
    expect(broker.gone('w2')).toEqual([
      'left w2 gone',
      '-> c1 RESULT m1 {"value": "guaranteed job lost with 2 workers"}',
      'note request-dropped guarantee-exhausted c1 default',
    ]);
    expect(broker.stats.openRequests).toBe(0);
  });

  it('rule 17: without reply-requested is given up with only a note', () => {
    broker = new BrokerUnderTest({ guaranteeAttempts: 1 });
    workers('w1');
    broker.request('c1', 'm1', 'default', 'guarantee');
    expect(broker.gone('w1')).toEqual(['left w1 gone', 'note request-dropped guarantee-exhausted c1 default']);
  });

  it('rule 17: is kept even if its result is no longer awaited', () => {
    broker = new BrokerUnderTest({ resultRouteTtlMs: 2000 });
    workers('w1');
    broker.request('c1', 'm1', 'default', 'guarantee,reply-requested');
    broker.live(3000, 'w1');
    expect(broker.stats.openRequests).toBe(1);
    expect(broker.reply('w1', 'm1')).toEqual([]);
    expect(broker.stats.openRequests).toBe(0);
  });
});

describe('a worker that leaves', () => {
  it.each(['KBYE', 'KBAI'] as const)('rule 18: with %s may still finish its jobs', (word) => {
    workers('w1', 'w2');
    broker.request('c1', 'm1', 'default', 'guarantee,reply-requested');
    expect(broker.bye('w1', word)).toEqual(['left w1 bye']);
    expect(broker.reply('w1', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}']);
    expect(broker.stats).toMatchObject({ leaving: 0, openRequests: 0 });
  });

  it('rule 18: by a second INFORM may still finish its jobs', () => {
    workers('w1');
    broker.request('c1', 'm1', 'default', 'guarantee,reply-requested');
    broker.inform('w1');
    expect(broker.stats).toMatchObject({ workers: 1, leaving: 1 });
    expect(broker.reply('w1', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}']);
  });

  it('rule 18: twice keeps the jobs of both conversations', () => {
    workers('w1');
    broker.request('c1', 'm1', 'default', 'reply-requested');
    workers('w1');
    broker.request('c1', 'm2', 'default', 'reply-requested');
    broker.inform('w1');
    expect(broker.stats.leaving).toBe(1);
    expect([...broker.reply('w1', 'm2'), ...broker.reply('w1', 'm1')]).toEqual([
      '-> c1 RESULT m2 {"value": 5}',
      '-> c1 RESULT m1 {"value": 5}',
    ]);
  });

  it('rule 18: keeps its jobs as long as it sends HEARTBEAT, and loses them after leaveGraceMs of silence', () => {
    workers('w1', 'w2');
    broker.request('c1', 'm1', 'default', 'guarantee');
    broker.bye('w1');
    expect(broker.live(20_000, 'w1', 'w2')).toEqual([]);
    expect(broker.live(5000, 'w2')).toEqual(['25000ms: -> w2 REQUEST m1 default']);
    expect(broker.stats.leaving).toBe(0);
  });

  it('rule 18: loses them at once when its socket is gone', () => {
    workers('w1', 'w2');
    broker.request('c1', 'm1', 'default', 'guarantee');
    broker.bye('w1');
    expect(broker.gone('w1')).toEqual(['-> w2 REQUEST m1 default']);
  });

  it('rule 18: gets nothing more, not even a heartbeat', () => {
    workers('w1');
    broker.request('c1', 'm1', 'default', 'guarantee');
    broker.bye('w1');
    expect(broker.live(10_000, 'w1')).toEqual([]);
    expect(broker.ready('w1')).toEqual(['note message-dropped unknown-peer w1']);
  });

  it('rule 18: with a job that is not guaranteed may finish that, too; if it does not, the job is lost', () => {
    workers('w1');
    broker.request('c1', 'm1', 'default', 'reply-requested');
    broker.bye('w1');
    expect(broker.advance(5000)).toEqual([
      '5000ms: -> c1 RESULT m1 {"value": "job lost with its worker"}',
      '5000ms: note request-dropped jobs-lost c1 default',
    ]);
  });
});

describe('a worker that never answers guaranteed jobs', () => {
  const silent = (id: string, headers = 'guarantee') => broker.request('c1', id, 'default', headers);

  it('rule 19: is assumed to have done them when all its slots are free again', () => {
    broker.inform('w1');
    broker.ready('w1', 2);
    broker.live(10_000, 'w1');
    silent('m1');
    silent('m2');
    broker.ready('w1');
    expect(broker.stats.openRequests).toBe(2);
    broker.ready('w1');
    expect(broker.stats).toMatchObject({ openRequests: 0, openBytes: 0, counters: { unconfirmed: 2 } });
  });

  it('rule 19: not before 10 s after its INFORM, when its slots are known', () => {
    broker.inform('w1');
    broker.ready('w1');
    silent('m1');
    broker.ready('w1');
    broker.live(9000, 'w1');
    expect(broker.stats.openRequests).toBe(1);
    broker.live(1000, 'w1');
    expect(broker.stats.openRequests).toBe(0);
  });

  it.each([
    ['guarantee', 360_000],
    ['guarantee,timeout:30', 90_000],
  ])('rule 19: with headers %s at the latest after %i ms', (headers, ms) => {
    workers('w1');
    silent('m1', headers);
    broker.live(ms - 1000, 'w1');
    expect(broker.stats.openRequests).toBe(1);
    broker.live(1000, 'w1');
    expect(broker.stats).toMatchObject({ openRequests: 0, counters: { unconfirmed: 1 } });
  });

  it('rule 19: does not apply to a worker that has answered such a job', () => {
    workers('w1');
    broker.live(10_000, 'w1');
    silent('m1');
    broker.reply('w1', 'm1');
    broker.ready('w1');
    silent('m2');
    broker.ready('w1');
    broker.live(400_000, 'w1');
    expect(broker.stats.openRequests).toBe(1);
    expect(broker.gone('w1')).toEqual(['left w1 gone']);
    expect(broker.stats.queues).toMatchObject([{ name: 'default', waiting: 1 }]);
  });

  it('rule 19: does not apply to a job that requested a reply', () => {
    workers('w1');
    silent('m1', 'guarantee,reply-requested');
    broker.ready('w1');
    broker.live(400_000, 'w1');
    expect(broker.stats.openRequests).toBe(1);
  });
});

describe('a job without guarantee', () => {
  it('rule 20: is lost with its worker, and counted; a client that requested the result is told instead', () => {
    broker.inform('w1');
    broker.ready('w1', 2);
    broker.request('c1', 'm1');
    broker.request('c2', 'm2', 'default', 'reply-requested');
    expect(broker.gone('w1')).toEqual([
      'left w1 gone',
      'note request-dropped jobs-lost c1 default',
      '-> c2 RESULT m2 {"value": "job lost with its worker"}',
      'note request-dropped jobs-lost c2 default',
    ]);
    expect(broker.dropped).toEqual({ 'jobs-lost': 2 });
  });

  it('rule 20: that has ended is not lost: READY ends a job without a reply', () => {
    workers('w1');
    broker.request('c1', 'm1');
    broker.ready('w1');
    expect(broker.gone('w1')).toEqual(['left w1 gone']);
    expect(broker.stats.counters).toMatchObject({ processed: 1, dropped: { 'jobs-lost': 0 } });
  });

  it('rule 20: READY after REPLY belongs to the job that replied', () => {
    broker.inform('w1');
    broker.ready('w1', 2);
    broker.request('c1', 'm1');
    broker.request('c1', 'm2', 'default', 'reply-requested');
    broker.reply('w1', 'm2');
    broker.ready('w1');
    expect(broker.gone('w1')).toContain('note request-dropped jobs-lost c1 default');
  });
});

describe('a job with retry-count', () => {
  it('rule 17: goes to the next worker when its worker is lost, as often as it allows', () => {
    workers('w1', 'w2', 'w3', 'w4');
    broker.request('c1', 'm1', 'default', 'reply-requested,retry-count:2');
    expect(broker.gone('w1')).toEqual(['left w1 gone', '-> w2 REQUEST m1 default']);
    expect(broker.gone('w2')).toEqual(['left w2 gone', '-> w3 REQUEST m1 default']);
    expect(broker.gone('w3')).toEqual([
      'left w3 gone',
      '-> c1 RESULT m1 {"value": "job lost with 3 workers"}',
      'note request-dropped jobs-lost c1 default',
    ]);
    expect(broker.stats).toMatchObject({ openRequests: 0, openBytes: 0, counters: { dispatches: 3 } });
  });

  it('rule 17: waits in front without another worker, and is answered once', () => {
    workers('w1');
    broker.request('c1', 'm1', 'default', 'reply-requested,retry-count:1');
    broker.request('c1', 'm2');
    broker.gone('w1');
    broker.inform('w2');
    expect(broker.ready('w2', 2)).toEqual(['-> w2 REQUEST m1 default', '-> w2 REQUEST m2 default']);
    expect(broker.reply('w2', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}']);
    expect(broker.reply('w2', 'm1')).toEqual(['note message-dropped reply-unknown w2']);
  });

  it('rule 17: may be answered by a worker that was given up and returned under another name', () => {
    workers('w1', 'w2');
    broker.request('c1', 'm1', 'default', 'reply-requested,retry-count:1');
    broker.gone('w1');
    broker.inform('w3');
    expect(broker.reply('w3', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}']);
  });

  it('rule 16: a dispatch that came back does not count', () => {
    workers('w1', 'w2', 'w3');
    broker.request('c1', 'm1', 'default', 'reply-requested,retry-count:1');
    expect(broker.undeliverable('w1')).toContain('-> w2 REQUEST m1 default');
    expect(broker.gone('w2')).toContain('-> w3 REQUEST m1 default');
  });

  it('rule 19: is released at a worker that never answers such jobs', () => {
    workers('w1');
    broker.live(10_000, 'w1');
    broker.request('c1', 'm1', 'default', 'retry-count:1');
    broker.ready('w1');
    expect(broker.stats).toMatchObject({ openRequests: 0, counters: { unconfirmed: 1 } });
  });
});

describe('a job whose process was replaced', () => {
  /** Worker w1 with this many slots, all known. */
  function settled(slots: number): void {
    broker.inform('w1');
    broker.ready('w1', slots);
    broker.live(10_000, 'w1');
  }
  const asked = (id: string, headers = 'reply-requested') => broker.request('c1', id, 'default', headers);
  const lost = (id: string) => [
    `-> c1 RESULT ${id} {"value": "job lost with its worker"}`,
    'note request-dropped jobs-lost c1 default',
  ];

  it('rule 20: is lost, as a READY without a REPLY before it shows, and its client is told', () => {
    settled(1);
    asked('m1');
    expect(broker.ready('w1')).toEqual(lost('m1'));
    expect(broker.stats).toMatchObject({ openRequests: 0, slots: 1 });
  });

  it('rule 20: is run again by a free worker, as often as retry-count allows', () => {
    settled(1);
    asked('m1', 'reply-requested,retry-count:1');
    expect(broker.ready('w1')).toEqual(['-> w1 REQUEST m1 default']);
    expect(broker.ready('w1')).toEqual([
      '-> c1 RESULT m1 {"value": "job lost with 2 workers"}',
      'note request-dropped jobs-lost c1 default',
    ]);
  });

  it('rule 20: is identified among several once the others have been answered', () => {
    settled(3);
    for (const id of ['m1', 'm2', 'm3']) asked(id);
    expect(broker.ready('w1')).toEqual([]);
    asked('m4');
    broker.reply('w1', 'm1');
    expect(broker.ready('w1')).toEqual([]);
    expect(broker.reply('w1', 'm3')).toEqual(['-> c1 RESULT m3 {"value": 5}', ...lost('m2')]);
    expect(broker.stats.openRequests).toBe(1);
    expect(broker.reply('w1', 'm4')).toEqual(['-> c1 RESULT m4 {"value": 5}']);
  });

  it('rule 20: is not assumed lost while processes start, nor for 10 s after the last new slot', () => {
    broker.inform('w1');
    broker.ready('w1');
    asked('m1');
    broker.ready('w1', 3);
    broker.live(9000, 'w1');
    expect(broker.ready('w1')).toEqual([]);
    broker.live(9000, 'w1');
    expect(broker.ready('w1')).toEqual([]);
    expect(broker.reply('w1', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}']);
  });

  it('rule 20: is not assumed lost if another job may have ended silently', () => {
    settled(2);
    asked('m1');
    asked('m2', 'guarantee');
    expect(broker.ready('w1')).toEqual([]);
    expect(broker.reply('w1', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}']);
  });
});
