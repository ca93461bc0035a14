import { beforeEach, describe, expect, it } from 'vitest';
import { PoolUnderTest } from '../../../test/ppp/under-test.js';
import { RESERVE_BYTES } from '../../shared/budget.js';

let pool: PoolUnderTest;
beforeEach(() => {
  pool = new PoolUnderTest();
});

describe('rule 1: workers are treated as by a queue', () => {
  it('rule 1: READY registers; anything else from a stranger is dropped and not answered', () => {
    expect(pool.heartbeat('w1')).toEqual(['note message-dropped unregistered backend w1']);
    expect(pool.backend('w1', '\x07')).toEqual(['note message-dropped control-unknown backend w1']);
    expect(pool.advance(20_000)).toEqual([]);
    expect(pool.ready('w1')).toEqual(['worker-ready w1']);
  });

  it('rule 1: heartbeats, and expiry', () => {
    pool.ready('w1');
    expect(pool.advance(10_000)).toEqual([
      '1000ms: -> w1 HEARTBEAT',
      '2000ms: -> w1 HEARTBEAT',
      '3000ms: worker-lost w1 expired',
    ]);
  });

  it('rule 1: least recently used first, one job each', () => {
    pool.ready('w1');
    pool.ready('w2');
    expect(pool.request(1, 'a')).toEqual(['-> w1 REQUEST #1 "a"']);
    expect(pool.request(2, 'b')).toEqual(['-> w2 REQUEST #2 "b"']);
    expect(pool.request(3, 'c')).toEqual([]);
    expect(pool.reply('w2', 2, 'B')).toEqual(['answer 2 "B"', '-> w2 REQUEST #3 "c"']);
  });

  it('rule 1: READY while busy loses the job, which is resent', () => {
    pool.ready('w1');
    pool.ready('w2');
    pool.request(1, 'a');
    expect(pool.ready('w1')).toEqual(['worker-lost w1 restarted', '-> w2 REQUEST #1 "a"', 'worker-ready w1']);
  });

  it('rule 1: a lost worker’s request goes to another, at most maxAttempts times', () => {
    pool = new PoolUnderTest({ maxAttempts: 2 });
    pool.ready('w1');
    pool.request(1, 'a');
    expect(pool.workerGone('w1')).toEqual(['worker-lost w1 gone']);
    expect(pool.ready('w2')).toEqual(['worker-ready w2', '-> w2 REQUEST #1 "a"']);
    expect(pool.workerUndeliverable('w2', 'congested')).toEqual(['worker-lost w2 congested']);
    pool.ready('w3');
    expect(pool.workerGone('w3')).toEqual(['worker-lost w3 gone', 'fail 1 attempts-exhausted']);
  });

  it('rule 1: jobTimeoutMs', () => {
    pool = new PoolUnderTest({ jobTimeoutMs: 2000, busyExpiryMs: 60_000 });
    pool.ready('w1');
    pool.request(1, 'a');
    expect(pool.advanceQuietly(2000)).toEqual(['2000ms: worker-lost w1 job-timeout']);
  });
});

describe('rule 2: correlation', () => {
  it('rule 2: a request has its id as its address, and the reply to it is the answer', () => {
    pool.ready('w1');
    expect(pool.request(7, 'a')).toEqual(['-> w1 REQUEST #7 "a"']);
    expect(pool.reply('w1', 7, 'A', '', 'B')).toEqual(['answer 7 "A" "" "B"']);
    expect(pool.stats).toMatchObject({ openRequests: 0, openBytes: 0, busy: 0 });
  });

  it.each<[string, (pool: PoolUnderTest) => string[], string]>([
    ['an unknown id', (p) => p.reply('w1', 9, 'x'), 'reply-address'],
    ['an address that is not an id', (p) => p.backend('w1', 'c1', '', 'x'), 'reply-address'],
    ['no content', (p) => p.reply('w1', 7), 'reply-malformed'],
    ['no empty frame', (p) => p.backend('w1', 'c1', 'x'), 'reply-malformed'],
  ])('rule 2: a reply with %s is dropped, and the wait continues', (_what, reply, reason) => {
    pool.ready('w1');
    pool.request(7, 'a');
    expect(reply(pool)).toEqual([`note message-dropped ${reason} backend w1`]);
    expect(pool.reply('w1', 7, 'A')).toEqual(['answer 7 "A"']);
  });

  it('rule 2: the reply of a worker that has another job, or none, is dropped', () => {
    pool.ready('w1');
    pool.ready('w2');
    pool.ready('w3');
    pool.request(1, 'a');
    pool.request(2, 'b');
    expect(pool.reply('w2', 1, 'x')).toEqual(['note message-dropped reply-address backend w2']);
    expect(pool.reply('w3', 1, 'x')).toEqual(['note message-dropped reply-unexpected backend w3']);
  });
});

