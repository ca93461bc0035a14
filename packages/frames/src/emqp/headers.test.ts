import { fromLatin1, latin1 } from '../bytes.js';
import { describe, expect, test } from 'vitest';
import { decodeEmqpHeaders, encodeEmqpHeaders } from './index.js';

const NONE = {
  replyRequested: false,
  guarantee: false,
  retryCount: 0,
  timeoutSeconds: 0,
  nohaste: false,
  runCount: undefined,
  invalid: 0,
};

const read = (text: string) => decodeEmqpHeaders(fromLatin1(text));

describe('decodeEmqpHeaders', () => {
  test.each([
    ['', {}],
    [',', {}],
    ['reply-requested', { replyRequested: true }],
    ['guarantee', { guarantee: true }],
    ['nohaste', { nohaste: true }],
    ['retry-count:1000', { retryCount: 1000 }],
    ['timeout:604800', { timeoutSeconds: 604_800 }],
    ['run_count:2147483647', { runCount: 2_147_483_647 }],
    ['reply-requested, timeout:9', { replyRequested: true, timeoutSeconds: 9 }],
    [' timeout : 9 ', { timeoutSeconds: 9 }],
    ['timeout:1,timeout:2,timeout:x', { timeoutSeconds: 2, invalid: 1 }],
    ['{"reply-requested": true, "timeout": 9, "guarantee": false}', { replyRequested: true, timeoutSeconds: 9 }],
    ['{"Reply-Requested": "True", "retry-count": "2"}', { replyRequested: true, retryCount: 2 }],
    ['reply-requested:True', { replyRequested: true }],
    ['guarantee:true,nohaste: TRUE', { guarantee: true, nohaste: true }],
    ['reply-requested:False,guarantee,guarantee:false', {}],
    ['Guarantee,RETRY-COUNT:2,Timeout:3', { guarantee: true, retryCount: 2, timeoutSeconds: 3 }],
  ])('%j', (text, expected) => {
    expect(read(text)).toStrictEqual({ ...NONE, ...expected });
  });

  test.each(['guaranteed', 'no-guarantee', 'x:1', 'constructor', '{}', '{', '{"\\u20ac": 1}'])(
    'an unknown item is ignored: %j',
    (text) => {
      expect(read(text)).toStrictEqual(NONE);
    },
  );

  test.each([
    'timeout',
    'timeout:x',
    'timeout:-1',
    'timeout:1.5',
    'timeout:604801',
    'retry-count:1001',
    'run_count:0',
    'run_count:2147483648',
    'guarantee:1',
    '\xff',
    '{"timeout": 1.5}',
  ])('an invalid item is ignored and counted: %j', (text) => {
    expect(read(text)).toStrictEqual({ ...NONE, invalid: 1 });
    expect(read(`${text.startsWith('{') ? '' : `${text},`}reply-requested`)).toMatchObject({ replyRequested: true });
  });

  test('a frame of more than 4096 bytes is not read', () => {
    expect(read(`guarantee,${'x'.repeat(4086)}`)).toMatchObject({ guarantee: true, invalid: 0 });
    expect(read(`guarantee,${'x'.repeat(4087)}`)).toStrictEqual({ ...NONE, invalid: 1 });
  });
});

describe('encodeEmqpHeaders', () => {
  test.each([
    [{}, ''],
    [
      { timeoutSeconds: 10, retryCount: 2, guarantee: true, replyRequested: true },
      'reply-requested,guarantee,retry-count:2,timeout:10',
    ],
    [{ runCount: 3, guarantee: true }, 'guarantee,run_count:3'],
    [{ nohaste: true, replyRequested: false, retryCount: 0, runCount: undefined }, 'nohaste'],
  ])('%j', (headers, text) => {
    expect(latin1(encodeEmqpHeaders(headers))).toBe(text);
  });

  test.each([{ retryCount: 1001 }, { timeoutSeconds: -1 }, { timeoutSeconds: 1.5 }, { runCount: 0 }])(
    'refuses %j',
    (headers) => {
      expect(() => encodeEmqpHeaders(headers)).toThrow(RangeError);
    },
  );
});
