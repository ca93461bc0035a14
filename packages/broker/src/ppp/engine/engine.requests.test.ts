import { beforeEach, describe, expect, it } from 'vitest';
import { QueueUnderTest } from '../../../test/ppp/under-test.js';
import { frameCost, requestCost } from '../../shared/cost.js';

let queue: QueueUnderTest;
beforeEach(() => {
  queue = new QueueUnderTest();
});

describe('rule 4: what a request is', () => {
  it('rule 4: an empty frame and content; the worker gets the client’s address in front', () => {
    queue.ready('w1');
    expect(queue.frontend('c1', '', '42')).toEqual(['-> w1 REQUEST c1 "42"']);
  });

  it('rule 4: any number of content frames, empty ones included', () => {
    queue.ready('w1');
    expect(queue.frontend('c1', '', '', 'x', '')).toEqual(['-> w1 REQUEST c1 "" "x" ""']);
  });

  it('rule 4: hops of any depth', () => {
    queue.ready('w1');
    expect(queue.frontend('c1', 'hop1', 'hop2', '', 'x')).toEqual(['-> w1 REQUEST c1 hop1 hop2 "x"']);
    expect(queue.backend('w1', 'c1', 'hop1', 'hop2', '', 'x')).toEqual(['-> c1 REPLY hop1 hop2 "x"']);
  });

  it('rule 4: without an empty frame all of it is content, and so is its reply', () => {
    queue.ready('w1');
    expect(queue.frontend('c1', 'noenv', 'x')).toEqual(['-> w1 REQUEST c1 "noenv" "x"']);
    expect(queue.backend('w1', 'c1', '', 'done', '')).toEqual(['-> c1 REPLY bare "done" ""']);
    expect(queue.frontend('c1', '', 'y')).toEqual(['-> w1 REQUEST c1 "y"']);
    expect(queue.reply('w1', 'c1', 'done')).toEqual(['-> c1 REPLY "done"']);
  });

  it('rule 4: a request that loses its worker is still answered in its form', () => {
    queue.ready('w1');
    queue.frontend('c1', 'x');
    queue.workerGone('w1');
    expect(queue.ready('w2')).toContain('-> w2 REQUEST c1 "x"');
    expect(queue.reply('w2', 'c1', 'done')).toEqual(['-> c1 REPLY bare "done"']);
  });

  it('rule 4: without content it is dropped, counted, and never reaches a worker', () => {
    queue.ready('w1');
    expect(queue.frontend('c1', '\x01')).toEqual(['note message-dropped control-unexpected frontend c1']);
    expect(queue.frontend('c1', '')).toEqual(['note message-dropped request-no-content frontend c1']);
    expect(queue.stats).toMatchObject({ busy: 0, openRequests: 0, clients: 0 });
  });
});

describe('rule 9: which replies are forwarded', () => {
  it('rule 9: the reply of the worker that has the job, once', () => {
    queue.ready('w1');
    queue.request('c1', 'hello');
    expect(queue.reply('w1', 'c1', 'done')).toEqual(['-> c1 REPLY "done"']);
    expect(queue.reply('w1', 'c1', 'done')).toEqual(['note message-dropped reply-unexpected backend w1']);
    expect(queue.stats).toMatchObject({ workers: 1, busy: 0, openRequests: 0, clients: 0 });
  });

  it('rule 9: not that of another worker', () => {
    queue.ready('w1');
    queue.ready('w2');
    queue.request('c1', 'hello');
    expect(queue.reply('w2', 'c1', 'forged')).toEqual(['note message-dropped reply-unexpected backend w2']);
    expect(queue.reply('w1', 'c1', 'done')).toEqual(['-> c1 REPLY "done"']);
  });

  it('rule 9: not that of a busy worker to the client of another one', () => {
    queue.ready('w1');
    queue.ready('w2');
    queue.request('c1', 'a');
    queue.request('c2', 'b');
    expect(queue.reply('w2', 'c1', 'forged')).toEqual(['note message-dropped reply-address backend w2']);
    expect(queue.reply('w1', 'c1', 'done')).toEqual(['-> c1 REPLY "done"']);
    expect(queue.reply('w2', 'c2', 'done')).toEqual(['-> c2 REPLY "done"']);
  });

  it('rule 9: the frames are forwarded as the worker sent them, changed hops included', () => {
    queue.ready('w1');
    queue.frontend('c1', 'hop', '', 'x');
    expect(queue.backend('w1', 'c1', 'other', '', '', 'y')).toEqual(['-> c1 REPLY other "" "y"']);
  });

  it('rule 9: the late reply of a worker that lost its job is dropped; its successor’s counts', () => {
    queue = new QueueUnderTest({ muteExpiryMs: 3000 });
    queue.ready('w1');
    queue.request('c1', 'hello');
    queue.advance(3000);
    queue.ready('w2');
    expect(queue.reply('w1', 'c1', 'late')).toEqual(['note message-dropped unregistered backend w1']);
    expect(queue.reply('w2', 'c1', 'in time')).toEqual(['-> c1 REPLY "in time"']);
  });
});

