/** The table "Bad input" of docs/protocols/emqp.md and the form of every accepted message. */
import { framesOf } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import {
  decodeEmqpAtAdmin,
  decodeEmqpAtAdminPort,
  decodeEmqpAtBroker,
  decodeEmqpAtClient,
  decodeEmqpAtPubSub,
  decodeEmqpAtScheduler,
  decodeEmqpAtSubscriber,
  decodeEmqpAtWorker,
} from './index.js';
import type { EmqpMalformedReason } from './index.js';

type Part = string | Uint8Array;
type Row = [what: string, parts: Part[], reason: EmqpMalformedReason];

const V = 'eMQP/1.0';
const NOT_UTF8 = Uint8Array.of(0xc3, 0x28);
const LONG = 'n'.repeat(256);
const frame = (text: string) => framesOf(text)[0]!;

/** What no role accepts. */
const OPENINGS: Row[] = [
  ['no frame', [], 'too-few-frames'],
  ['one frame', [''], 'too-few-frames'],
  ['three frames', ['', V, 'REQUEST'], 'too-few-frames'],
  ['a first frame that is not empty', ['x', V, 'REQUEST', 'm'], 'no-empty-frame'],
  ['version 2.0', ['', 'eMQP/2.0', 'REQUEST', 'm'], 'version'],
  ['another version', ['', 'foo', 'REQUEST', 'm'], 'version'],
  ['a version that is cut', ['', 'eMQP/1', 'REQUEST', 'm'], 'version'],
  ['a version that is not UTF-8', ['', NOT_UTF8, 'REQUEST', 'm'], 'version'],
  ['an unknown command', ['', V, 'NONSENSE', 'm'], 'unknown-command'],
  ['an empty command', ['', V, '', 'm'], 'unknown-command'],
  ['a command of mixed case', ['', V, 'Request', 'm'], 'unknown-command'],
  ['a command of a megabyte', ['', V, new Uint8Array(1_000_000), 'm'], 'unknown-command'],
  ['a command that is not UTF-8', ['', V, NOT_UTF8, 'm'], 'unknown-command'],
  ['a property of objects as command', ['', V, 'constructor', 'm'], 'unknown-command'],
  ['an empty message id', ['', V, 'DISCONNECT', ''], 'id-invalid'],
  ['a message id of 256 bytes', ['', V, 'DISCONNECT', LONG], 'id-invalid'],
];

const inform = (queues: Part, type: Part = 'worker'): Part[] => ['', V, 'INFORM', 'm', queues, type];

