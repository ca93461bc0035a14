import { describe, beforeEach, expect, it } from 'vitest';
import { PoolUnderTest } from '../../../test/mdp/pool-under-test.js';
import { RESERVE_BYTES } from '../../shared/budget.js';

let pool: PoolUnderTest;
beforeEach(() => {
  pool = new PoolUnderTest();
});

describe('rule 1: workers', () => {
  it('rule 1: of both versions serve one service; a REPLY is the final reply', () => {
    pool.ready('new');
    pool.ready('old', 'echo', '0.1');
    expect(pool.request(1, 'a')).toEqual(['-> new REQUEST #1 "a"']);
    expect(pool.request(2, 'b')).toEqual(['-> old 0.1 REQUEST #2 "b"']);
    expect(pool.final('old', 2, 'B', '0.1')).toEqual(['answer 2 "B"']);
    expect(pool.final('new', 1, 'A')).toEqual(['answer 1 "A"']);
    expect(pool.stats).toMatchObject({ openRequests: 0, clients: 0, counters: { requests: 2, replies: 2 } });
  });

  it('rule 1: are treated as by a broker: heartbeats, expiry, DISCONNECT', () => {
    pool.ready('w1');
    expect(pool.advance(2500)).toEqual(['2500ms: -> w1 HEARTBEAT']);
    expect(pool.ready('w1')).toEqual([
      'note message-dropped unexpected w1',
      '-> w1 DISCONNECT',
      'worker-lost w1 echo unexpected',
    ]);
    expect(pool.ready('w2')).toEqual(['worker-ready w2 echo']);
    expect(pool.advance(10_000).at(-1)).toBe('10000ms: worker-lost w2 echo expired');
  });

  it('rule 1: a reply to another worker’s request, or to none, is not delivered', () => {
    pool.ready('w1');
    pool.request(1, 'a');
    expect(pool.final('w1', 2, 'A')).toContain('worker-lost w1 echo unexpected');
    expect(pool.ready('w2')).toEqual(['worker-ready w2 echo', '-> w2 REQUEST #1 "a"']);
  });

  it('rule 1: a worker whose routing id looks like a call does not affect that call', () => {
    pool.request(1, 'a');
    const id = '\x00\x00\x00\x00\x00\x00\x00\x01';
    pool.ready(id);
    expect(pool.gone(id)).toEqual([`worker-lost ${id} echo gone`]);
    expect(pool.ready('w1')).toContain('-> w1 REQUEST #1 "a"');
    expect(pool.final('w1', 1, 'A')).toEqual(['answer 1 "A"']);
  });

  it('rule 1: a pool checks the right to serve, but not the right to request', () => {
    pool.access({ keys: ['ada'], serve: ['echo'] });
    expect(pool.ready('w1')).toContain('-> w1 DISCONNECT');
    pool.ready('w2@ada');
    expect(pool.request(1, 'a')).toEqual(['-> w2@ada REQUEST #1 "a"']);
  });

  it('rule 1: messages of clients are dropped and counted', () => {
    expect(pool.client('c1')).toEqual(['note message-dropped wrong-direction c1']);
    expect(pool.dropped).toEqual({ 'wrong-direction': 1 });
  });
});

describe('rule 2: requests', () => {
  it('rule 2: wait for a worker, in order', () => {
    for (const [id, body] of ['a', 'b', 'c'].entries()) expect(pool.request(id, body)).toEqual([]);
    expect(pool.ready('w1')).toEqual(['worker-ready w1 echo', '-> w1 REQUEST #0 "a"']);
    expect(pool.final('w1', 0, 'A')).toEqual(['answer 0 "A"', '-> w1 REQUEST #1 "b"']);
    expect(pool.final('w1', 1, 'B')).toEqual(['answer 1 "B"', '-> w1 REQUEST #2 "c"']);
  });

  it('rule 2: get partial replies as they come', () => {
    pool.ready('w1');
    pool.request(1, 'a');
    expect(pool.partial('w1', 1, 'half')).toEqual(['partial 1 "half"']);
    expect(pool.final('w1', 1, 'done')).toEqual(['answer 1 "done"']);
  });

  it('rule 2: of a lost worker go to another, maxAttempts times', () => {
    pool = new PoolUnderTest({ maxAttempts: 2 });
    pool.ready('w1');
    pool.request(1, 'a');
    expect(pool.gone('w1')).toEqual(['worker-lost w1 echo gone']);
    expect(pool.ready('w2')).toEqual(['worker-ready w2 echo', '-> w2 REQUEST #1 "a"']);
    expect(pool.disconnect('w2')).toEqual(['worker-lost w2 echo disconnected', 'fail 1 attempts-exhausted']);
  });

  it('rule 2: are not resent after a part of the reply', () => {
    pool.ready('w1');
    pool.request(1, 'a');
    pool.partial('w1', 1, 'half');
    expect(pool.gone('w1')).toEqual(['worker-lost w1 echo gone', 'fail 1 lost-after-partial']);
  });

  it('rule 2: over the limits fail at once', () => {
    pool = new PoolUnderTest({ requestQueueMax: 1, servicesMax: 1 });
    pool.request(1, 'a');
    expect(pool.request(2, 'b')).toEqual(['fail 2 queue-full']);
    expect(pool.request(3, 'c', 'other')).toEqual(['fail 3 services-limit']);
    expect(pool.ready('w1')).toContain('-> w1 REQUEST #1 "a"');
  });

  it('rule 2: long ones that would have to wait fail while the process has no room', () => {
    pool.ready('w1');
    pool.step({ kind: 'memory', isTight: true });
    expect(pool.request(1, 'a')).toEqual(['-> w1 REQUEST #1 "a"']);
    expect(pool.request(2, 'x'.repeat(RESERVE_BYTES))).toEqual(['fail 2 memory']);
    expect(pool.request(3, 'c')).toEqual([]);
    expect(pool.engine.heldBytes).toBeGreaterThan(0);
  });

  it('rule 2: keep their bodies, and replies keep theirs: nothing is returned', () => {
    pool.ready('w1');
    const long = 'x'.repeat(2 ** 15);
    expect(pool.request(1, long)).toHaveLength(1);
    expect(pool.partial('w1', 1, long)).toHaveLength(1);
    expect(pool.final('w1', 1, long)).toHaveLength(1);
  });
});

