/** docs/protocols/emqp.md, section "Bad input": each row, including those that crash EventMQ's own router. */
import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest, jobBody, VERSION } from '../../../test/emqp/broker-under-test.js';

const LONG = 'x'.repeat(256);
const NOT_UTF8 = '\xc3(';

/** Row, frames, reason. */
type Row = readonly [string, readonly string[], string];

const DROPPED: readonly Row[] = [
  ['no frame', [], 'too-few-frames'],
  ['three frames', ['', VERSION, 'READY'], 'too-few-frames'],
  ['a first frame that is not empty', ['x', VERSION, 'READY', 'm'], 'no-empty-frame'],
  ['version 2.0', ['', 'eMQP/2.0', 'READY', 'm'], 'version'],
  ['version foo', ['', 'foo', 'READY', 'm'], 'version'],
  ['a version that is not UTF-8', ['', NOT_UTF8, 'READY', 'm'], 'version'],
  ['an unknown command', ['', VERSION, 'NONSENSE', 'm'], 'unknown-command'],
  ['an empty command', ['', VERSION, '', 'm'], 'unknown-command'],
  ['a command that is not UTF-8', ['', VERSION, NOT_UTF8, 'm'], 'unknown-command'],
  ['an empty message id', ['', VERSION, 'READY', ''], 'id-invalid'],
  ['a message id of 256 bytes', ['', VERSION, 'READY', LONG], 'id-invalid'],
  ['INFORM of 5 frames', ['', VERSION, 'INFORM', 'm', '[[10, "a"]]'], 'frame-count'],
  ['INFORM of an unknown type', ['', VERSION, 'INFORM', 'm', '', 'router'], 'inform-type'],
  ...[
    ...['default', '{"a":1}', '["email"]', '[["a",10]]', '[[1e999,"a"]]', '[[10,""]]', '[[10,"a"', NOT_UTF8],
    ...[`[[10,"${LONG}"]]`, JSON.stringify(Array.from({ length: 1001 }, (_, i) => [1, `q${i}`]))],
  ].map((queues): Row => [
    `queues ${queues.slice(0, 20)}`,
    ['', VERSION, 'INFORM', 'm', queues, 'worker'],
    'queues-invalid',
  ]),
  ['REQUEST of 6 frames', ['', VERSION, 'REQUEST', 'm', 'default', ''], 'frame-count'],
  ['REQUEST of 8 frames', ['', VERSION, 'REQUEST', 'm', 'default', '', 'x', ''], 'frame-count'],
  ['REQUEST for an empty queue', ['', VERSION, 'REQUEST', 'm', '', '', 'x'], 'queue-invalid'],
  ['REQUEST for a queue that is not UTF-8', ['', VERSION, 'REQUEST', 'm', NOT_UTF8, '', 'x'], 'queue-invalid'],
  ['SCHEDULE of 8 frames', ['', VERSION, 'SCHEDULE', 'm', 'q', '', '2', jobBody()], 'frame-count'],
  ['SCHEDULE of 10 frames', ['', VERSION, 'SCHEDULE', 'm', 'q', '', '2', jobBody(), '', ''], 'frame-count'],
  ['SCHEDULE of 7 frames without interval', ['', VERSION, 'SCHEDULE', 'm', 'q', '', jobBody()], 'no-interval'],
  [
    'SCHEDULE without callable',
    ['', VERSION, 'SCHEDULE', 'm', 'q', '', '2', '["run", {"path": "m"}]', ''],
    'job-invalid',
  ],
  ['DISCONNECT', ['', VERSION, 'DISCONNECT', 'm'], 'disconnect-refused'],
  ['PUBLISH of 5 frames', ['', VERSION, 'PUBLISH', 'm', 'topic'], 'frame-count'],
  ['PUBLISH of 8 frames', ['', VERSION, 'PUBLISH', 'm', 'topic', '', 'x', ''], 'frame-count'],
  ['INFORM with 64 KiB of queues', ['', VERSION, 'INFORM', 'm', '['.repeat(65_537), 'worker'], 'queues-invalid'],
  [
    'SCHEDULE with an endless interval',
    ['', VERSION, 'SCHEDULE', 'm', 'q', '', '1'.repeat(65), jobBody(), ''],
    'interval-too-long',
  ],
  [
    'SCHEDULE with an endless cron expression',
    ['', VERSION, 'SCHEDULE', 'm', 'q', '', '-1', jobBody(), '*'.repeat(256)],
    'cron-too-long',
  ],
  ['REQUEST with endless headers', ['', VERSION, 'REQUEST', 'm', 'q', 'x'.repeat(4097), 'x'], 'headers-too-long'],
  ['PUBLISH with an endless topic', ['', VERSION, 'PUBLISH', 'm', 't'.repeat(4097), 'x'], 'topic-too-long'],
  ['PUBLISH without topic', ['', VERSION, 'PUBLISH', 'm', '', 'x'], 'topic-empty'],
  ['PUBLISH where no device is', ['', VERSION, 'PUBLISH', 'm', 'topic', 'x'], 'publish-unserved'],
  ['a command of a broker', ['', VERSION, 'ACK', 'm', 'i'], 'wrong-direction'],
];