describe('rule 13: the job of a lost worker', () => {
  it('rule 13: is resent within the same step if a worker is idle', () => {
    queue.ready('w1');
    queue.ready('w2');
    queue.request('c1', 'hello');
    expect(queue.workerGone('w1')).toEqual(['worker-lost w1 gone', '-> w2 REQUEST c1 "hello"']);
    expect(queue.stats.counters).toMatchObject({ requests: 1, dispatches: 2, resends: 1 });
  });

  it('rule 13: goes before all waiting requests', () => {
    queue.ready('w1');
    queue.request('c1', 'first');
    queue.request('c2', 'second');
    queue.workerGone('w1');
    expect(queue.ready('w2')).toEqual(['worker-ready w2', '-> w2 REQUEST c1 "first"']);
    expect(queue.reply('w2', 'c1', 'x')).toContain('-> w2 REQUEST c2 "second"');
  });

  it('rule 13: several lost jobs return in the order in which they were lost', () => {
    queue.ready('w1');
    queue.ready('w2');
    queue.request('c1', 'first');
    queue.request('c2', 'second');
    queue.request('c3', 'third');
    queue.workerGone('w1');
    queue.workerGone('w2');
    expect(queue.ready('w3')).toContain('-> w3 REQUEST c1 "first"');
    expect(queue.reply('w3', 'c1', 'x')).toContain('-> w3 REQUEST c2 "second"');
    expect(queue.reply('w3', 'c2', 'x')).toContain('-> w3 REQUEST c3 "third"');
  });

  it('rule 13: is dropped after maxAttempts dispatches', () => {
    queue.ready('w1');
    queue.request('c1', 'poison');
    for (const [lost, next] of [
      ['w1', 'w2'],
      ['w2', 'w3'],
    ] as const) {
      queue.workerGone(lost);
      expect(queue.ready(next)).toContain(`-> ${next} REQUEST c1 "poison"`);
    }
    expect(queue.workerGone('w3')).toEqual([
      'worker-lost w3 gone',
      'note request-dropped attempts-exhausted frontend c1',
    ]);
    expect(queue.dropped).toEqual({ 'attempts-exhausted': 1 });
    expect(queue.stats).toMatchObject({ openRequests: 0, openBytes: 0, clients: 0 });
  });

  it('rule 13: is taken back even into a full queue', () => {
    queue = new QueueUnderTest({ requestQueueMax: 1 });
    queue.ready('w1');
    queue.request('c1', 'first');
    queue.request('c2', 'second');
    queue.workerGone('w1');
    expect(queue.stats.waiting).toBe(2);
  });
});

