import { beforeEach, describe, expect, it } from 'vitest';
import { QueueUnderTest } from '../../../test/ppp/under-test.js';

/** No worker has more time than those that send heartbeats while working. */
const NO_MUTE = { muteExpiryMs: 3000 };

let queue: QueueUnderTest;
beforeEach(() => {
  queue = new QueueUnderTest();
});

describe('rule 1: READY is the only opening', () => {
  it('rule 1: READY registers, is not answered, and brings the next job', () => {
    expect(queue.ready('w1')).toEqual(['worker-ready w1']);
    expect(queue.request('c1', 'hello')).toEqual(['-> w1 REQUEST c1 "hello"']);
  });

  it('rule 1: HEARTBEAT does not open a conversation', () => {
    expect(queue.heartbeat('w1')).toEqual(['note message-dropped unregistered backend w1']);
    expect(queue.request('c1', 'hello')).toEqual([]);
    expect(queue.stats).toMatchObject({ workers: 0, waiting: 1 });
  });

  it('rule 1: a reply does not open a conversation, and is not forwarded', () => {
    expect(queue.reply('w1', 'c1', 'x')).toEqual(['note message-dropped unregistered backend w1']);
    expect(queue.stats.workers).toBe(0);
  });

  it('rule 1: a message after expiry is from a stranger', () => {
    queue = new QueueUnderTest(NO_MUTE);
    queue.ready('w1');
    queue.request('c1', 'hello');
    queue.advance(3000);
    expect(queue.reply('w1', 'c1', 'late')).toEqual(['note message-dropped unregistered backend w1']);
    expect(queue.heartbeat('w1')).toEqual([]);
    expect(queue.dropped).toEqual({ unregistered: 2 });
  });
});

describe('rule 2: strangers', () => {
  it.each<[string, (queue: QueueUnderTest) => string[]]>([
    ['HEARTBEAT', (q) => q.heartbeat('x')],
    ['a reply', (q) => q.reply('x', 'c1', 'y')],
    ['nonsense', (q) => q.backend('x', '\x07')],
    ['a message over the limits', (q) => q.workerRejected('x', 'too-large')],
  ])('rule 2: %s gets no answer, then or later', (_what, send) => {
    expect(send(queue).filter((line) => line.startsWith('->'))).toEqual([]);
    expect(queue.advance(20_000)).toEqual([]);
  });

  it('rule 2: READY over registrationsPerSecondMax is dropped, and the sender is no worker', () => {
    queue = new QueueUnderTest({ registrationsPerSecondMax: 2 });
    for (let round = 0; round < 2; round++) {
      expect(queue.ready('w1')).toEqual(['worker-ready w1']);
      queue.workerGone('w1');
    }
    expect(queue.ready('w1')).toEqual(['note message-dropped registrations-limit backend w1']);
    expect(queue.heartbeat('w1')).toEqual(['note message-dropped unregistered backend w1']);
    queue.advance(500);
    expect(queue.ready('w1')).toEqual(['worker-ready w1']);
  });

  it('rule 2: READY over workersMax is dropped, and the sender stays a stranger', () => {
    queue = new QueueUnderTest({ workersMax: 1 });
    queue.ready('w1');
    expect(queue.ready('w2')).toEqual(['note message-dropped workers-limit backend w2']);
    expect(queue.heartbeat('w2')).toEqual(['note message-dropped unregistered backend w2']);
    queue.workerGone('w1');
    expect(queue.ready('w2')).toEqual(['worker-ready w2']);
  });
});