const FROM_STRANGERS: readonly Row[] = [
  ['READY', ['', VERSION, 'READY', 'm'], 'unknown-peer'],
  ['REPLY', ['', VERSION, 'REPLY', 'm', '{"value": 5}', 'm1'], 'unknown-peer'],
];

let broker: BrokerUnderTest;

/** A broker with worker `w1`, which has job m1 of client c1, scheduler `s1`, and queue default with a waiting request. */
beforeEach(() => {
  broker = new BrokerUnderTest();
  broker.inform('w1');
  broker.scheduler('s1');
  broker.ready('w1');
  broker.request('c1', 'm1', 'default', 'reply-requested');
  broker.request('c1', 'm2');
});

/** The broker still works. */
function worksOn(): void {
  expect(broker.stats).toMatchObject({ workers: 1, schedulers: 1, openRequests: 2 });
  expect(broker.reply('w1', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}']);
  expect(broker.ready('w1')).toEqual(['-> w1 REQUEST m2 default']);
}

describe.each(['x', 'w1', 's1'])('from %s', (name) => {
  it.each(DROPPED)('%s is dropped and counted', (_row, frames, reason) => {
    expect(broker.frames(name, ...frames)).toEqual([`note message-dropped ${reason} ${name}`]);
    expect(broker.dropped).toEqual({ [reason]: 1 });
    worksOn();
  });

  it.each(['too-large', 'too-many-frames', 'no-frames'] as const)(
    'a message that is %s is dropped and counted',
    (reason) => {
      expect(broker.rejected(name, reason)).toEqual([`note message-dropped ${reason} ${name}`]);
      worksOn();
    },
  );
});

it.each(FROM_STRANGERS)('%s from a stranger is dropped, and not answered', (_row, frames, reason) => {
  expect(broker.frames('x', ...frames)).toEqual([`note message-dropped ${reason} x`]);
  worksOn();
});

it.each([
  ['READY', ['READY', 'm']],
  ['REPLY', ['REPLY', 'm', '{}', 'm1']],
])('%s from a scheduler is dropped and counted', (_row, frames) => {
  expect(broker.say('s1', ...frames)).toEqual(['note message-dropped unexpected s1']);
  worksOn();
});

it('KBYE and KBAI from a stranger are ignored', () => {
  expect([...broker.bye('x', 'KBYE'), ...broker.bye('x', 'KBAI')]).toEqual([]);
  expect(broker.dropped).toEqual({});
  worksOn();
});

it.each([[''], ['x'], ['\ufffd'], ['9'.repeat(100)]])('HEARTBEAT with time %j is a sign of life', (time) => {
  expect(broker.say('w1', 'HEARTBEAT', 'm', time.replace('\ufffd', '\xef\xbf\xbd'))).toEqual([]);
  worksOn();
});

it('headers that are not understood are ignored and counted, and the request is served', () => {
  broker.inform('w2');
  broker.ready('w2', 2);
  expect(broker.request('c1', 'm3', 'default', 'timeout:x,reply-requested')).toContain('-> w2 REQUEST m3 default');
  expect(broker.reply('w2', 'm3')).toEqual(['-> c1 RESULT m3 {"value": 5}']);
  expect(broker.request('c1', 'm4', 'default', '\xff')).toContain('-> c1 ACCEPTED m4');
  expect(broker.stats.counters.headersIgnored).toBe(2);
});

it('a body that is not JSON is still forwarded', () => {
  expect(broker.request('c1', 'm3', 'default', '', '\xff{')).toEqual(['-> c1 ACCEPTED m3']);
});

it('REPLY of five frames is the result of the worker’s only job', () => {
  expect(broker.say('w1', 'REPLY', 'p', '{"value": 7}')).toEqual(['-> c1 RESULT m1 {"value": 7}']);
});

it('REPLY of five frames is dropped when the worker has no job', () => {
  broker.inform('w2');
  expect(broker.say('w2', 'REPLY', 'p', '{"value": 7}')).toEqual(['note message-dropped reply-ambiguous w2']);
  expect(broker.stats.openRequests).toBe(2);
});

it('REPLY of five frames is dropped when the worker has several jobs', () => {
  broker.inform('w2', 'mail');
  broker.ready('w2', 2);
  broker.request('c1', 'm3', 'mail', 'reply-requested');
  broker.request('c1', 'm4', 'mail', 'reply-requested');
  expect(broker.say('w2', 'REPLY', 'p', '{"value": 7}')).toEqual(['note message-dropped reply-ambiguous w2']);
  expect(broker.stats.openRequests).toBe(4);
});

it.each(['unknown', 'm2'])('REPLY to a job that the worker does not have is dropped: %s', (of) => {
  expect(broker.reply('w1', of)).toEqual(['note message-dropped reply-unknown w1']);
  worksOn();
});

it('READY beyond 100,000 slots is capped and counted', () => {
  broker.inform('w2');
  const ready = { kind: 'ready', id: 'r' } as const;
  const peer = { key: 'w2', id: Uint8Array.of(0x77, 0x32) };
  for (let i = 0; i < 100_000; i++) broker.engine.step({ kind: 'message', port: 'backend', peer, command: ready }, 0);
  expect(broker.stats.slots).toBe(99_999);
  broker.ready('w2');
  expect(broker.ready('w2')).toEqual(['note message-dropped slots-capped w2']);
  expect(broker.stats.slots).toBe(100_000);
});

it('a repeated fault of the same peer is logged once a minute, and counted each time', () => {
  broker.frames('x', 'y');
  expect(broker.frames('x', 'y')).toEqual([]);
  expect(broker.frames('z', 'y')).toHaveLength(1);
  expect(broker.stats.counters).toMatchObject({ notesWithheld: 1, dropped: { 'too-few-frames': 3 } });
  broker.now = 60_000;
  expect(broker.frames('x', 'y')).toHaveLength(1);
});

/** Sender, frames, and consequence. */
const KILLERS: readonly (readonly [string, string, readonly string[], readonly string[]])[] = [
  ['a routing id that is not UTF-8', NOT_UTF8, ['REQUEST', 'm', 'default', '', 'x'], [`-> ${NOT_UTF8} ACCEPTED m`]],
  ['a frame that is not UTF-8', 'c2', ['REQUEST', NOT_UTF8, 'default', '', NOT_UTF8], [`-> c2 ACCEPTED ${NOT_UTF8}`]],
  ['INFORM without type', 'w2', ['INFORM', 'm', '[[10, "a"]]'], ['note message-dropped frame-count w2']],
  [
    'queues that are one pair',
    'w2',
    ['INFORM', 'm', '[40, "email"]', 'worker'],
    ['joined w2 worker', '-> w2 ACK m', '-> w2 HEARTBEAT'],
  ],
  [
    'queues that are an object',
    'w2',
    ['INFORM', 'm', '{"a": 1}', 'worker'],
    ['note message-dropped queues-invalid w2'],
  ],
  ['REPLY of five frames', 'w1', ['REPLY', 'm', '{"value": 5}'], ['-> c1 RESULT m1 {"value": 5}']],
  ['DISCONNECT from a worker', 'w1', ['DISCONNECT', 'm'], ['note message-dropped disconnect-refused w1']],
];

it.each(KILLERS)('survives what crashes EventMQ’s own router: %s', (_row, name, frames, then) => {
  expect(broker.say(name, ...frames)).toEqual(then);
  expect(broker.ready('w1')).toEqual(['-> w1 REQUEST m2 default']);
});