describe('rule 14: waiting requests', () => {
  it('rule 14: is served first in, first out for each client, and clients take turns', () => {
    for (const [client, body] of [
      ['c1', 'a'],
      ['c1', 'b'],
      ['c2', 'c'],
      ['c1', 'd'],
    ] as const)
      queue.request(client, body);
    const served = [queue.ready('w1').at(-1)];
    for (const client of ['c1', 'c2', 'c1']) served.push(queue.reply('w1', client, 'done').at(-1));
    expect(served).toEqual([
      '-> w1 REQUEST c1 "a"',
      '-> w1 REQUEST c2 "c"',
      '-> w1 REQUEST c1 "b"',
      '-> w1 REQUEST c1 "d"',
    ]);
  });

  it('rule 14: is dropped a slice at a time, if many have waited too long', () => {
    queue = new QueueUnderTest({ requestTtlMs: 1000 });
    for (let index = 0; index < 150; index++) queue.request(`c${index % 30}`, 'x');
    const expired = [1000, 1, 1].map((ms) => {
      queue.advance(ms);
      return queue.dropped['expired'];
    });
    expect(expired).toEqual([64, 128, 150]);
  });

  it('rule 14: is dropped after requestTtlMs', () => {
    queue.request('c1', 'hello');
    expect(queue.advance(29_999)).toEqual([]);
    expect(queue.advance(1)).toEqual(['30000ms: note request-dropped expired frontend c1']);
    expect(queue.dropped).toEqual({ expired: 1 });
    expect(queue.ready('w1')).toEqual(['worker-ready w1']);
  });

  it('rule 14: each request has its own time', () => {
    queue.request('c1', 'a');
    queue.advance(10_000);
    queue.request('c2', 'b');
    expect(queue.advance(40_000)).toEqual([
      '30000ms: note request-dropped expired frontend c1',
      '40000ms: note request-dropped expired frontend c2',
    ]);
  });

  it('rule 14: time at a worker does not count as waiting; a resent request gets its full time again', () => {
    queue = new QueueUnderTest({ requestTtlMs: 1000 });
    queue.ready('w1');
    queue.request('c1', 'hello');
    expect(queue.advanceQuietly(5000)).toEqual([]);
    queue.workerGone('w1');
    expect(queue.advanceQuietly(999)).toEqual([]);
    expect(queue.ready('w2')).toContain('-> w2 REQUEST c1 "hello"');
  });

  it('rule 14: is bounded in number; the newest is refused', () => {
    queue = new QueueUnderTest({ requestQueueMax: 2 });
    for (const client of ['c1', 'c2']) expect(queue.request(client, 'x')).toEqual([]);
    expect(queue.request('c3', 'x')).toEqual(['note request-dropped queue-full frontend c3']);
    expect(queue.stats).toMatchObject({ waiting: 2, clients: 2 });
    expect(queue.ready('w1')).toContain('-> w1 REQUEST c1 "x"');
    expect(queue.request('c3', 'x')).toEqual([]);
  });

  it('rule 14: is bounded in bytes, content and addresses, running requests included', () => {
    const cost = requestCost([new Uint8Array(1024)]) + frameCost([new Uint8Array(2)]);
    queue = new QueueUnderTest({ maxMessageBytes: 1024, requestQueueMaxBytes: 2 * cost });
    queue.ready('w1');
    expect(queue.request('c1', 'x'.repeat(1024))).toHaveLength(1);
    expect(queue.request('c2', 'x'.repeat(1024))).toEqual([]);
    expect(queue.request('c3', '')).toEqual(['note request-dropped queue-full frontend c3']);
    queue.reply('w1', 'c1', 'done');
    expect(queue.request('c3', '')).toEqual([]);
  });

  it('rule 14: when the queue is full, a client with far more waiting gives up its newest for one with less', () => {
    queue = new QueueUnderTest({ requestQueueMax: 40 });
    for (let i = 0; i < 40; i++) queue.request('flood', `f${i}`);
    expect(queue.request('flood', 'more')).toEqual(['note request-dropped queue-full frontend flood']);
    expect(queue.request('c1', 'mine')).toEqual(['note request-dropped displaced frontend flood']);
    expect(queue.stats).toMatchObject({ waiting: 40, clients: 2, counters: { dropped: { displaced: 1 } } });
    expect(queue.ready('w1')).toContain('-> w1 REQUEST flood "f0"');
    expect(queue.reply('w1', 'flood', 'done')).toContain('-> w1 REQUEST c1 "mine"');
    const rest = queue.reply('w1', 'c1', 'done');
    for (let i = 1; i < 39; i++) rest.push(...queue.reply('w1', 'flood', 'done'));
    expect(rest).toContain('-> w1 REQUEST flood "f38"');
    expect(rest).not.toContain('-> w1 REQUEST flood "f39"');
  });

  it('rule 14: no client gives up anything for one that has as much, or when it has only a few requests', () => {
    queue = new QueueUnderTest({ requestQueueMax: 45 });
    for (const client of ['a', 'b', 'c']) for (let i = 0; i < 15; i++) queue.request(client, 'x');
    expect(queue.request('d', 'x')).toEqual(['note request-dropped queue-full frontend d']);
    queue = new QueueUnderTest({ requestQueueMax: 80 });
    for (const client of ['a', 'b']) for (let i = 0; i < 40; i++) queue.request(client, 'x');
    expect(queue.request('a', 'x')).toEqual(['note request-dropped queue-full frontend a']);
  });

  it('rule 14: when all bytes are used, the client with most of them waiting gives up as many requests as one request needs', () => {
    const bytes = 40_000;
    const one = requestCost([new Uint8Array(bytes)]) + frameCost([new Uint8Array(5)]);
    queue = new QueueUnderTest({ requestQueueMaxBytes: 4 * one, maxMessageBytes: 2 * bytes });
    for (let i = 0; i < 4; i++) queue.request('flood', 'x'.repeat(bytes));
    expect(queue.request('flood', 'x')).toEqual(['note request-dropped queue-full frontend flood']);
    queue.request('c1', 'y'.repeat(bytes + 100));
    expect(queue.stats).toMatchObject({ waiting: 3, counters: { dropped: { displaced: 2 } } });
  });

  it('rule 14: no client gives up anything for a request that would still not fit', () => {
    const one = requestCost([new Uint8Array(1000)]) + frameCost([new Uint8Array(5)]);
    queue = new QueueUnderTest({ requestQueueMaxBytes: 100 * one, maxMessageBytes: 150_000 });
    for (let i = 0; i < 100; i++) queue.request('flood', 'x'.repeat(1000));
    expect(queue.request('c1', 'y'.repeat(120_000))).toEqual(['note request-dropped queue-full frontend c1']);
    expect(queue.stats.waiting).toBe(100);
    expect(queue.request('c1', 'y'.repeat(60_000))).toContain('note request-dropped displaced frontend flood');
    expect(queue.stats.openBytes).toBeLessThanOrEqual(100 * one);
  });

  it('rule 14: bytes that came back from workers prevent no other client from making room', () => {
    const bytes = 40_000;
    const one = requestCost([new Uint8Array(bytes)]) + frameCost([new Uint8Array(5)]);
    queue = new QueueUnderTest({ requestQueueMaxBytes: 12 * one, maxMessageBytes: 2 * bytes });
    for (let i = 0; i < 8; i++) queue.ready(`w${i}`);
    for (let i = 0; i < 8; i++) queue.request('front', 'x'.repeat(bytes));
    for (let i = 0; i < 8; i++) queue.workerGone(`w${i}`);
    for (let i = 0; i < 4; i++) queue.request('flood', 'x'.repeat(bytes));
    expect(queue.request('c1', 'mine')).toEqual(['note request-dropped displaced frontend flood']);
    expect(queue.stats).toMatchObject({ waiting: 12, counters: { dropped: { displaced: 1 } } });
  });

  it('rule 14: a request that came back from a worker is not given up for another', () => {
    queue = new QueueUnderTest({ requestQueueMax: 20 });
    for (let i = 0; i < 20; i++) queue.ready(`w${i}`);
    for (let i = 0; i < 20; i++) queue.request('c1', 'x');
    for (let i = 0; i < 20; i++) queue.workerGone(`w${i}`);
    expect(queue.request('c2', 'x')).toEqual(['note request-dropped queue-full frontend c2']);
    expect(queue.stats.waiting).toBe(20);
  });

  it('rule 14: hops count, too', () => {
    queue = new QueueUnderTest({ maxMessageBytes: 1024, requestQueueMaxBytes: 2048 });
    expect(queue.frontend('c1', 'h'.repeat(1500), '', 'x')).toEqual(['note request-dropped queue-full frontend c1']);
  });
});

