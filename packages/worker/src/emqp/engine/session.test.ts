import { describe, expect, it } from 'vitest';
import { frame, HEARTBEAT, request, SessionRig } from '../../../test/emqp/session-rig.js';

const A = 'tcp://a:1';
const B = 'tcp://b:1';
const opens = (lines: string[]) => lines.filter((line) => line.startsWith('open'));
const sends = (lines: string[]) => lines.filter((line) => line.startsWith('send'));
const runs = (lines: string[]) => lines.filter((line) => line.startsWith('run'));
const notes = (lines: string[], code: string) => lines.filter((line) => line.startsWith(`note ${code}`));
const REPLY = { replyRequested: true };
const GUARANTEE = { guarantee: true };

describe('opening', () => {
  it('rule 2: sends INFORM and nothing else before its ACK', () => {
    const rig = new SessionRig();
    expect(rig.play({ kind: 'start' })).toEqual([`open 1 ${A} as #1`, 'send 1 INFORM 10:default']);
    rig.take();
    expect(rig.up()).toEqual([]);
    expect(rig.advance(199)).toEqual([]);
  });

  it('rule 2: sends one READY per free slot after the ACK, without waiting for a heartbeat', () => {
    const rig = new SessionRig();
    rig.play({ kind: 'start' });
    rig.up();
    rig.take();
    expect(rig.ack(1)).toEqual([`note registered ${A}`, 'send 1 READY', 'send 1 READY']);
  });

  it('rule 2: sends READY for a process that starts later', () => {
    const rig = new SessionRig();
    rig.play({ kind: 'start' });
    rig.up(1);
    rig.ack(1);
    rig.take();
    expect(rig.up(0)).toEqual(['send 1 READY']);
  });

  it('rule 2: accepts only the ACK that names its INFORM', () => {
    const rig = new SessionRig();
    rig.play({ kind: 'start' });
    rig.up();
    rig.take();
    expect(rig.receive(1, { kind: 'ack', id: 'a', of: 'other' })).toEqual([]);
  });

  it('rule 2: without ACK opens a new connection under a new identity', () => {
    const rig = new SessionRig();
    rig.play({ kind: 'start' });
    rig.take();
    expect(rig.advance(200)).toEqual(['close 1', `note lost ${A} no-ack 50`]);
    rig.take();
    expect(rig.advance(50)).toEqual([`open 2 ${A} as #3`, 'send 2 INFORM 10:default']);
  });

  it('a second start opens nothing', () => {
    expect(SessionRig.registered().play({ kind: 'start' })).toEqual([]);
  });

  it('leaves the queues to the broker if it has none', () => {
    const rig = new SessionRig({ queues: undefined });
    expect(sends(rig.play({ kind: 'start' }))).toEqual(['send 1 INFORM ']);
  });
});