const AT_BROKER: Row[] = [
  ['INFORM of 4 frames', ['', V, 'INFORM', 'm'], 'frame-count'],
  ['INFORM without type', ['', V, 'INFORM', 'm', '[]'], 'frame-count'],
  ['INFORM of an unknown type', inform('', 'client'), 'inform-type'],
  ['INFORM of no type', inform('', ''), 'inform-type'],
  ['INFORM of a type that is not UTF-8', inform('', NOT_UTF8), 'inform-type'],
  ['queues that are a bare name', inform('default'), 'queues-invalid'],
  ['queues that are an object', inform('{"a":1}'), 'queues-invalid'],
  ['queues that are a number', inform('10'), 'queues-invalid'],
  ['a queue without weight', inform('["email"]'), 'queues-invalid'],
  ['queues with weight and name exchanged', inform('[["a",10]]'), 'queues-invalid'],
  ['a queue of three fields', inform('[[10,"a","b"]]'), 'queues-invalid'],
  ['a weight that is not finite', inform('[[1e999,"a"]]'), 'queues-invalid'],
  ['a weight that is null', inform('[[null,"a"]]'), 'queues-invalid'],
  ['a weight that is a word', inform('[["ten","a"]]'), 'queues-invalid'],
  ['a weight that is an empty text', inform('[["","a"]]'), 'queues-invalid'],
  ['a queue with an empty name', inform('[[10,""]]'), 'queues-invalid'],
  ['a queue whose name is a number', inform('[[10,7]]'), 'queues-invalid'],
  ['a queue of 256 bytes', inform(`[[10,"${LONG}"]]`), 'queues-invalid'],
  ['a queue of 128 characters and 256 bytes', inform(`[[10,"${'é'.repeat(128)}"]]`), 'queues-invalid'],
  ['a queue that UTF-8 cannot express', inform('[[10,"\\ud800"]]'), 'queues-invalid'],
  ['one bad queue among good ones', inform('[[10,"a"],[20]]'), 'queues-invalid'],
  ['broken JSON', inform('[[10,"a"]'), 'queues-invalid'],
  ['queues that are not UTF-8', inform(NOT_UTF8), 'queues-invalid'],
  ['1001 queues', inform(JSON.stringify(Array.from({ length: 1001 }, (_, i) => [1, `q${i}`]))), 'queues-invalid'],
  ['queues of megabytes', inform(new Uint8Array(3_000_000).fill(0x20)), 'queues-invalid'],
  ['REQUEST of 6 frames', ['', V, 'REQUEST', 'm', 'q', ''], 'frame-count'],
  ['REQUEST of 8 frames', ['', V, 'REQUEST', 'm', 'q', '', 'body', ''], 'frame-count'],
  ['REQUEST for an empty queue', ['', V, 'REQUEST', 'm', '', '', 'body'], 'queue-invalid'],
  ['REQUEST for a queue of 256 bytes', ['', V, 'REQUEST', 'm', LONG, '', 'body'], 'queue-invalid'],
  ['REQUEST for a queue that is not UTF-8', ['', V, 'REQUEST', 'm', NOT_UTF8, '', 'body'], 'queue-invalid'],
  ['REPLY of 4 frames', ['', V, 'REPLY', 'm'], 'frame-count'],
  ['REPLY of 7 frames', ['', V, 'REPLY', 'm', '{}', 'r', ''], 'frame-count'],
  ['REPLY to an empty id', ['', V, 'REPLY', 'm', '{}', ''], 'id-invalid'],
  ['REPLY to an id of 256 bytes', ['', V, 'REPLY', 'm', '{}', LONG], 'id-invalid'],
  ['SCHEDULE of 6 frames', ['', V, 'SCHEDULE', 'm', 'q', ''], 'frame-count'],
  ['SCHEDULE of 8 frames', ['', V, 'SCHEDULE', 'm', 'q', '', '2', 'body'], 'frame-count'],
  ['SCHEDULE of 10 frames', ['', V, 'SCHEDULE', 'm', 'q', '', '2', 'body', '', ''], 'frame-count'],
  ['UNSCHEDULE of 8 frames', ['', V, 'UNSCHEDULE', 'm', 'q', '', '2', 'body'], 'frame-count'],
  ['SCHEDULE for an empty queue', ['', V, 'SCHEDULE', 'm', '', '', '2', 'body', ''], 'queue-invalid'],
  ['SCHEDULE for a queue that is not UTF-8', ['', V, 'SCHEDULE', 'm', NOT_UTF8, '', '2', 'body', ''], 'queue-invalid'],
  ['SCHEDULE of 7 frames without interval', ['', V, 'SCHEDULE', 'm', 'q', 'guarantee', 'body'], 'no-interval'],
  ['SCHEDULE of 7 frames with a word as interval', ['', V, 'SCHEDULE', 'm', 'q', 'interval:x', 'body'], 'no-interval'],
  ['PUBLISH of 5 frames', ['', V, 'PUBLISH', 'm', 'topic'], 'frame-count'],
  ['PUBLISH of 8 frames', ['', V, 'PUBLISH', 'm', 'topic', '', 'body', ''], 'frame-count'],
  ['PUBLISH without topic', ['', V, 'PUBLISH', 'm', '', 'body'], 'topic-empty'],
  ['PUBLISH with a topic of 4097 bytes', ['', V, 'PUBLISH', 'm', new Uint8Array(4097), 'body'], 'topic-too-long'],
  [
    'REQUEST with headers of 4097 bytes',
    ['', V, 'REQUEST', 'm', 'q', new Uint8Array(4097), 'body'],
    'headers-too-long',
  ],
  [
    'SCHEDULE with headers of 4097 bytes',
    ['', V, 'SCHEDULE', 'm', 'q', new Uint8Array(4097), '2', 'body', ''],
    'headers-too-long',
  ],
  [
    'UNSCHEDULE of 7 frames with headers of 4097 bytes',
    ['', V, 'UNSCHEDULE', 'm', 'q', new Uint8Array(4097), 'body'],
    'headers-too-long',
  ],
  ['queues of more than 64 KiB', inform(`[[1,"a"]${' '.repeat(65_528)}]`), 'queues-invalid'],
  ['INFORM of a type of 10 bytes', inform('', 'schedulers'), 'inform-type'],
  [
    'SCHEDULE with an interval of 65 bytes',
    ['', V, 'SCHEDULE', 'm', 'q', '', '1'.repeat(65), 'body', ''],
    'interval-too-long',
  ],
  [
    'SCHEDULE with a cron expression of 256 bytes',
    ['', V, 'SCHEDULE', 'm', 'q', '', '-1', 'body', '*'.repeat(256)],
    'cron-too-long',
  ],
  ['ACK', ['', V, 'ACK', 'm', 'r'], 'wrong-direction'],
  ['STATUS', ['', V, 'STATUS', 'm'], 'wrong-direction'],
];