describe('rule 15: clients that left', () => {
  it('rule 15: their waiting requests are dropped', () => {
    queue.request('c1', 'a');
    queue.request('c2', 'b');
    queue.request('c1', 'c');
    expect(queue.clientGone('c1')).toEqual(['note request-dropped client-gone frontend c1']);
    expect(queue.dropped).toEqual({ 'client-gone': 2 });
    expect(queue.ready('w1')).toContain('-> w1 REQUEST c2 "b"');
  });

  it('rule 15: 512 of them per step, and the client may return meanwhile', () => {
    for (let i = 0; i < 1500; i++) queue.request('c1', 'old');
    queue.request('c2', 'other');
    queue.clientGone('c1');
    expect(queue.dropped).toEqual({ 'client-gone': 512 });
    queue.request('c1', 'new');
    queue.advance(1);
    expect(queue.dropped).toEqual({ 'client-gone': 1024 });
    queue.advance(1);
    expect(queue.dropped).toEqual({ 'client-gone': 1500 });
    expect(queue.stats).toMatchObject({ clients: 2, openRequests: 2 });
    expect(queue.ready('w1')).toContain('-> w1 REQUEST c2 "other"');
    expect(queue.reply('w1', 'c2', 'done')).toContain('-> w1 REQUEST c1 "new"');
  });

  it('rule 15: none of them goes to a worker that is free before they are dropped', () => {
    for (let i = 0; i < 1500; i++) queue.request('c1', 'old');
    queue.clientGone('c1');
    expect(queue.ready('w1')).toEqual(['worker-ready w1']);
    expect(queue.request('c2', 'other')).toEqual(['-> w1 REQUEST c2 "other"']);
    expect(queue.reply('w1', 'c2', 'done')).toEqual(['-> c2 REPLY "done"']);
    queue.advance(2);
    expect(queue.dropped).toEqual({ 'client-gone': 1500 });
  });

  it('rule 15: those at the front are dropped as well', () => {
    queue.ready('w1');
    for (const body of ['resent', 'a']) queue.request('c1', body);
    queue.workerGone('w1');
    queue.clientGone('c1');
    expect(queue.dropped).toEqual({ 'client-gone': 2 });
    expect(queue.ready('w2')).toEqual(['worker-ready w2']);
  });

  it('rule 15: however many they are, the queue can drain', () => {
    for (let i = 0; i < 1500; i++) queue.request('c1', 'old');
    queue.clientGone('c1');
    expect(queue.drain()).toContain('drained');
    expect(queue.dropped).toEqual({ 'client-gone': 512, drained: 988 });
    expect(queue.engine.deadline).toBe(Infinity);
  });

  it('rule 15: until they are dropped, they make room for others', () => {
    queue = new QueueUnderTest({ requestQueueMax: 1500 });
    for (let i = 0; i < 1500; i++) queue.request('c1', 'old');
    queue.clientGone('c1');
    for (let i = 0; i < 513; i++) queue.request(`other-${i % 100}`, 'new');
    expect(queue.dropped).toEqual({ 'client-gone': 512, displaced: 1 });
  });

  it('rule 15: their running requests finish; the reply is dropped and the worker is free', () => {
    queue.ready('w1');
    queue.request('c1', 'hello');
    expect(queue.clientGone('c1')).toEqual([]);
    expect(queue.reply('w1', 'c1', 'done')).toEqual(['note reply-dropped reply-undeliverable frontend c1']);
    expect(queue.request('c2', 'next')).toEqual(['-> w1 REQUEST c2 "next"']);
  });

  it('rule 15: may return with the same id, and get no reply to earlier requests', () => {
    queue.ready('w1');
    queue.request('c1', 'before');
    queue.clientGone('c1');
    queue.request('c1', 'after');
    expect(queue.reply('w1', 'c1', 'to before')).toEqual([
      'note reply-dropped reply-undeliverable frontend c1',
      '-> w1 REQUEST c1 "after"',
    ]);
    expect(queue.reply('w1', 'c1', 'to after')).toEqual(['-> c1 REPLY "to after"']);
  });

  it('rule 15: their jobs are not resent', () => {
    queue.ready('w1');
    queue.ready('w2');
    queue.request('c1', 'hello');
    queue.clientGone('c1');
    expect(queue.workerGone('w1')).toEqual(['worker-lost w1 gone', 'note request-dropped client-gone frontend c1']);
    expect(queue.stats).toMatchObject({ openRequests: 0, openBytes: 0 });
  });

  it('rule 15: strangers leave no trace', () => {
    expect(queue.clientGone('nobody')).toEqual([]);
  });
});