describe('jobs', () => {
  it('rule 3: run in a free slot, and its READY follows when the job has ended', () => {
    const rig = SessionRig.registered();
    expect(rig.receive(1, request('j'))).toEqual(['run 1 1 j']);
    rig.take();
    expect(rig.ran(1, 1)).toEqual(['send 1 READY']);
  });

  it('rule 3: with equal ids run side by side, and each is answered', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('uuid', REPLY), request('uuid', REPLY));
    rig.take();
    rig.ran(0, 2, 'two');
    rig.ran(1, 1, 'one');
    expect(sends(rig.take())).toEqual([
      'send 1 REPLY uuid two',
      'send 1 READY',
      'send 1 REPLY uuid one',
      'send 1 READY',
    ]);
  });

  it.each([
    ['reply-requested', REPLY, true],
    ['guarantee', GUARANTEE, true],
    ['retry-count', { retryCount: 1 }, true],
    ['neither', {}, false],
  ])('rule 4: with %s are answered before READY, or not at all', (_, headers, isAnswered) => {
    const rig = SessionRig.registered();
    expect(rig.receive(1, request('j', headers))).toEqual([`run 1 1 j${isAnswered ? ' wants result' : ''}`]);
    rig.take();
    expect(rig.ran(1, 1, '{"value": 5}')).toEqual([
      ...(isAnswered ? ['send 1 REPLY j {"value": 5}'] : []),
      'send 1 READY',
    ]);
  });

  it('rule 13: beyond the slots wait, and their slot is not announced', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('a'), request('b'), request('c'));
    expect(runs(rig.take())).toEqual(['run 1 1 a', 'run 0 2 b']);
    expect(rig.ran(1, 1)).toEqual(['run 1 3 c']);
    rig.take();
    expect(rig.ran(1, 3)).toEqual(['send 1 READY']);
  });

  it('rule 13: beyond slots and queueMax are dropped', () => {
    const rig = SessionRig.registered();
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) rig.receive(1, request(id));
    expect(notes(rig.take(), 'request-dropped')).toEqual(['note request-dropped full f']);
    expect(rig.session.stats).toMatchObject({ running: 2, waiting: 3, jobs: 5, dropped: { full: 1 } });
  });

  it('wait while no process is up', () => {
    const rig = new SessionRig();
    rig.play({ kind: 'start' });
    rig.ack(1);
    rig.take();
    expect(rig.receive(1, request('early'))).toEqual([]);
    expect(rig.up(1)).toEqual(['run 1 1 early']);
  });

  it('a result for a job that does not run changes nothing', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('a'));
    rig.take();
    expect(rig.ran(0, 1)).toEqual([]);
    expect(rig.ran(1, 7)).toEqual([]);
    expect(rig.ran(9, 1)).toEqual([]);
  });

  it('rule 6: a result that no broker would accept is replaced by the reason', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('j', REPLY));
    rig.take();
    expect(rig.ran(1, 1, 'x'.repeat(101))[0]).toBe('send 1 REPLY j {"value": "result of 101 bytes: the limit is 100"}');
  });

  it('invalid headers are reported, and the job runs', () => {
    const rig = SessionRig.registered();
    const headers = frame('reply-requested,timeout:x');
    rig.receive(1, { kind: 'request', id: 'j', queue: 'default', headers, body: frame('') });
    expect(rig.take()).toEqual(['note headers-invalid j 1', 'run 1 1 j wants result']);
  });
});