const AT_ADMIN_PORT: Row[] = [
  ['a REQUEST', ['', V, 'REQUEST', 'm'], 'wrong-direction'],
  ['STATUS with a fifth frame', ['', V, 'STATUS', 'm', 'x'], 'frame-count'],
  ['STATUS with two empty frames', ['', V, 'STATUS', 'm', '', ''], 'frame-count'],
];

const AT_PEERS: Row[] = [
  ['READY', ['', V, 'READY', 'm'], 'wrong-direction'],
  ['INFORM', inform(''), 'wrong-direction'],
];

describe('decodeEmqpAtBroker', () => {
  test.each([...OPENINGS, ...AT_BROKER])('refuses %s', (_, parts, reason) => {
    expect(decodeEmqpAtBroker(framesOf(...parts))).toStrictEqual({ kind: 'malformed', reason });
  });

  test.each([
    ['as the product writes them', '[[10, "a"], [20, "b"]]'],
    ['without spaces', '[[10,"a"],[20,"b"]]'],
    ['as comma separated arrays', '[10,"a"],[20,"b"]'],
    ['as comma separated arrays in single quotes', "[10, 'a'], [20, 'b']"],
    ['in single quotes', "[[10, 'a'], [20, 'b']]"],
    ['with weights that are numeric texts', '[["10", "a"], ["2e1", "b"]]'],
  ])('accepts queues %s', (_, text) => {
    expect(decodeEmqpAtBroker(framesOf(...inform(text)))).toStrictEqual({
      kind: 'inform-worker',
      id: 'm',
      queues: [
        { weight: 10, name: 'a' },
        { weight: 20, name: 'b' },
      ],
    });
  });

  test.each([
    ['[40, "email"]', 40, 'email'],
    ["[40, 'email']", 40, 'email'],
    ['["1.5","it\'s"]', 1.5, "it's"],
    ['[[-3, "é"]]', -3, 'é'],
    ['[[-0, "a"]]', 0, 'a'],
    ['[[10, "\\ud83d\\ude00"]]', 10, '😀'],
    ['[[10, "__proto__"]]', 10, '__proto__'],
  ])('accepts one queue as %s', (text, weight, name) => {
    expect(decodeEmqpAtBroker(framesOf(...inform(text)))).toStrictEqual({
      kind: 'inform-worker',
      id: 'm',
      queues: [{ weight, name }],
    });
  });

  test('accepts 1000 queues, in 64 KiB, and names of 255 bytes', () => {
    const queues = Array.from({ length: 1000 }, (_, i) => [i, `${i}`.padStart(i === 0 ? 255 : 50, 'q')]);
    const decoded = decodeEmqpAtBroker(framesOf(...inform(JSON.stringify(queues))));
    expect(decoded.kind === 'inform-worker' && decoded.queues?.length).toBe(1000);
  });

  test('reads no queues as the default ones', () => {
    expect(decodeEmqpAtBroker(framesOf(...inform('[]')))).toStrictEqual({ kind: 'inform-worker', id: 'm', queues: [] });
    expect(decodeEmqpAtBroker(framesOf(...inform('')))).toStrictEqual({
      kind: 'inform-worker',
      id: 'm',
      queues: undefined,
    });
  });

  test('ignores the queues of a scheduler, whatever they are', () => {
    expect(decodeEmqpAtBroker(framesOf(...inform(NOT_UTF8, 'scheduler')))).toStrictEqual({
      kind: 'inform-scheduler',
      id: 'm',
    });
  });

  test.each(['eMQP/1.0', 'eMQP/1.1', 'eMQP/1.', 'eMQP/1.0-beta'])('accepts version %s', (version) => {
    expect(decodeEmqpAtBroker(framesOf('', version, 'READY', 'm'))).toStrictEqual({ kind: 'ready', id: 'm' });
  });

  test.each([
    ['ready', ['READY', 'm']],
    ['disconnect', ['DISCONNECT', 'm']],
    ['bye', ['KBYE', 'm']],
    ['bye', ['KBAI', 'm']],
    ['heartbeat', ['HEARTBEAT', 'm', '1795199684.5']],
    ['request', ['REQUEST', 'm', 'q', '', 'body']],
    ['result', ['REPLY', 'm', '{}', 'r']],
    ['inform-worker', ['INFORM', 'm', '', 'worker']],
    ['schedule', ['SCHEDULE', 'm', 'q', '', '2', 'body', '']],
    ['unschedule', ['UNSCHEDULE', 'm', 'q', '', '2', 'body', '']],
    ['publish', ['PUBLISH', 'm', 'topic', 'body']],
  ])('accepts %s in lower case too: %j', (kind, [word = '', ...rest]) => {
    expect(decodeEmqpAtBroker(framesOf('', V, word, ...rest))).toMatchObject({ kind });
    expect(decodeEmqpAtBroker(framesOf('', V, word.toLowerCase(), ...rest))).toMatchObject({ kind });
  });

  test.each([
    ['READY', ['READY', 'm', 'x']],
    ['DISCONNECT', ['DISCONNECT', 'm', '']],
    ['KBYE', ['KBYE', 'm', '', '']],
    ['HEARTBEAT', ['HEARTBEAT', 'm', 'x', 'y']],
    ['INFORM', ['INFORM', 'm', '', 'worker', '']],
  ])('ignores extra frames after %s', (_, parts) => {
    expect(decodeEmqpAtBroker(framesOf('', V, ...parts)).kind).not.toBe('malformed');
  });

  test('accepts a HEARTBEAT with any time or none, and keeps only a valid one', () => {
    expect(decodeEmqpAtBroker(framesOf('', V, 'HEARTBEAT', 'm'))).toMatchObject({ time: '' });
    expect(decodeEmqpAtBroker(framesOf('', V, 'HEARTBEAT', 'm', '\ufffd'))).toMatchObject({ time: 'ï¿½' });
    expect(decodeEmqpAtBroker(framesOf('', V, 'HEARTBEAT', 'm', new Uint8Array(65)))).toMatchObject({ time: '' });
  });

  test('accepts message ids of any bytes', () => {
    const id = Uint8Array.of(0, 0xff, 0x80);
    expect(decodeEmqpAtBroker(framesOf('', V, 'READY', id))).toStrictEqual({ kind: 'ready', id: '\0\xff\x80' });
  });

  test('accepts a REPLY of five frames as a result without a job id', () => {
    expect(decodeEmqpAtBroker(framesOf('', V, 'REPLY', 'm', '{"value": 5}'))).toStrictEqual({
      kind: 'result',
      id: 'm',
      result: frame('{"value": 5}'),
      of: undefined,
    });
  });

  test.each([
    ['interval:30', ''],
    ['guarantee,interval:30,nohaste', 'guarantee,nohaste'],
    [' guarantee , interval: 30 ', 'guarantee'],
    ['{"interval": 30, "guarantee": true}', 'guarantee'],
  ])('accepts SCHEDULE of seven frames with headers %j', (headers, left) => {
    expect(decodeEmqpAtBroker(framesOf('', V, 'SCHEDULE', 'm', 'q', headers, 'body'))).toStrictEqual({
      kind: 'schedule',
      id: 'm',
      queue: 'q',
      headers: frame(left),
      interval: '30',
      body: frame('body'),
      cron: '',
    });
  });

  test('accepts UNSCHEDULE of seven frames, with or without an interval, and for any queue', () => {
    for (const headers of ['guarantee', 'guarantee,interval:30', 'interval:x,guarantee']) {
      expect(decodeEmqpAtBroker(framesOf('', V, 'UNSCHEDULE', 'm', '', headers, 'body'))).toStrictEqual({
        kind: 'unschedule',
        id: 'm',
        queue: '',
        headers: frame('guarantee'),
        interval: '-1',
        body: frame('body'),
        cron: '',
      });
    }
  });

  test('leaves interval, headers and cron of nine frames alone, whatever they are', () => {
    const odd = Uint8Array.of(0xff, 0);
    const decoded = decodeEmqpAtBroker(framesOf('', V, 'SCHEDULE', 'm', 'q', odd, odd, 'body', odd));
    expect(decoded).toMatchObject({ kind: 'schedule', headers: odd, interval: '\xff\0', cron: '\xff\0' });
  });

  test('accepts PUBLISH with headers, too, and ignores them', () => {
    expect(decodeEmqpAtBroker(framesOf('', V, 'PUBLISH', 'm', 'topic', 'headers', 'body'))).toStrictEqual({
      kind: 'publish',
      id: 'm',
      topic: frame('topic'),
      body: frame('body'),
    });
  });

  test('passes on headers and body unchanged, without a copy', () => {
    const frames = framesOf('', V, 'REQUEST', 'm', 'q', 'guarantee', 'body');
    const decoded = decodeEmqpAtBroker(frames);
    expect(decoded.kind === 'request' && decoded.headers === frames[5] && decoded.body === frames[6]).toBe(true);
  });
});