describe('rule 6: READY of a registered worker', () => {
  it('rule 6: of an idle worker changes nothing: it keeps its place in the order', () => {
    queue.ready('w1');
    queue.ready('w2');
    expect(queue.ready('w1')).toEqual([]);
    expect(queue.request('c1', 'a')).toEqual(['-> w1 REQUEST c1 "a"']);
  });

  it('rule 6: idle, it is a sign of life', () => {
    queue.ready('w1');
    queue.advance(2900);
    queue.ready('w1');
    expect(queue.advanceQuietly(2999)).toEqual([]);
    expect(queue.advanceQuietly(1)).toEqual(['5900ms: worker-lost w1 expired']);
  });

  it('rule 6: of a busy worker sends its job to the next one and leaves it idle', () => {
    queue.ready('w1');
    queue.ready('w2');
    queue.request('c1', 'hello');
    expect(queue.ready('w1')).toEqual(['worker-lost w1 restarted', '-> w2 REQUEST c1 "hello"', 'worker-ready w1']);
    expect(queue.request('c2', 'next')).toEqual(['-> w1 REQUEST c2 "next"']);
  });

  it('rule 6: busy and alone, it gets the lost job again', () => {
    queue.ready('w1');
    queue.request('c1', 'hello');
    queue.request('c2', 'later');
    expect(queue.ready('w1')).toEqual(['worker-lost w1 restarted', 'worker-ready w1', '-> w1 REQUEST c1 "hello"']);
    expect(queue.stats.counters).toMatchObject({ resends: 1, dispatches: 2 });
  });

  it('rule 6: a worker that restarts on every job costs the request its attempts', () => {
    queue = new QueueUnderTest({ maxAttempts: 2 });
    queue.ready('w1');
    queue.request('c1', 'poison');
    queue.ready('w1');
    expect(queue.ready('w1')).toEqual([
      'worker-lost w1 restarted',
      'note request-dropped attempts-exhausted frontend c1',
      'worker-ready w1',
    ]);
  });
});

describe('rule 7: heartbeats', () => {
  it('rule 7: go to an idle worker every interval from its READY on', () => {
    queue.now = 400;
    queue.ready('w1');
    expect(queue.advance(2000)).toEqual(['1400ms: -> w1 HEARTBEAT', '2400ms: -> w1 HEARTBEAT']);
  });

  it('rule 7: go to a busy worker, too', () => {
    queue.ready('w1');
    queue.request('c1', 'hello');
    expect(queue.advance(1000)).toEqual(['1000ms: -> w1 HEARTBEAT']);
  });

  it('rule 7: keep each worker’s own phase', () => {
    queue.ready('w1');
    queue.advance(300);
    queue.ready('w2');
    expect(queue.advance(1700)).toEqual([
      '1000ms: -> w1 HEARTBEAT',
      '1300ms: -> w2 HEARTBEAT',
      '2000ms: -> w1 HEARTBEAT',
    ]);
  });

  it('rule 7: are at most one per interval after we were late', () => {
    queue.ready('w1');
    expect(queue.stall(2500).filter((line) => line.includes('HEARTBEAT'))).toEqual(['-> w1 HEARTBEAT']);
    expect(queue.advance(999)).toEqual([]);
    expect(queue.advance(1)).toEqual(['3500ms: -> w1 HEARTBEAT']);
  });

  it('rule 7: are at most one per interval for a worker that repeats READY', () => {
    queue.ready('w1');
    queue.request('c1', 'hello');
    for (let i = 0; i < 5; i++) {
      queue.advance(200);
      queue.ready('w1');
    }
    expect(queue.stats.counters.heartbeatsSent).toBeLessThanOrEqual(1);
  });
});

describe('rule 8: the choice of the worker', () => {
  it('rule 8: the worker that has been idle longest gets the job', () => {
    queue.ready('w1');
    queue.ready('w2');
    queue.request('c1', 'a');
    queue.reply('w1', 'c1', 'a');
    expect(queue.request('c1', 'b')).toEqual(['-> w2 REQUEST c1 "b"']);
    expect(queue.request('c1', 'c')).toEqual(['-> w1 REQUEST c1 "c"']);
  });

  it('rule 8: a worker has one job at a time', () => {
    queue.ready('w1');
    queue.request('c1', 'a');
    expect(queue.request('c2', 'b')).toEqual([]);
    expect(queue.heartbeat('w1')).toEqual([]);
    expect(queue.reply('w1', 'c1', 'done')).toEqual(['-> c1 REPLY "done"', '-> w1 REQUEST c2 "b"']);
  });
});

