import { beforeEach, describe, expect, it } from 'vitest';
import { QueueUnderTest } from '../../../test/ppp/under-test.js';

let queue: QueueUnderTest;
beforeEach(() => {
  queue = new QueueUnderTest({ drainMs: 1000 });
});

describe('rule 19: drain', () => {
  it('rule 19: ends at once if nothing runs, and sends nothing', () => {
    queue.ready('w1');
    expect(queue.drain()).toEqual(['worker-lost w1 drained', 'drained']);
  });

  it('rule 19: forwards the replies of running jobs', () => {
    queue.ready('w1');
    queue.request('c1', 'hello');
    expect(queue.drain()).toEqual([]);
    expect(queue.reply('w1', 'c1', 'done')).toEqual(['-> c1 REPLY "done"', 'worker-lost w1 drained', 'drained']);
  });

  it('rule 19: accepts no new requests', () => {
    queue.ready('w1');
    queue.ready('w2');
    queue.request('c1', 'hello');
    queue.drain();
    expect(queue.request('c2', 'late')).toEqual(['note request-dropped draining frontend c2']);
    expect(queue.dropped).toEqual({ draining: 1 });
  });

  it('rule 19: drops and counts waiting requests', () => {
    queue.ready('w1');
    for (const body of ['running', 'waiting', 'waiting']) queue.request('c1', body);
    expect(queue.drain()).toEqual(['note request-dropped drained frontend c1']);
    expect(queue.dropped).toEqual({ drained: 2 });
  });

  it('rule 19: ends after drainMs even if a job keeps running', () => {
    queue = new QueueUnderTest({ drainMs: 900 });
    queue.ready('w1');
    queue.request('c1', 'for ever');
    queue.drain();
    expect(queue.advance(899)).toEqual([]);
    expect(queue.advance(1)).toEqual([
      '900ms: worker-lost w1 drained',
      '900ms: note request-dropped drained frontend c1',
      '900ms: drained',
    ]);
  });

  it('rule 19: still resends the job of a worker that is lost meanwhile', () => {
    queue.ready('w1');
    queue.ready('w2');
    queue.request('c1', 'hello');
    queue.drain();
    expect(queue.workerGone('w1')).toEqual(['worker-lost w1 gone', '-> w2 REQUEST c1 "hello"']);
    expect(queue.reply('w2', 'c1', 'done')).toContain('drained');
  });

  it('rule 19: keeps heartbeats going while jobs run', () => {
    queue = new QueueUnderTest({ heartbeatIntervalMs: 100, drainMs: 250, muteExpiryMs: 1000 });
    queue.ready('w1');
    queue.request('c1', 'hello');
    queue.drain();
    expect(queue.advance(200)).toEqual(['100ms: -> w1 HEARTBEAT', '200ms: -> w1 HEARTBEAT']);
  });

  it('begins once', () => {
    queue.ready('w1');
    queue.request('c1', 'hello');
    queue.drain();
    queue.advance(900);
    queue.drain();
    expect(queue.advance(100)).toContain('1000ms: drained');
  });

  it('leaves no timer behind', () => {
    queue.ready('w1');
    queue.drain();
    expect(queue.engine.deadline).toBe(Infinity);
    const later = [queue.ready('w2'), queue.request('c1', 'x'), queue.backend('x', 'y'), queue.drain()];
    expect(later).toEqual([[], [], [], []]);
    expect(queue.stats).toMatchObject({ workers: 0, clients: 0, openRequests: 0, openBytes: 0, waiting: 0 });
  });
});