describe('failures', () => {
  it('rule 7: are answered like results if nothing else was requested', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('j', REPLY));
    rig.take();
    expect(rig.failed(1, 1)).toEqual(['note job-failed j 1 error', 'send 1 REPLY j error', 'send 1 READY']);
  });

  it('rule 7: retry-count N runs a job N + 1 times in its slot, with growing pauses, and answers it once', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('j', { ...REPLY, retryCount: 3 }));
    const at: number[] = [];
    for (let run = 1; run <= 4; run++) {
      expect(runs(rig.take())).toEqual(['run 1 1 j wants result']);
      at.push(rig.now);
      rig.failed(1, 1);
      if (run < 4) rig.advance(30);
      while (run < 4 && rig.session.stats.retries < run) rig.advance(1);
    }
    expect(sends(rig.take())).toEqual(['send 1 REPLY j error', 'send 1 READY']);
    expect(rig.session.stats).toMatchObject({ jobs: 1, retries: 3, failed: 1, done: 0 });
  });

  it('rule 7: the pauses double up to their limit', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('j', { retryCount: 4 }));
    for (let run = 1; run <= 4; run++) {
      rig.failed(1, 1);
      rig.advanceAlive(1, 30, 10);
    }
    expect(notes(rig.take(), 'job-retried')).toEqual([
      'note job-retried j 1 10 error',
      'note job-retried j 2 20 error',
      'note job-retried j 3 30 error',
      'note job-retried j 4 30 error',
    ]);
  });

  it('rule 7: a successful run ends the repetition', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('j', { ...REPLY, retryCount: 3 }));
    rig.failed(1, 1);
    rig.advance(10);
    rig.take();
    expect(rig.ran(1, 1, 'at last')).toEqual(['send 1 REPLY j at last', 'send 1 READY']);
  });

  it('rule 7: refused jobs are not retried', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('j', { ...REPLY, retryCount: 3 }));
    rig.take();
    rig.ran(1, 1, 'no such handler', 'refused');
    expect(rig.take()).toEqual([
      'note job-failed j 1 no such handler',
      'send 1 REPLY j no such handler',
      'send 1 READY',
    ]);
  });

  it('rule 8: a timeout kills the process; the answer is sent when it is gone, READY when another is up', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('j', { ...REPLY, timeoutSeconds: 1 }));
    rig.take();
    rig.advanceAlive(1, 950, 50);
    expect(rig.take()).toEqual([]);
    rig.advanceAlive(1, 50, 50);
    expect(rig.take()).toEqual(['note job-timeout j 1', 'kill 1']);
    expect(rig.ran(1, 1, 'too late')).toEqual([]);
    expect(rig.gone(1)).toEqual(['note job-failed j 1 TimeoutError', 'send 1 REPLY j {"value": "TimeoutError"}']);
    rig.take();
    expect(rig.up(1)).toEqual(['send 1 READY']);
  });

  it('rule 8: the limit of the job manager applies to jobs without their own', () => {
    const rig = SessionRig.registered({ globalTimeoutMs: 150 });
    rig.receive(1, request('mine', { timeoutSeconds: 1 }), request('j'));
    rig.take();
    rig.advanceAlive(1, 150, 50);
    expect(rig.take()).toEqual(['note job-timeout j 1', 'kill 0']);
  });

  it('rule 8: a timeout counts as a failure: the next run waits for its pause and for the process', () => {
    const rig = SessionRig.registered({ globalTimeoutMs: 50 });
    rig.receive(1, request('j', { ...REPLY, retryCount: 1 }));
    rig.advance(50);
    rig.gone(1);
    rig.take();
    expect(rig.advance(10)).toEqual([]);
    expect(rig.up(1)).toEqual(['run 1 1 j wants result']);
    rig.advanceAlive(1, 50, 10);
    rig.take();
    expect(sends(rig.gone(1))).toEqual(['send 1 REPLY j {"value": "TimeoutError"}']);
    expect(rig.session.stats).toMatchObject({ timeouts: 2, retries: 1, failed: 1 });
  });

  it('rule 8: a run gets more time, once, if our own process was late', () => {
    const rig = SessionRig.registered({ globalTimeoutMs: 50 });
    rig.receive(1, request('j', REPLY));
    rig.take();
    rig.now = 400;
    rig.play({ kind: 'timer', lateMs: 350 });
    expect(rig.take().filter((line) => line.startsWith('kill'))).toEqual([]);
    rig.now = 800;
    rig.play({ kind: 'timer', lateMs: 300 });
    expect(rig.take()).toContain('kill 1');
  });

  it('rule 9: a process that dies fails its job with the reason', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('j', REPLY));
    rig.take();
    expect(rig.gone(1, 'exit code 7')).toEqual([
      'note process-died 1 exit code 7 j',
      'note job-failed j 1 exit code 7',
      'send 1 REPLY j {"value": "exit code 7"}',
    ]);
    rig.take();
    expect(rig.up(1)).toEqual(['send 1 READY']);
  });

  it('rule 9: an idle process that dies costs nothing: its announced slot waits for the next one', () => {
    const rig = SessionRig.registered();
    expect(rig.gone(1)).toEqual(['note process-died 1 killed']);
    rig.take();
    rig.receive(1, request('a'), request('b'));
    expect(rig.take()).toEqual(['run 0 1 a']);
    expect(rig.up(1)).toEqual(['run 1 2 b']);
  });

  it('rule 9: a process is replaced after maxJobsPerProcess, and READY waits for the next one', () => {
    const rig = SessionRig.registered({ maxJobsPerProcess: 2 });
    rig.receive(1, request('a', REPLY));
    rig.ran(1, 1);
    rig.receive(1, request('b', REPLY));
    rig.take();
    expect(rig.ran(1, 2)).toEqual(['recycle 1', 'send 1 REPLY b ok']);
    rig.take();
    expect(rig.gone(1)).toEqual([]);
    expect(rig.up(1)).toEqual(['send 1 READY']);
    expect(rig.session.stats).toMatchObject({ recycled: 1, deaths: 0 });
  });
});