describe('rule 10: signs of life', () => {
  it.each<[string, (queue: QueueUnderTest) => void]>([
    ['HEARTBEAT', (q) => q.heartbeat('w1')],
    ['a second READY', (q) => q.ready('w1')],
    ['an unknown byte', (q) => q.backend('w1', '\x07')],
    ['an empty frame', (q) => q.backend('w1', '')],
    ['an unrequested reply', (q) => q.reply('w1', 'c1', 'x')],
    ['a malformed reply', (q) => q.backend('w1', 'c1', 'x')],
    ['a message over the limits', (q) => q.workerRejected('w1', 'too-large')],
  ])('rule 10: %s keeps an idle worker alive', (_what, say) => {
    queue.ready('w1');
    queue.advance(2900);
    say(queue);
    expect(queue.advanceQuietly(2999)).toEqual([]);
    expect(queue.advanceQuietly(1)).toEqual(['5900ms: worker-lost w1 expired']);
  });

  it.each<[string, (queue: QueueUnderTest) => void]>([
    ['HEARTBEAT', (q) => q.heartbeat('w1')],
    ['a reply to another client', (q) => q.reply('w1', 'c9', 'x')],
    ['a malformed reply', (q) => q.backend('w1', '', 'x')],
  ])('rule 10: %s keeps a busy worker with its job', (_what, say) => {
    queue.ready('w1');
    queue.request('c1', 'hello');
    queue.advance(2900);
    say(queue);
    expect(queue.advanceQuietly(2999)).toEqual([]);
    expect(queue.stats.busy).toBe(1);
  });
});

describe('rule 11: expiry', () => {
  it('rule 11: an idle worker is forgotten after interval x liveness and gets nothing more', () => {
    queue = new QueueUnderTest({ heartbeatIntervalMs: 100, liveness: 2, busyExpiryMs: 60_000 });
    queue.ready('w1');
    expect(queue.advance(10_000)).toEqual(['100ms: -> w1 HEARTBEAT', '200ms: worker-lost w1 expired']);
  });

  it('rule 11: a worker that sends heartbeats while working has busyExpiryMs, counted from its last heartbeat', () => {
    queue = new QueueUnderTest({ busyExpiryMs: 10_000 });
    queue.ready('w1');
    queue.request('c1', 'hello');
    queue.advance(1000);
    queue.heartbeat('w1');
    expect(queue.advanceQuietly(20_000)).toEqual(['11000ms: worker-lost w1 expired']);
  });

  it('rule 11: busyExpiryMs is interval x liveness by default', () => {
    queue.ready('w1');
    queue.request('c1', 'hello');
    queue.advance(1000);
    queue.heartbeat('w1');
    expect(queue.advanceQuietly(20_000)).toEqual(['4000ms: worker-lost w1 expired']);
  });

  it('rule 11: a worker that never sent a heartbeat while working has muteExpiryMs, five minutes by default', () => {
    queue.ready('w1');
    queue.request('c1', 'hello');
    expect(queue.advanceQuietly(299_999)).toEqual([]);
    expect(queue.advanceQuietly(1)).toEqual(['300000ms: worker-lost w1 expired']);
  });

  it('rule 11: a heartbeat that may have crossed with the request does not prove heartbeats while working', () => {
    queue.ready('w1');
    queue.request('c1', 'hello');
    queue.advance(499);
    queue.heartbeat('w1');
    expect(queue.advanceQuietly(20_000)).toEqual([]);
  });

  it('rule 11: a message other than a heartbeat does not prove it either', () => {
    queue.ready('w1');
    queue.request('c1', 'hello');
    queue.advance(1000);
    queue.reply('w1', 'somebody', 'else');
    expect(queue.advanceQuietly(20_000)).toEqual([]);
  });

  it('rule 11: after its reply a worker has the time of an idle one', () => {
    queue = new QueueUnderTest({ busyExpiryMs: 50_000 });
    queue.ready('w1');
    queue.request('c1', 'hello');
    queue.advance(10_000);
    queue.reply('w1', 'c1', 'done');
    expect(queue.advanceQuietly(20_000)).toEqual(['13000ms: worker-lost w1 expired']);
  });

  it('rule 11: its job goes to a worker that is alive, in the same step', () => {
    queue = new QueueUnderTest(NO_MUTE);
    queue.ready('w1');
    queue.request('c1', 'hello');
    queue.advance(1500);
    queue.ready('w2');
    expect(queue.advanceQuietly(1500)).toEqual(['3000ms: worker-lost w1 expired', '3000ms: -> w2 REQUEST c1 "hello"']);
  });

  it('rule 11: its job never goes to a worker that expires at the same moment', () => {
    queue = new QueueUnderTest(NO_MUTE);
    for (const worker of ['w1', 'w2', 'w3']) queue.ready(worker);
    queue.request('c1', 'hello');
    expect(queue.advanceQuietly(3000)).toEqual([
      '3000ms: worker-lost w2 expired',
      '3000ms: worker-lost w3 expired',
      '3000ms: worker-lost w1 expired',
    ]);
    expect(queue.ready('w4')).toContain('-> w4 REQUEST c1 "hello"');
  });

  it('rule 11: READY brings it back', () => {
    queue.ready('w1');
    queue.advance(5000);
    expect(queue.ready('w1')).toEqual(['worker-ready w1']);
    expect(queue.request('c1', 'hello')).toEqual(['-> w1 REQUEST c1 "hello"']);
  });
});