describe('rule 4: timeouts', () => {
  it('rule 4: a request that waits too long fails and does not start', () => {
    pool.request(1, 'a', 500);
    expect(pool.advance(500)).toEqual(['500ms: fail 1 expired']);
    expect(pool.ready('w1')).toEqual(['worker-ready w1']);
    expect(pool.dropped).toEqual({ expired: 1 });
  });

  it('rule 4: a request that runs too long fails; its reply is dropped and the worker free', () => {
    pool.ready('w1');
    pool.request(1, 'a', 500);
    expect(pool.advance(500)).toEqual(['500ms: fail 1 expired']);
    expect(pool.request(2, 'b')).toEqual([]);
    expect(pool.reply('w1', 1, 'late')).toEqual(['-> w1 REQUEST #2 "b"']);
    expect(pool.dropped).toEqual({ 'reply-undeliverable': 1 });
  });

  it('rule 4: each request has its own timeout', () => {
    pool.request(1, 'a', 900);
    pool.request(2, 'b', 300);
    pool.request(3, 'c', 600);
    expect(pool.advance(1000)).toEqual(['300ms: fail 2 expired', '600ms: fail 3 expired', '900ms: fail 1 expired']);
  });

  it('rule 4: the job of a request that has failed is not resent', () => {
    pool.ready('w1');
    pool.ready('w2');
    pool.request(1, 'a', 500);
    pool.advance(500);
    expect(pool.workerGone('w1')).toEqual(['worker-lost w1 gone']);
    expect(pool.stats).toMatchObject({ openRequests: 0, busy: 0 });
  });

  it('rule 4: are postponed when we were too busy to listen (ADR 4)', () => {
    pool.ready('w1');
    pool.request(1, 'a', 500);
    expect(pool.stall(5000).filter((line) => line.startsWith('fail'))).toEqual([]);
    expect(pool.reply('w1', 1, 'A')).toEqual(['answer 1 "A"']);
  });
});

describe('rule 4: aborts', () => {
  it('rule 4: a waiting request is removed', () => {
    pool.request(1, 'a');
    pool.request(2, 'b');
    expect(pool.abort(1)).toEqual([]);
    expect(pool.ready('w1')).toEqual(['worker-ready w1', '-> w1 REQUEST #2 "b"']);
    expect(pool.dropped).toEqual({ aborted: 1 });
  });

  it('rule 4: a running one is forgotten, and its reply dropped', () => {
    pool.ready('w1');
    pool.request(1, 'a');
    expect(pool.abort(1)).toEqual([]);
    expect(pool.stats.busy).toBe(1);
    expect(pool.reply('w1', 1, 'late')).toEqual([]);
    expect(pool.stats.busy).toBe(0);
    expect(pool.dropped).toEqual({ 'reply-undeliverable': 1 });
  });

  it('rule 4: for a finished request has no effect', () => {
    pool.ready('w1');
    pool.request(1, 'a');
    pool.reply('w1', 1, 'A');
    expect(pool.abort(1)).toEqual([]);
    expect(pool.abort(99)).toEqual([]);
    expect(pool.dropped).toEqual({});
  });
});

describe('rule 4: bounds', () => {
  it('rule 4: the newest request over requestQueueMax fails', () => {
    pool = new PoolUnderTest({ requestQueueMax: 1 });
    pool.request(1, 'a');
    expect(pool.request(2, 'b')).toEqual(['fail 2 queue-full']);
    expect(pool.dropped).toEqual({ 'queue-full': 1 });
  });

  it('rule 4: so does one over requestQueueMaxBytes', () => {
    pool = new PoolUnderTest({ maxMessageBytes: 1024, requestQueueMaxBytes: 1024 });
    expect(pool.request(1, 'x'.repeat(1024))).toEqual(['fail 1 queue-full']);
  });

  it('rule 4: so does a long one that would have to wait while memory is short, and not a short one', () => {
    pool.ready('w1');
    pool.step({ kind: 'memory', isTight: true });
    expect(pool.request(1, 'a')).toEqual(['-> w1 REQUEST #1 "a"']);
    expect(pool.request(2, 'b')).toEqual([]);
    const long = 'x'.repeat(RESERVE_BYTES);
    expect(pool.request(3, long)).toEqual(['fail 3 queue-full']);
    pool.step({ kind: 'memory', isTight: false });
    expect(pool.request(4, long)).toEqual([]);
  });

  it('rule 4: reports how many bytes it holds', () => {
    const idle = pool.engine.heldBytes;
    pool.request(1, 'x'.repeat(1024));
    expect(pool.engine.heldBytes - idle).toBeGreaterThanOrEqual(1024);
    pool.abort(1);
    expect(pool.engine.heldBytes).toBe(idle);
  });
});

describe('drain', () => {
  it('fails waiting requests, lets running ones finish, accepts no new ones', () => {
    pool.ready('w1');
    pool.request(1, 'a');
    pool.request(2, 'b');
    expect(pool.drain()).toEqual(['fail 2 drained']);
    expect(pool.request(3, 'c')).toEqual(['fail 3 draining']);
    expect(pool.reply('w1', 1, 'A')).toEqual(['answer 1 "A"', 'worker-lost w1 drained', 'drained']);
    expect(pool.request(4, 'd')).toEqual(['fail 4 draining']);
    expect(pool.engine.deadline).toBe(Infinity);
  });

  it('fails requests that still run after drainMs', () => {
    pool = new PoolUnderTest({ drainMs: 500 });
    pool.ready('w1');
    pool.request(1, 'a');
    pool.drain();
    expect(pool.advance(500)).toEqual(['500ms: worker-lost w1 drained', '500ms: fail 1 drained', '500ms: drained']);
  });
});
