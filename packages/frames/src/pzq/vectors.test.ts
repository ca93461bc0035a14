/**
 * Bytes of the original and of the rulings' tables: what each message means, and that we write the same bytes for the same
 * meaning.
 */
import { fromLatin1 } from '../bytes.js';
import { framesOf, loadVectors, toHex } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import {
  decodePzqAtConsumer,
  decodePzqAtMonitor,
  decodePzqAtProducer,
  decodePzqAtReceive,
  decodePzqAtSend,
  decodePzqHeaders,
  decodePzqKey,
  decodePzqMonitorReply,
  decodePzqMonitorText,
  encodePzq,
  PZQ_UNUSABLE,
} from './index.js';
import type { PzqCommand, PzqMalformed, PzqMonitorReply, PzqProduce, PzqUnusable } from './index.js';

type Decoded = PzqCommand | PzqMalformed | PzqUnusable;
type Parts = (string | number | Uint8Array)[];

const BODY_BYTES = Uint8Array.of(0, 0xff, 1, 0xfe);

const produce = (id: string, body: Parts, headers: Parts = []): Decoded => ({
  kind: 'produce',
  id: fromLatin1(id),
  headers: framesOf(...headers),
  body: framesOf(...body),
});
const unusable = (id: string, reason: PzqUnusable['reason']): Decoded => ({
  kind: 'unusable',
  id: fromLatin1(id),
  reason,
});
const acked = (id: string, stored = true, reason = ''): Decoded => ({
  kind: 'producer-ack',
  id: fromLatin1(id),
  stored,
  reason,
});
const delivery = (key: string, sentMicros: number, body: Parts, ackTimeoutMicros = 1_500_000): Decoded => ({
  kind: 'delivery',
  key: fromLatin1(key),
  sentMicros,
  ackTimeoutMicros,
  body: framesOf(...body),
});
const consumed = (key: string, positive: boolean): Decoded => ({
  kind: 'consumer-ack',
  key: fromLatin1(key),
  positive,
});
const status = (messages: number, inflight: number, db: number, inflightDb: number, expired: number): Decoded => ({
  kind: 'monitor-reply',
  text:
    `messages: ${messages}\nmessages_inflight: ${inflight}\ndb_size: ${db}\n` +
    `inflight_db_size: ${inflightDb}\nsyncs: 0\nexpired_messages: ${expired}\n`,
});
const malformed = (reason: PzqMalformed['reason']): Decoded => ({ kind: 'malformed', reason });

const HELLO = '1795199729632593|28cbd893-e992-4872-ad21-d846881a2241';
const PARTS = '1795199729633447|69469787-620e-4657-91d9-2643ead6ba22';
const BLANKS = '1795199729633666|a174969d-326f-4455-8967-acc22daacb77';
const BYTES = '1795199729634110|0665feb6-a22c-414c-b4d7-0bc31f112039';
const HEADERS = '1795199729633233|6c188bdf-f4d4-4476-a343-e189a0f70e1a';
const LATE = '1795199839767814|023613ee-df1d-4cca-8021-bf452abc302a';

