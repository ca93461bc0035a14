/** What the vectors do not cover: bounds, and input that no socket delivers. */
import { framesOf } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import {
  decodePzqAtConsumer,
  decodePzqAtMonitor,
  decodePzqAtProducer,
  decodePzqAtReceive,
  decodePzqAtSend,
  decodePzqHeaders,
  decodePzqMonitorReply,
  decodePzqMonitorText,
} from './index.js';

describe('decoders', () => {
  test.each([
    decodePzqAtReceive,
    decodePzqAtProducer,
    decodePzqAtSend,
    decodePzqAtConsumer,
    decodePzqAtMonitor,
    decodePzqMonitorReply,
  ])('%o reads no frames as no command', (decode) => {
    expect(decode([])).toStrictEqual({ kind: 'malformed', reason: 'no-frames' });
  });

  test.each([
    ['the id alone', ['id']],
    ['a blank alone', ['id', '']],
    ['a blank for the status', ['', '', 'x']],
  ])('an answer of %s is invalid', (_, parts) => {
    expect(decodePzqAtProducer(framesOf(...parts))).toStrictEqual({
      kind: 'malformed',
      reason: 'producer-ack-malformed',
    });
  });

  test('rule 23: of a long reason the first 1024 characters are kept', () => {
    const ack = decodePzqAtProducer(framesOf('id', '0', '', 'x'.repeat(1_000_000)));
    expect(ack).toMatchObject({ stored: false, reason: 'x'.repeat(1024) });
  });

  test.each(['', '-1', '1.5', '1e3', ' 1', '12345678901234567', '9007199254740992'])(
    'rule 24: a delivery with time %j is invalid',
    (time) => {
      const malformed = { kind: 'malformed', reason: 'delivery-malformed' };
      expect(decodePzqAtConsumer(framesOf('key', time, '1', '', 'x'))).toStrictEqual(malformed);
      expect(decodePzqAtConsumer(framesOf('key', '1', time, '', 'x'))).toStrictEqual(malformed);
    },
  );

  test('rule 24: the largest time is the largest safe integer', () => {
    const delivery = decodePzqAtConsumer(framesOf('key', '9007199254740991', '0', '', 'x'));
    expect(delivery).toMatchObject({ sentMicros: Number.MAX_SAFE_INTEGER, ackTimeoutMicros: 0 });
  });

  test('rule 22: an answer of the monitor without text is invalid', () => {
    const malformed = { kind: 'malformed', reason: 'monitor-reply-malformed' };
    expect(decodePzqMonitorReply(framesOf('', ''))).toStrictEqual(malformed);
  });

  test('rule 22: a REQ application, which gets no blank, can still read the text', () => {
    expect(decodePzqMonitorReply(framesOf('a: 1\n'))).toStrictEqual({ kind: 'monitor-reply', text: 'a: 1\n' });
  });

  test('rule 22: the map leaves out lines without a name and keeps colons in values', () => {
    const text = 'a: 1\nnothing\n: 2\nb:3\nc: x:y\na: 4';
    expect([...decodePzqMonitorText(text)]).toEqual([
      ['a', '4'],
      ['b', '3'],
      ['c', 'x:y'],
    ]);
  });
});

describe('our headers', () => {
  test.each<[parts: string[], read: object]>([
    [[], {}],
    [['PZQ-DELAY-MS:0'], { delayMs: 0 }],
    [['PZQ-TTL-MS:7', 'PZQ-DELAY-MS:8'], { ttlMs: 7, delayMs: 8 }],
    [['PZQ-TTL-MS:7', 'PZQ-TTL-MS:8'], { ttlMs: 8 }],
    [['PZQ-TTL-MS:4000000000000'], { ttlMs: 4_000_000_000_000 }],
    [['pzq-ttl-ms:7', 'PZQ-TTL:7', 'PZQ-TTL-MS', 'X'], {}],
    [['PZQ-TTL-MS:'], { invalid: 'PZQ-TTL-MS' }],
    [['PZQ-TTL-MS: 7'], { invalid: 'PZQ-TTL-MS' }],
    [['PZQ-TTL-MS:4000000000001'], { invalid: 'PZQ-TTL-MS' }],
    [['PZQ-TTL-MS:7', 'PZQ-DELAY-MS:-1'], { invalid: 'PZQ-DELAY-MS' }],
    [['PZQ-DELAY-MS:99999999999999999'], { invalid: 'PZQ-DELAY-MS' }],
  ])('%j mean %j', (parts, read) => {
    expect(decodePzqHeaders(framesOf(...parts))).toStrictEqual(read);
  });
});