describe('our own lateness (ADR 4)', () => {
  it('postpones expiry by as much if it exceeds an interval', () => {
    queue.ready('w1');
    expect(queue.stall(5000)).toEqual(['note running-late 4000ms', '-> w1 HEARTBEAT']);
    expect(queue.advanceQuietly(3999)).toEqual([]);
    expect(queue.advanceQuietly(1)).toEqual(['9000ms: worker-lost w1 expired']);
  });

  it('postpones nothing if it is no more than an interval', () => {
    queue.ready('w1');
    queue.advance(2000);
    expect(queue.stall(1900)).toEqual(['worker-lost w1 expired']);
  });

  it('postpones job timeouts, too', () => {
    queue = new QueueUnderTest({ jobTimeoutMs: 2000 });
    queue.ready('w1');
    queue.request('c1', 'hello');
    queue.stall(5000);
    expect(queue.reply('w1', 'c1', 'done')).toContain('-> c1 REPLY "done"');
  });

  it('keeps waiting requests, too: their worker’s READY may be waiting unread', () => {
    queue.request('c1', 'hello');
    queue.stall(60_000);
    expect(queue.ready('w1')).toContain('-> w1 REQUEST c1 "hello"');
  });

  it('causes no spacing hints', () => {
    queue.ready('w1');
    queue.stall(5000);
    expect(queue.heartbeat('w1')).toEqual([]);
  });
});

describe('rule 12: the network', () => {
  it('rule 12: an unreachable worker is lost at once', () => {
    queue.ready('w1');
    queue.ready('w2');
    queue.request('c1', 'hello');
    expect(queue.workerUndeliverable('w1')).toEqual(['worker-lost w1 unreachable', '-> w2 REQUEST c1 "hello"']);
  });

  it('rule 12: an undeliverable heartbeat means the same', () => {
    queue.ready('w1');
    queue.advance(1000);
    expect(queue.workerUndeliverable('w1')).toEqual(['worker-lost w1 unreachable']);
  });

  it('rule 12: a worker that does not read is lost', () => {
    queue.ready('w1');
    queue.request('c1', 'hello');
    expect(queue.workerUndeliverable('w1', 'congested')).toEqual(['worker-lost w1 congested']);
  });

  it('rule 12: a worker whose connection ended is lost at once', () => {
    queue.ready('w1');
    queue.ready('w2');
    queue.request('c1', 'hello');
    expect(queue.workerGone('w1')).toEqual(['worker-lost w1 gone', '-> w2 REQUEST c1 "hello"']);
  });

  it('rule 12: a request that never reached its worker does not count as an attempt', () => {
    queue = new QueueUnderTest({ maxAttempts: 1 });
    queue.ready('w1');
    queue.request('c1', 'hello');
    queue.workerUndeliverable('w1');
    expect(queue.ready('w2')).toContain('-> w2 REQUEST c1 "hello"');
  });

  it('rule 12: the end of a stranger’s connection has no effect', () => {
    queue.ready('w1');
    queue.advance(1000);
    queue.workerGone('w1');
    expect(queue.workerUndeliverable('w1')).toEqual([]);
    expect(queue.workerGone('nobody')).toEqual([]);
  });

  it('rule 12: the same id may send READY again and is a new worker', () => {
    queue.ready('w1');
    queue.workerGone('w1');
    expect(queue.ready('w1')).toEqual(['worker-ready w1']);
  });
});