/** A vector that is not listed fails. */
const EXPECTED: Record<string, Decoded> = {
  'produce.minimal': produce('id-1', ['hello']),
  'produce.minimal/reply': acked('id-1'),
  'produce.extra_headers': produce('id-2', ['with headers'], ['H1:a', 'H2:b']),
  'produce.extra_headers/reply': acked('id-2'),
  'produce.multipart_body': produce('id-3', ['part1', 'part2', 'part3']),
  'produce.multipart_body/reply': acked('id-3'),
  'produce.empty_parts_in_body': produce('id-4', ['', 'x', '', 'y', '']),
  'produce.empty_parts_in_body/reply': acked('id-4'),
  'produce.only_empty_body_part': produce('id-5', ['']),
  'produce.only_empty_body_part/reply': acked('id-5'),
  'produce.binary_id_and_body': produce('\0\x01\x02\x03\x04\x05', [BODY_BYTES]),
  'produce.empty_id': produce('', ['empty id']),
  'produce.from_req': produce('', ['body']),
  'produce.duplicate_id.first': produce('dup', ['A']),
  'produce.duplicate_id.first/reply': acked('dup'),
  'produce.duplicate_id.second': produce('dup', ['B']),
  'produce.duplicate_id.second/reply': acked('dup'),
  'produce.our_headers': produce('id', ['body'], ['PZQ-DELAY-MS:1500', 'PZQ-TTL-MS:60000']),
  'malformed.no_delimiter': unusable('id-m1', 'no-delimiter'),
  'malformed.no_delimiter/reply': acked('id-m1', false, PZQ_UNUSABLE['no-delimiter']),
  'malformed.no_delimiter_three': unusable('id-m2', 'no-delimiter'),
  'malformed.no_delimiter_three/reply': acked('id-m2', false, PZQ_UNUSABLE['no-delimiter']),
  'malformed.no_body_after_delimiter': unusable('id-m3', 'no-body'),
  'malformed.headers_delimiter_no_body': unusable('id-m4', 'no-body'),
  'malformed.headers_delimiter_no_body/reply': acked('id-m4', false, PZQ_UNUSABLE['no-body']),
  'malformed.single_empty_frame': malformed('produce-one-frame'),
  'malformed.single_frame': malformed('produce-one-frame'),
  'malformed.empty_message': unusable('', 'no-body'),
  'ack.extra_parts_before_blank': acked('id-1', true, 'text'),
  'ack.ok_text': acked('id-1', false),
  'ack.no_text': acked('id-1', false, 'try later'),
  'ack.binary_one': acked('id-1', false),
  'ack.without_blank': malformed('producer-ack-malformed'),
  'monitor.request': { kind: 'monitor-request' },
  'monitor.dealer': { kind: 'monitor-request' },
  'monitor.last_frame_counts': { kind: 'monitor-request' },
  'malformed.monitor_lower_case': malformed('monitor-unknown'),
  'malformed.monitor_empty': malformed('monitor-unknown'),
  'monitor.reply': status(9, 0, 401_408, 8_390_592, 0),
  'monitor.after_short_ack': status(7, 7, 401_408, 8_391_299, 0),
  'monitor.after_timeouts': status(7, 7, 401_408, 8_391_299, 14),
  'deliver.0': delivery(HELLO, 1_795_199_732_039_465, ['hello']),
  'deliver.1': delivery(PARTS, 1_795_199_732_039_558, ['part1', 'part2', 'part3']),
  'deliver.2': delivery(BLANKS, 1_795_199_732_039_601, ['', 'x', '', 'y', '']),
  'deliver.3': delivery(BYTES, 1_795_199_732_039_652, [BODY_BYTES]),
  'deliver.5': delivery('1795199729634384|eda173b3-3b69-4f94-bbe1-77d335719c44', 1_795_199_732_039_748, ['A']),
  'deliver.6': delivery('1795199729634506|d1e93feb-f393-488e-952e-4a6244b3c713', 1_795_199_732_039_803, ['B']),
  'deliver.7': delivery(HEADERS, 1_795_199_732_039_855, ['with headers']),
  'deliver.after_nack': delivery(PARTS, 1_795_199_732_041_241, ['part1', 'part2', 'part3']),
  'deliver.after_binary_ack': delivery(BLANKS, 1_795_199_732_092_055, ['', 'x', '', 'y', '']),
  'deliver.after_OK_ack': delivery(BYTES, 1_795_199_732_092_382, [BODY_BYTES]),
  'deliver.after_timeout': delivery(HEADERS, 1_795_199_733_642_702, ['with headers']),
  'deliver.after_timeout#3': delivery(PARTS, 1_795_199_733_642_833, ['part1', 'part2', 'part3']),
  'deliver.after_timeout#4': delivery(PARTS, 1_795_199_735_444_485, ['part1', 'part2', 'part3']),
  'deliver.more_headers': delivery(HELLO, 1_795_199_732_039_465, ['hello']),
  'deliver.foreign_key': delivery('any name', 1, ['hello'], 2),
  'malformed.delivery_no_body': malformed('delivery-malformed'),
  'malformed.delivery_no_blank': malformed('delivery-malformed'),
  'malformed.delivery_time': malformed('delivery-malformed'),
  'malformed.delivery_no_key': malformed('delivery-malformed'),
  'consumer.ack.positive': consumed(HELLO, true),
  'consumer.ack.negative': consumed(HELLO, false),
  'consumer.ack.OK': consumed(BYTES, false),
  'consumer.ack.trailing_part': consumed('1795199729634252|3396ee53-f98a-4395-a825-07c9a443c099', true),
  'consumer.ack.single': {
    kind: 'lease-extension',
    key: fromLatin1('1795199729634384|eda173b3-3b69-4f94-bbe1-77d335719c44'),
  },
  'consumer.ack.01': consumed(HELLO, false),
  'consumer.ack.blank': consumed(HELLO, false),
  'consumer.ack.00': consumed(HELLO, false),
  'consumer.ack.1_and_more': consumed(HELLO, false),
  'late.ack': consumed(LATE, true),
  'unknown.ack': consumed('nonexistent-key', true),
  'malformed.key': consumed('1795199729632593|28CBD893-E992-8872-8D21-D846881A2241', true),
  'replica.header': produce('MYKEY', ['body'], ['REPLICA:tcp://x:1']),
  'replica.header/reply': acked('MYKEY'),
};