describe('rule 3: patience', () => {
  it('rule 3: ends a request that waits, which no worker gets then', () => {
    pool.request(1, 'a', 'echo', 500);
    pool.request(2, 'b', 'echo', 400);
    expect(pool.advance(500)).toEqual(['400ms: fail 2 expired', '500ms: fail 1 expired']);
    expect(pool.ready('w1')).toEqual(['worker-ready w1 echo']);
    expect(pool.stats.openRequests).toBe(0);
  });

  it('rule 3: ends a running one; the reply is dropped, and the worker continues', () => {
    pool.ready('w1');
    pool.request(1, 'a', 'echo', 500);
    expect(pool.advance(500)).toEqual(['500ms: fail 1 expired']);
    expect(pool.partial('w1', 1, 'half')).toEqual([]);
    expect(pool.final('w1', 1, 'late')).toEqual([]);
    expect(pool.dropped).toEqual({ 'reply-undeliverable': 2 });
    expect(pool.request(2, 'b')).toEqual(['-> w1 REQUEST #2 "b"']);
  });

  it('rule 3: restarts with each partial reply', () => {
    pool.ready('w1');
    pool.request(1, 'a', 'echo', 500);
    pool.advance(400);
    pool.partial('w1', 1, 'half');
    expect(pool.advance(499)).toEqual([]);
    expect(pool.advance(1)).toEqual(['900ms: fail 1 expired']);
  });

  it('rule 3: lasts longer by as much as we were late ourselves', () => {
    pool.ready('w1');
    pool.request(1, 'a', 'echo', 5000);
    expect(pool.stall(6000)).toEqual(['note running-late 3500ms', '-> w1 HEARTBEAT']);
    expect(pool.final('w1', 1, 'A')).toEqual(['answer 1 "A"']);
  });

  it('rule 3: an abort is the end of it, and nothing is said', () => {
    pool.request(1, 'a');
    expect(pool.abort(1)).toEqual([]);
    expect(pool.abort(1)).toEqual([]);
    expect(pool.ready('w1')).toEqual(['worker-ready w1 echo']);
    pool.request(2, 'b');
    expect(pool.abort(2)).toEqual([]);
    expect(pool.final('w1', 2, 'B')).toEqual([]);
    expect(pool.engine.deadline).toBeLessThan(Infinity);
    expect(pool.stats.openRequests).toBe(0);
  });
});

describe('rule 4: drain', () => {
  it('rule 4: waiting requests fail, running ones may finish, workers are told', () => {
    pool.ready('w1');
    pool.request(1, 'a');
    pool.request(2, 'b');
    expect(pool.drain()).toEqual(['fail 2 drained']);
    expect(pool.request(3, 'c')).toEqual(['fail 3 draining']);
    expect(pool.final('w1', 1, 'A')).toEqual([
      'answer 1 "A"',
      '-> w1 DISCONNECT',
      'worker-lost w1 echo drained',
      'drained',
    ]);
    expect(pool.request(4, 'd')).toEqual(['fail 4 draining']);
  });

  it('rule 4: ends after drainMs', () => {
    pool = new PoolUnderTest({ drainMs: 1000 });
    pool.ready('w1');
    pool.request(1, 'a');
    pool.drain();
    expect(pool.advance(1000)).toEqual([
      '1000ms: -> w1 DISCONNECT',
      '1000ms: worker-lost w1 echo drained',
      '1000ms: drained',
      '1000ms: fail 1 drained',
    ]);
  });
});