describe('rule 16: jobTimeoutMs', () => {
  beforeEach(() => {
    queue = new QueueUnderTest({ jobTimeoutMs: 5000 });
  });

  function beat(worker: string, ms: number): string[] {
    const lines: string[] = [];
    for (let passed = 0; passed < ms; passed += 500) {
      lines.push(...queue.advanceQuietly(500));
      queue.heartbeat(worker);
    }
    return lines;
  }

  it('rule 16: takes an unanswered job from a live worker, forgets the worker and resends the job', () => {
    queue.ready('w1');
    queue.request('c1', 'hello');
    expect(beat('w1', 4500)).toEqual([]);
    queue.ready('w2');
    expect(queue.advanceQuietly(500)).toEqual([
      '5000ms: worker-lost w1 job-timeout',
      '5000ms: -> w2 REQUEST c1 "hello"',
    ]);
    expect(queue.heartbeat('w1')).toEqual(['note message-dropped unregistered backend w1']);
  });

  it('rule 16: READY brings the worker back', () => {
    queue.ready('w1');
    queue.request('c1', 'hello');
    beat('w1', 5000);
    expect(queue.ready('w1')).toEqual(['worker-ready w1', '-> w1 REQUEST c1 "hello"']);
  });

  it('rule 16: counts each job anew', () => {
    queue.ready('w1');
    queue.request('c1', 'a');
    beat('w1', 4500);
    queue.reply('w1', 'c1', 'done');
    queue.request('c1', 'b');
    expect(beat('w1', 4500)).toEqual([]);
  });

  it('rule 16: does not apply to idle workers', () => {
    queue.ready('w1');
    expect(beat('w1', 20_000)).toEqual([]);
  });

  it('rule 16: is off by default', () => {
    queue = new QueueUnderTest();
    queue.ready('w1');
    queue.request('c1', 'hello');
    expect(beat('w1', 100_000)).toEqual([]);
  });

  it('rule 16: the job does not go to a worker that expires at the same moment', () => {
    queue = new QueueUnderTest({ jobTimeoutMs: 3000, busyExpiryMs: 60_000 });
    queue.ready('w1');
    queue.request('c1', 'hello');
    queue.ready('w2');
    expect(queue.advanceQuietly(3000)).toEqual([
      '3000ms: worker-lost w2 expired',
      '3000ms: worker-lost w1 job-timeout',
    ]);
  });
});

describe('rule 18: ids are bytes', () => {
  it('rule 18: ids that are the same text in UTF-8 are different peers', () => {
    queue.ready('\xff');
    queue.ready('\xfe');
    expect(queue.stats.workers).toBe(2);
    queue.request('\x00\x80', 'a');
    expect(queue.reply('\xff', '\x00\x81', 'x')).toEqual(['note message-dropped reply-address backend \xff']);
    expect(queue.reply('\xff', '\x00\x80', 'x')).toEqual(['-> \x00\x80 REPLY "x"']);
  });

  it('rule 18: one id at both sockets is two peers', () => {
    queue.ready('both');
    expect(queue.request('both', 'to myself')).toEqual(['-> both REQUEST both "to myself"']);
    expect(queue.clientGone('both')).toEqual([]);
    expect(queue.stats.workers).toBe(1);
    expect(queue.reply('both', 'both', 'x')).toEqual(['note reply-dropped reply-undeliverable frontend both']);
  });
});

describe('the spacing hint', () => {
  it('is given once if a worker was silent for more than half its expiry', () => {
    queue.ready('w1');
    queue.advance(1501);
    expect(queue.heartbeat('w1')).toEqual(['note spacing-hint w1 1501ms of 3000ms']);
    queue.advance(2000);
    expect(queue.heartbeat('w1')).toEqual([]);
  });

  it('is not given at half, and measures a busy worker by its own expiry', () => {
    queue = new QueueUnderTest({ busyExpiryMs: 10_000 });
    queue.ready('w1');
    queue.advance(1500);
    expect(queue.heartbeat('w1')).toEqual([]);
    queue.request('c1', 'hello');
    queue.advance(5000);
    expect(queue.reply('w1', 'c1', 'done')).toEqual(['-> c1 REPLY "done"']);
  });
});