/** Accepted, but we would write it differently. */
const LIBERAL = new Set([
  'ack.extra_parts_before_blank',
  'ack.ok_text',
  'ack.no_text',
  'ack.binary_one',
  'deliver.more_headers',
  'consumer.ack.OK',
  'consumer.ack.trailing_part',
  'consumer.ack.01',
  'consumer.ack.blank',
  'consumer.ack.00',
  'consumer.ack.1_and_more',
  'monitor.dealer',
  'monitor.last_frame_counts',
]);

const DECODERS: Record<string, (frames: readonly Uint8Array[]) => Decoded> = {
  'producer->queue': decodePzqAtReceive,
  'queue->producer': decodePzqAtProducer,
  'queue->consumer': decodePzqAtConsumer,
  'consumer->queue': decodePzqAtSend,
  'monitor->queue': decodePzqAtMonitor,
  'queue->monitor': decodePzqMonitorReply,
};

const vectors = loadVectors('pzq');

describe('golden vectors', () => {
  test('every vector has an expectation and every expectation a vector', () => {
    expect(Object.keys(EXPECTED).sort()).toEqual(vectors.map((vector) => vector.name).sort());
  });

  test.each(vectors)('$name at $direction', ({ name, direction, frames }) => {
    const decoded = DECODERS[direction]!(frames);
    expect(decoded).toEqual(EXPECTED[name]);
    if (decoded.kind === 'malformed' || decoded.kind === 'unusable' || LIBERAL.has(name)) return;
    expect(toHex(encodePzq(decoded))).toEqual(toHex(frames));
  });

  test('rule 22: the monitor’s text splits into a map', () => {
    const reply = EXPECTED['monitor.after_timeouts'] as PzqMonitorReply;
    expect([...decodePzqMonitorText(reply.text)]).toEqual([
      ['messages', '7'],
      ['messages_inflight', '7'],
      ['db_size', '401408'],
      ['inflight_db_size', '8391299'],
      ['syncs', '0'],
      ['expired_messages', '14'],
    ]);
  });

  test('our headers are read, others are skipped', () => {
    const wishesOf = (name: string) => decodePzqHeaders((EXPECTED[name] as PzqProduce).headers);
    expect(wishesOf('produce.our_headers')).toEqual({ delayMs: 1500, ttlMs: 60_000 });
    expect(wishesOf('produce.extra_headers')).toEqual({});
    expect(wishesOf('replica.header')).toEqual({});
  });

  test('rule 15: no key of the original is mistaken for one of ours', () => {
    for (const { frames } of vectors) for (const frame of frames) expect(decodePzqKey(frame)).toBeUndefined();
  });
});