describe('decodeEmqpAtAdminPort', () => {
  test.each([...OPENINGS, ...AT_ADMIN_PORT])('refuses %s', (_, parts, reason) => {
    expect(decodeEmqpAtAdminPort(framesOf(...parts))).toStrictEqual({ kind: 'malformed', reason });
  });

  test.each([
    ['STATUS', 'status'],
    ['ROUTER_SHOW_WORKERS', 'show-workers'],
    ['ROUTER_SHOW_SCHEDULERS', 'show-schedulers'],
    ['HELLO', 'hello'],
    ['DISCONNECT', 'disconnect'],
    ['status', 'status'],
  ])('accepts %s, with and without a trailing empty frame', (word, kind) => {
    expect(decodeEmqpAtAdminPort(framesOf('', V, word, 'm'))).toStrictEqual({ kind, id: 'm' });
    expect(decodeEmqpAtAdminPort(framesOf('', V, word, 'm', ''))).toStrictEqual({ kind, id: 'm' });
  });
});

describe('decodeEmqpAtWorker', () => {
  test.each([...OPENINGS, ...AT_PEERS])('refuses %s', (_, parts, reason) => {
    expect(decodeEmqpAtWorker(framesOf(...parts))).toStrictEqual({ kind: 'malformed', reason });
  });

  test('refuses an ACK that names nothing, or too much', () => {
    expect(decodeEmqpAtWorker(framesOf('', V, 'ACK', 'm'))).toMatchObject({ reason: 'frame-count' });
    expect(decodeEmqpAtWorker(framesOf('', V, 'ACK', 'm', 'r', ''))).toMatchObject({ reason: 'frame-count' });
    expect(decodeEmqpAtWorker(framesOf('', V, 'ACK', 'm', ''))).toMatchObject({ reason: 'id-invalid' });
  });
});

