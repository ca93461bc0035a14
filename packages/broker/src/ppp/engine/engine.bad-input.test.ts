/** docs/protocols/ppp.md, section "Bad input": each row, from strangers, idle workers and busy ones. */
import { describe, expect, it } from 'vitest';
import { QueueUnderTest } from '../../../test/ppp/under-test.js';

/** Row, frames, reason. */
type Row = readonly [string, readonly string[], string];

/** Rule 3: the frame count decides. */
const BACKEND: readonly Row[] = [
  ['no frame at all', [], 'no-frames'],
  ['one empty frame', [''], 'control-empty'],
  ['an unknown byte', ['\x07'], 'control-unknown'],
  ['a zero byte', ['\x00'], 'control-unknown'],
  ['READY and a zero byte', ['\x01\x00'], 'control-length'],
  ['HEARTBEAT twice in a frame', ['\x02\x02'], 'control-length'],
  ['READY with a second frame', ['\x01', 'x'], 'reply-malformed'],
  ['HEARTBEAT behind an empty frame', ['', '\x02'], 'reply-malformed'],
  ['a reply without empty frame', ['c1', 'x'], 'reply-malformed'],
  ['a reply without content', ['c1', ''], 'reply-malformed'],
  ['a reply without address', ['', 'x', 'y'], 'reply-malformed'],
];

/** A queue with a busy worker `w1` and an idle worker `w2`. */
function atWork(): QueueUnderTest {
  const queue = new QueueUnderTest();
  queue.ready('w1');
  queue.ready('w2');
  queue.request('c1', 'hello');
  return queue;
}

describe('at the backend', () => {
  it.each(BACKEND)('rule 3: %s from a stranger is dropped and counted', (_row, frames, reason) => {
    const queue = atWork();
    expect(queue.backend('x', ...frames)).toEqual([`note message-dropped ${reason} backend x`]);
    expect(queue.dropped).toEqual({ [reason]: 1 });
  });

  it.each(BACKEND)('rule 3: %s from a busy worker is dropped and counted; it keeps its job', (_row, frames, reason) => {
    const queue = atWork();
    expect(queue.backend('w1', ...frames)).toEqual([`note message-dropped ${reason} backend w1`]);
    expect(queue.stats).toMatchObject({ workers: 2, busy: 1 });
    expect(queue.reply('w1', 'c1', 'done')).toEqual(['-> c1 REPLY "done"']);
  });

  it.each(BACKEND)('rule 3: %s from an idle worker is dropped and counted; it stays', (_row, frames, reason) => {
    const queue = atWork();
    expect(queue.backend('w2', ...frames)).toEqual([`note message-dropped ${reason} backend w2`]);
    expect(queue.request('c2', 'next')).toEqual(['-> w2 REQUEST c2 "next"']);
  });

  it('a reply by an idle worker, or a second one to a job, is dropped; the worker stays', () => {
    const queue = atWork();
    expect(queue.reply('w2', 'c1', 'x')).toEqual(['note message-dropped reply-unexpected backend w2']);
    expect(queue.stats).toMatchObject({ workers: 2, busy: 1 });
  });

  it('a reply whose first address is not the job’s client is dropped; the job stays', () => {
    const queue = atWork();
    expect(queue.reply('w1', 'c2', 'x')).toEqual(['note message-dropped reply-address backend w1']);
    expect(queue.backend('w1', 'hop', 'c1', '', 'x')).toEqual([]);
    expect(queue.dropped).toEqual({ 'reply-address': 2 });
    expect(queue.stats.busy).toBe(1);
  });

  it.each([
    ['too-large', 'too-large'],
    ['too-many-frames', 'too-large'],
    ['no-frames', 'no-frames'],
  ] as const)('a message that is %s is dropped and counted as %s; the job stays', (rejected, reason) => {
    const queue = atWork();
    expect(queue.workerRejected('w1', rejected)).toEqual([`note message-dropped ${reason} backend w1`]);
    expect(queue.workerRejected('x', rejected)).toEqual([`note message-dropped ${reason} backend x`]);
    expect(queue.stats).toMatchObject({ workers: 2, busy: 1 });
  });
});

describe('at the frontend', () => {
  it.each<Row>([
    ['no frame at all', [], 'no-frames'],
    ['an empty frame and nothing after it', [''], 'request-no-content'],
    ['hops, an empty frame and nothing after it', ['hop', ''], 'request-no-content'],
    ['READY of a worker at the wrong socket', ['\x01'], 'control-unexpected'],
    ['its HEARTBEAT', ['\x02'], 'control-unexpected'],
  ])('%s is dropped and counted', (_row, frames, reason) => {
    const queue = atWork();
    expect(queue.frontend('c2', ...frames)).toEqual([`note message-dropped ${reason} frontend c2`]);
    expect(queue.dropped).toEqual({ [reason]: 1 });
    expect(queue.stats).toMatchObject({ workers: 2, busy: 1, openRequests: 1 });
  });

  it.each([
    ['too-large', 'too-large'],
    ['too-many-frames', 'too-large'],
    ['no-frames', 'no-frames'],
  ] as const)('a request that is %s is dropped and counted as %s', (rejected, reason) => {
    const queue = atWork();
    expect(queue.clientRejected('c2', rejected)).toEqual([`note message-dropped ${reason} frontend c2`]);
    expect(queue.dropped).toEqual({ [reason]: 1 });
  });
});

describe('a routing id of any bytes', () => {
  it.each(['\x00', '\x00\x6b\x8b\x45\x67', '\x01', '\x02', 'x'.repeat(255), '\xff\xfe\x00\x80'])(
    'is accepted at both sockets: %j',
    (id) => {
      const queue = new QueueUnderTest();
      expect(queue.ready(id)).toEqual([`worker-ready ${id}`]);
      queue.request(id, 'hello');
      expect(queue.backend(id, id, '', 'done')).toEqual([`-> ${id} REPLY "done"`]);
    },
  );
});