describe('liveness', () => {
  it('rule 10: sends a heartbeat every interval once registered, busy or not', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('j'));
    rig.take();
    expect(rig.advance(99)).toEqual([]);
    expect(rig.advance(1)).toEqual(['send 1 HEARTBEAT 1.500000']);
  });

  it('rule 10: a silent broker is left for the next one, after a pause and under a new identity', () => {
    const rig = SessionRig.registered({ endpoints: [A, B] });
    rig.advance(499);
    rig.take();
    expect(rig.advance(1)).toEqual(['close 1', `note lost ${A} silent 50`]);
    rig.advance(50);
    expect(opens(rig.take())).toEqual([`open 2 ${B} as #9`]);
  });

  it('rule 10: pauses double from loss to loss, and start over after minUptimeMs', () => {
    const rig = SessionRig.registered();
    rig.play({ kind: 'lost', socket: 1, reason: 'socket-failed' });
    // Each attempt lasts for ackTimeoutMs.
    rig.advance(50 + 200 + 100 + 200 + 200 + 200);
    expect(notes(rig.take(), 'lost').map((line) => Number(line.split(' ').at(-1)))).toEqual([50, 100, 200, 400]);
    rig.advance(400);
    const socket = Number(/^open (\d+)/.exec(opens(rig.take()).at(-1)!)![1]);
    rig.ack(socket);
    rig.advanceAlive(socket, 1000);
    rig.advance(500);
    expect(notes(rig.take(), 'lost').at(-1)).toBe(`note lost ${A} silent 50`);
  });

  it('rule 10: silence while we could not listen ourselves does not count', () => {
    const rig = SessionRig.registered();
    rig.now = 600;
    rig.play({ kind: 'timer', lateMs: 500 });
    expect(notes(rig.take(), 'lost')).toEqual([]);
    rig.receive(1, HEARTBEAT);
    rig.advance(499);
    expect(notes(rig.take(), 'lost')).toEqual([]);
  });

  it('rule 2: a connection that ended starts again at once, with READY for free slots only', () => {
    const rig = SessionRig.registered({ endpoints: [A, B] });
    rig.receive(1, request('j', REPLY));
    rig.take();
    rig.play({ kind: 'lost', socket: 1, reason: 'peer-gone' });
    expect(opens(rig.take())).toEqual([`open 2 ${B} as #5`]);
    expect(rig.ack(2)).toEqual([`note registered ${B}`, 'send 2 READY']);
    rig.take();
    expect(rig.ran(1, 1)).toEqual(['send 2 REPLY j ok', 'send 2 READY']);
  });

  it('rule 10: results of the meantime are sent on the new connection, before READY', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('a', REPLY), request('b', GUARANTEE), request('c'));
    rig.play({ kind: 'lost', socket: 1, reason: 'peer-gone' });
    rig.take();
    rig.ran(1, 1, 'A');
    rig.ran(0, 2, 'B');
    rig.ran(1, 3, 'C');
    expect(sends(rig.take())).toEqual([]);
    rig.ack(2);
    expect(sends(rig.take())).toEqual(['send 2 REPLY a A', 'send 2 REPLY b B', 'send 2 READY', 'send 2 READY']);
  });

  it('rule 10: a result that was not sent goes out on the new connection', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('j', REPLY));
    rig.ran(1, 1, 'R');
    rig.take();
    const reply = { kind: 'result', id: '#9', result: frame('R'), of: 'j' } as const;
    expect(rig.play({ kind: 'unsent', socket: 1, reply })[0]).toBe('close 1 flush');
    rig.advance(50);
    rig.take();
    rig.ack(2);
    expect(sends(rig.take())).toEqual(['send 2 REPLY j R', 'send 2 READY', 'send 2 READY']);
    expect(rig.session.stats.replies).toBe(1);
  });

  it('a message over the limits begins a new conversation, for it may have been a job', () => {
    const rig = SessionRig.registered();
    expect(rig.play({ kind: 'rejected', socket: 1, reason: 'too-large' })).toEqual([
      'note message-dropped too-large',
      'close 1',
      `note lost ${A} unreadable 0`,
      `open 2 ${A} as #5`,
      'send 2 INFORM 10:default',
    ]);
  });

  it('malformed messages are counted, and are signs of life', () => {
    const rig = SessionRig.registered();
    rig.advance(400);
    rig.receive(1, { kind: 'malformed', reason: 'frame-count' });
    rig.take();
    expect(notes(rig.advance(499), 'lost')).toEqual([]);
    expect(rig.session.stats.dropped).toEqual({ 'frame-count': 1 });
  });

  it('events of a connection that is over change nothing', () => {
    const rig = SessionRig.registered();
    rig.play({ kind: 'lost', socket: 1, reason: 'peer-gone' });
    rig.take();
    expect(rig.receive(1, request('old'))).toEqual([]);
    expect(rig.play({ kind: 'lost', socket: 1, reason: 'peer-gone' })).toEqual([]);
    expect(rig.play({ kind: 'rejected', socket: 1, reason: 'too-large' })).toEqual([]);
  });
});