describe('decodeEmqpAtScheduler', () => {
  test.each([...OPENINGS, ...AT_PEERS])('refuses %s', (_, parts, reason) => {
    expect(decodeEmqpAtScheduler(framesOf(...parts))).toStrictEqual({ kind: 'malformed', reason });
  });
});

describe('decodeEmqpAtClient', () => {
  test.each([...OPENINGS, ...AT_PEERS])('refuses %s', (_, parts, reason) => {
    expect(decodeEmqpAtClient(framesOf(...parts))).toStrictEqual({ kind: 'malformed', reason });
  });

  test('distinguishes an acceptance from a result by the number of frames', () => {
    expect(decodeEmqpAtClient(framesOf('', V, 'REPLY', 'm', 'r'))).toStrictEqual({
      kind: 'accepted',
      id: 'm',
      of: 'r',
    });
    expect(decodeEmqpAtClient(framesOf('', V, 'REPLY', 'm', '{}', 'r'))).toStrictEqual({
      kind: 'result',
      id: 'm',
      result: frame('{}'),
      of: 'r',
    });
    expect(decodeEmqpAtClient(framesOf('', V, 'REPLY', 'm'))).toMatchObject({ reason: 'frame-count' });
  });
});

describe('decodeEmqpAtAdmin', () => {
  test.each([...OPENINGS, ...AT_PEERS])('refuses %s', (_, parts, reason) => {
    expect(decodeEmqpAtAdmin(framesOf(...parts))).toStrictEqual({ kind: 'malformed', reason });
  });

  test('refuses an answer that is not UTF-8, and one of another length', () => {
    expect(decodeEmqpAtAdmin(framesOf('', V, 'REPLY', 'm', NOT_UTF8))).toMatchObject({ reason: 'text-invalid' });
    expect(decodeEmqpAtAdmin(framesOf('', V, 'REPLY', 'm'))).toMatchObject({ reason: 'frame-count' });
    expect(decodeEmqpAtAdmin(framesOf('', V, 'REPLY', 'm', '{}', 'r'))).toMatchObject({ reason: 'frame-count' });
  });
});

describe('decodeEmqpAtPubSub', () => {
  test.each([...OPENINGS, ...AT_PEERS])('refuses %s', (_, parts, reason) => {
    expect(decodeEmqpAtPubSub(framesOf(...parts))).toStrictEqual({ kind: 'malformed', reason });
  });
});

describe('decodeEmqpAtSubscriber', () => {
  test.each<Row>([
    ['no frame', [], 'too-few-frames'],
    ['a topic alone', ['topic'], 'too-few-frames'],
    ['three frames', ['topic', 'body', ''], 'frame-count'],
    ['an empty topic', ['', 'body'], 'topic-empty'],
  ])('refuses %s', (_, parts, reason) => {
    expect(decodeEmqpAtSubscriber(framesOf(...parts))).toStrictEqual({ kind: 'malformed', reason });
  });

  test('accepts a topic and a body', () => {
    expect(decodeEmqpAtSubscriber(framesOf('topic', ''))).toStrictEqual({
      kind: 'published',
      topic: frame('topic'),
      body: frame(''),
    });
  });
});
