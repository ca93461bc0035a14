/** What the encoder refuses, and what it shares. The frames of each command are those of the vectors. */
import { framesOf, toHex } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { emqpTime, encodeEmqp, encodeEmqpJson } from './index.js';
import type { EmqpCommand } from './index.js';

const [headers, body] = framesOf('guarantee', 'body') as [Uint8Array, Uint8Array];
const request: EmqpCommand = { kind: 'request', id: 'm', queue: 'q', headers, body };

describe('encodeEmqp', () => {
  test.each<[EmqpCommand, string[]]>([
    [request, ['REQUEST', 'm', 'q', 'guarantee', 'body']],
    [{ ...request, queue: 'é' }, ['REQUEST', 'm', 'é', 'guarantee', 'body']],
    [{ kind: 'result', id: 'm', result: body, of: undefined }, ['REPLY', 'm', 'body']],
    [
      { kind: 'inform-worker', id: 'm', queues: [{ weight: 1.5, name: 'é"' }] },
      ['INFORM', 'm', '[[1.5, "\\u00e9\\""]]', 'worker'],
    ],
    [{ kind: 'inform-worker', id: 'm', queues: [] }, ['INFORM', 'm', '[]', 'worker']],
    [{ kind: 'inform-worker', id: 'm', queues: undefined }, ['INFORM', 'm', '', 'worker']],
    [
      { kind: 'unschedule', id: 'm', queue: '', headers, interval: '-1', body, cron: '' },
      ['UNSCHEDULE', 'm', '', 'guarantee', '-1', 'body', ''],
    ],
    [{ kind: 'hello', id: 'm' }, ['HELLO', 'm']],
    [{ kind: 'show-schedulers', id: 'm' }, ['ROUTER_SHOW_SCHEDULERS', 'm']],
    [{ kind: 'admin-reply', id: 'm', json: '{}' }, ['REPLY', 'm', '{}']],
  ])('%o', (command, parts) => {
    expect(toHex(encodeEmqp(command))).toEqual(toHex(framesOf('', 'eMQP/1.0', ...parts)));
  });

  test('a published message has no opening', () => {
    expect(toHex(encodeEmqp({ kind: 'published', topic: headers, body }))).toEqual(toHex([headers, body]));
  });

  test('passes on the encoded answer to an admin', () => {
    const encoded = new Uint8Array(2);
    expect(encodeEmqp({ kind: 'admin-reply', id: 'm', json: '{}', encoded }).at(-1)).toBe(encoded);
  });

  test('passes on body frames unchanged and shares constant frames', () => {
    const [one, other] = [encodeEmqp(request), encodeEmqp(request)];
    expect(one).not.toBe(other);
    expect(one[5]).toBe(headers);
    expect(one[6]).toBe(body);
    for (const at of [0, 1, 2]) expect(one[at]).toBe(other[at]);
  });

  test.each([
    ['an empty id', { kind: 'ready', id: '' }],
    ['an id of 256 bytes', { kind: 'ready', id: 'm'.repeat(256) }],
    ['an id that is no bytes', { kind: 'ready', id: '€' }],
    ['an acknowledgement of nothing', { kind: 'ack', id: 'm', of: '' }],
    ['a result of nothing', { kind: 'result', id: 'm', result: body, of: '' }],
    ['an empty queue', { ...request, queue: '' }],
    ['a queue of 256 bytes', { ...request, queue: 'é'.repeat(128) }],
    ['a queue that UTF-8 cannot express', { ...request, queue: '\ud800' }],
    ['a schedule for an empty queue', { kind: 'schedule', id: 'm', queue: '', headers, interval: '1', body, cron: '' }],
    ['a weight that is not finite', { kind: 'inform-worker', id: 'm', queues: [{ weight: NaN, name: 'q' }] }],
    ['an unnamed queue', { kind: 'inform-worker', id: 'm', queues: [{ weight: 1, name: '' }] }],
    [
      '1001 queues',
      { kind: 'inform-worker', id: 'm', queues: Array.from({ length: 1001 }, () => ({ weight: 1, name: 'q' })) },
    ],
    ['an empty topic', { kind: 'publish', id: 'm', topic: new Uint8Array(0), body }],
  ] as [string, EmqpCommand][])('refuses %s', (_, command) => {
    expect(() => encodeEmqp(command)).toThrow(RangeError);
  });
});

test.each([
  [1_795_199_684_546_465, '1795199684.546465'],
  [1_795_199_684_000_007, '1795199684.000007'],
  [0, '0.000000'],
])('the time of a heartbeat: %i microseconds are %s', (micros, text) => {
  expect(emqpTime(micros)).toBe(text);
});

test.each([
  [{ a: [1, 'x'], b: {} }, '{"a": [1, "x"], "b": {}}'],
  [{ é: '\x7f\n"\\' }, '{"\\u00e9": "\\u007f\\n\\"\\\\"}'],
  [[null, true, 1.5, []], '[null, true, 1.5, []]'],
  [
    new Map<string, unknown>([
      ['2', 'b'],
      ['1', new Map()],
    ]),
    '{"2": "b", "1": {}}',
  ],
])('JSON as Python prints it: %j', (value, text) => {
  expect(encodeEmqpJson(value)).toBe(text);
});