describe('a broker that leaves', () => {
  const BYE = { kind: 'bye', id: 'b', word: 'KBYE' } as const;

  it('rule 12: gets nothing more, and the next one is tried', () => {
    const rig = SessionRig.registered({ endpoints: [A, B] });
    expect(rig.receive(1, BYE)).toEqual([
      'close 1 flush',
      `note lost ${A} disconnected 0`,
      `open 2 ${B} as #5`,
      'send 2 INFORM 10:default',
    ]);
  });

  it('rule 12: gets the results of its jobs, until the last of them', () => {
    const rig = SessionRig.registered({ endpoints: [A, B] });
    rig.receive(1, request('a', REPLY), request('b', REPLY));
    rig.receive(1, BYE, BYE);
    rig.ack(2);
    rig.take();
    expect(rig.ran(1, 1)).toEqual(['send 1 REPLY a ok', 'send 2 READY']);
    rig.take();
    expect(rig.ran(0, 2)).toEqual(['send 1 REPLY b ok', 'close 1 flush', 'send 2 READY']);
  });

  it('rule 12: and closes its connection leaves its results to the next one', () => {
    const rig = SessionRig.registered({ endpoints: [A, B] });
    rig.receive(1, request('a', REPLY));
    rig.receive(1, BYE);
    rig.ack(2);
    rig.take();
    expect(rig.play({ kind: 'lost', socket: 1, reason: 'peer-gone' })).toEqual(['close 1']);
    rig.take();
    expect(rig.ran(1, 1)).toEqual(['send 2 REPLY a ok', 'send 2 READY']);
  });

  it('rule 12: and returns again and again is met after growing pauses', () => {
    const rig = SessionRig.registered();
    for (const [socket, wait] of [
      [1, 0],
      [2, 100],
      [3, 200],
    ] as const) {
      rig.receive(socket, BYE);
      expect(notes(rig.take(), 'lost')).toEqual([`note lost ${A} disconnected ${wait}`]);
      rig.advance(wait);
    }
  });

  it('rule 12: by DISCONNECT makes the job manager say goodbye, finish and end', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('j', REPLY));
    rig.take();
    rig.receive(1, { kind: 'disconnect', id: 'd' });
    expect(rig.take()).toEqual(['send 1 KBAI', 'send 1 KBYE', `note left ${A} told`]);
    expect(rig.ran(1, 1)).toEqual(['send 1 REPLY j ok', 'close 1 flush', 'ended']);
  });

  it('rule 12: by DISCONNECT is met again if onDisconnect says so', () => {
    const rig = SessionRig.registered({ onDisconnect: 'reconnect' });
    rig.receive(1, { kind: 'disconnect', id: 'd' });
    expect(sends(rig.take())).toEqual(['send 1 KBAI', 'send 1 KBYE', 'send 2 INFORM 10:default']);
  });
});