describe('undeliverable replies', () => {
  it('to a client that is gone are dropped and counted, and its waiting requests with them', () => {
    queue.ready('w1');
    for (const body of ['a', 'b', 'c']) queue.request('c1', body);
    queue.reply('w1', 'c1', 'done');
    expect(queue.clientUndeliverable('c1')).toEqual([
      'note reply-dropped reply-undeliverable frontend c1',
      'note request-dropped client-gone frontend c1',
    ]);
    expect(queue.stats).toMatchObject({ openRequests: 1, waiting: 0, clients: 0 });
  });

  it('to a client that reads too slowly are dropped and counted, with no other effect', () => {
    queue.ready('w1');
    for (const body of ['a', 'b', 'c']) queue.request('c1', body);
    queue.reply('w1', 'c1', 'done');
    expect(queue.clientUndeliverable('c1', 'congested')).toEqual([
      'note reply-dropped reply-undeliverable frontend c1',
    ]);
    expect(queue.stats).toMatchObject({ openRequests: 2, waiting: 1, clients: 1 });
  });
});

describe('notes', () => {
  it('come once a minute per reason, socket and peer; the rest is counted', () => {
    queue.heartbeat('x');
    expect(queue.heartbeat('x')).toEqual([]);
    expect(queue.heartbeat('y')).toEqual(['note message-dropped unregistered backend y']);
    queue.advance(60_000);
    expect(queue.heartbeat('x')).toEqual(['note message-dropped unregistered backend x']);
    expect(queue.stats.counters).toMatchObject({ notesWithheld: 1, dropped: { unregistered: 4 } });
  });
});