describe('the end', () => {
  it.each([
    ['both', ['send 1 KBAI', 'send 1 KBYE']],
    ['kbai', ['send 1 KBAI']],
    ['kbye', ['send 1 KBYE']],
  ] as const)('rule 11: an idle job manager says goodbye (%s) and ends', (byes, words) => {
    const rig = SessionRig.registered({ byes });
    expect(rig.play({ kind: 'drain' })).toEqual([...words, `note left ${A} drained`, 'close 1 flush', 'ended']);
    expect(rig.session.deadline).toBe(Infinity);
  });

  it('rule 11: running jobs finish and are answered, waiting ones too, and none is announced', () => {
    const rig = SessionRig.registered({ concurrency: 1 });
    rig.receive(1, request('a', REPLY), request('b', REPLY));
    rig.play({ kind: 'drain' });
    rig.take();
    expect(rig.ran(0, 1)).toEqual(['send 1 REPLY a ok', 'run 0 2 b wants result']);
    rig.take();
    expect(rig.ran(0, 2)).toEqual(['send 1 REPLY b ok', 'close 1 flush', 'ended']);
  });

  it('rule 11: a request that comes after the goodbye is not started', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('a'));
    rig.play({ kind: 'drain' });
    rig.take();
    expect(rig.receive(1, request('late'))).toEqual(['note request-dropped leaving late']);
  });

  it('rule 11: sends heartbeats only while jobs run whose result was requested', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('a', GUARANTEE), request('b'));
    rig.play({ kind: 'drain' });
    rig.take();
    expect(rig.advance(250)).toEqual(Array(2).fill('send 1 HEARTBEAT 1.500000'));
    rig.ran(1, 1);
    rig.take();
    expect(rig.advance(1000)).toEqual([]);
  });

  it('rule 11: the broker’s silence after the goodbye is not a loss', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('a', REPLY));
    rig.play({ kind: 'drain' });
    rig.take();
    expect(rig.advance(2000).filter((line) => !line.includes('HEARTBEAT'))).toEqual([]);
    rig.take();
    expect(rig.ran(1, 1)).toEqual(['send 1 REPLY a ok', 'close 1 flush', 'ended']);
  });

  it('rule 11: a job that is to run again elsewhere is not answered when it is killed', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('a', { ...REPLY, retryCount: 1 }));
    rig.play({ kind: 'close' });
    rig.take();
    expect(rig.gone(1)).toEqual(['note job-abandoned a', 'close 1 flush', 'ended']);
  });

  it('rule 11: after killGraceMs running jobs are killed; a guaranteed job is left to the broker', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('a', { ...REPLY, ...GUARANTEE }), request('b', REPLY));
    rig.play({ kind: 'drain' });
    rig.advance(4999);
    rig.take();
    expect(rig.advance(1)).toEqual(['kill 0', 'kill 1', 'send 1 HEARTBEAT 1.500000']);
    rig.take();
    rig.gone(1);
    expect(sends(rig.take())).toEqual([]);
    expect(rig.gone(0)).toEqual([
      'note job-abandoned b',
      'send 1 REPLY b {"value": "the job manager stopped before the job had ended"}',
      'close 1 flush',
      'ended',
    ]);
  });

  it('a job that failed before the end is still run again', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('a', { ...REPLY, retryCount: 1 }));
    rig.play({ kind: 'drain' });
    rig.failed(1, 1);
    rig.advance(10);
    rig.take();
    expect(rig.ran(1, 1)).toEqual(['send 1 REPLY a ok', 'close 1 flush', 'ended']);
  });

  it('rule 11: a broker that is down while we end gets its results if it returns in time', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('a', REPLY));
    rig.play({ kind: 'lost', socket: 1, reason: 'peer-gone' });
    rig.play({ kind: 'drain' });
    rig.take();
    expect(rig.ran(1, 1)).toEqual([]);
    expect(rig.ack(2)).toEqual([
      `note registered ${A}`,
      'send 2 REPLY a ok',
      'send 2 KBAI',
      'send 2 KBYE',
      'close 2 flush',
      'ended',
    ]);
  });

  it('rule 11: and is awaited no longer than an ACK may take', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('a', REPLY));
    rig.play({ kind: 'lost', socket: 1, reason: 'peer-gone' }, { kind: 'drain' });
    rig.ran(1, 1);
    rig.advance(199);
    expect(rig.take()).not.toContain('ended');
    expect(rig.advance(1)).toContain('ended');
  });

  it('close kills running jobs and ends when they are gone', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('a', REPLY), request('b', GUARANTEE), request('c', GUARANTEE));
    rig.take();
    rig.play({ kind: 'close' });
    expect(rig.take()).toEqual([
      'send 1 KBAI',
      'send 1 KBYE',
      `note left ${A} closed`,
      'note job-abandoned c',
      'kill 0',
      'kill 1',
    ]);
    rig.gone(0);
    rig.take();
    expect(rig.gone(1).slice(-2)).toEqual(['close 1 flush', 'ended']);
  });

  it('close ends a drain', () => {
    const rig = SessionRig.registered();
    rig.receive(1, request('a'));
    rig.play({ kind: 'drain' });
    rig.take();
    expect(rig.play({ kind: 'close' })).toEqual(['kill 1']);
    expect(rig.gone(1)).toContain('ended');
  });

  it.each(['drain', 'close'] as const)('%s before the start ends at once', (kind) => {
    expect(new SessionRig().play({ kind })).toEqual(['ended']);
  });

  it('changes nothing more once it has ended', () => {
    const rig = SessionRig.registered();
    rig.play({ kind: 'close' });
    rig.take();
    expect(rig.play({ kind: 'start' }, { kind: 'drain' }, { kind: 'up', slot: 0 })).toEqual([]);
  });
});
