/** Bad input row by row, and the form of every accepted message. */
import { framesOf } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { decodePppAtClient, decodePppAtFrontend, decodePppAtQueue, decodePppAtWorker } from './index.js';
import type { PppMalformedReason } from './index.js';

type Parts = (string | number | Uint8Array)[];
type Row = [what: string, parts: Parts, reason: PppMalformedReason];

const CONTROL: Row[] = [
  ['no frame', [], 'no-frames'],
  ['one empty frame', [''], 'control-empty'],
  ['byte 0', [0], 'control-unknown'],
  ['byte 7', [7], 'control-unknown'],
  ['byte 255', [255], 'control-unknown'],
  ['01 00, which the Guide takes for READY', [Uint8Array.of(1, 0)], 'control-length'],
  ['one frame of content', ['hello'], 'control-length'],
];

/** What is not an envelope for any reader. */
const NO_ENVELOPE: [what: string, parts: Parts][] = [
  ['two frames, none empty', ['CLI', 'x']],
  ['no address', ['', 'x']],
  ['no address, empty content', ['', '']],
  ['nothing behind the empty frame', ['CLI', '']],
  ['nothing behind two hops', ['CLI', 'hop', '']],
];

describe('decodePppAtQueue', () => {
  test.each(CONTROL)('refuses %s', (_, parts, reason) => {
    expect(decodePppAtQueue(framesOf(...parts))).toStrictEqual({ kind: 'malformed', reason });
  });

  test.each(NO_ENVELOPE)('refuses a reply with %s', (_, parts) => {
    expect(decodePppAtQueue(framesOf(...parts))).toStrictEqual({ kind: 'malformed', reason: 'reply-malformed' });
  });

  test('accepts READY and HEARTBEAT only as one frame', () => {
    expect(decodePppAtQueue(framesOf(1))).toStrictEqual({ kind: 'ready' });
    expect(decodePppAtQueue(framesOf(2))).toStrictEqual({ kind: 'heartbeat' });
    expect(decodePppAtQueue(framesOf(1, ''))).toStrictEqual({ kind: 'malformed', reason: 'reply-malformed' });
  });

  test('accepts a reply under a stack of any depth; the first empty frame ends it', () => {
    expect(decodePppAtQueue(framesOf('CLI', '', 'x'))).toStrictEqual({
      kind: 'reply',
      addresses: framesOf('CLI'),
      content: framesOf('x'),
    });
    expect(decodePppAtQueue(framesOf('a', 'b', 'c', '', '', 'x', ''))).toStrictEqual({
      kind: 'reply',
      addresses: framesOf('a', 'b', 'c'),
      content: framesOf('', 'x', ''),
    });
  });

  test('reads a control byte after an address as an address', () => {
    expect(decodePppAtQueue(framesOf(1, '', 2))).toStrictEqual({
      kind: 'reply',
      addresses: framesOf(1),
      content: framesOf(2),
    });
  });

  test('passes on frames unchanged', () => {
    const frames = framesOf('CLI', 'hop', '', 'x');
    const reply = decodePppAtQueue(frames);
    expect(reply.kind).toBe('reply');
    if (reply.kind !== 'reply') return;
    expect(reply.addresses[1]).toBe(frames[1]);
    expect(reply.content[0]).toBe(frames[3]);
  });
});

describe('decodePppAtWorker', () => {
  test.each<Row>([
    ['no frame', [], 'no-frames'],
    ['one empty frame', [''], 'control-empty'],
    ['READY', [1], 'control-unexpected'],
    ['an address with nothing behind the empty frame', ['CLI', ''], 'request-malformed'],
    ['two hops with nothing behind the empty frame', ['CLI', 'hop', ''], 'request-malformed'],
  ])('refuses %s', (_, parts, reason) => {
    expect(decodePppAtWorker(framesOf(...parts))).toStrictEqual({ kind: 'malformed', reason });
  });

  test.each<[what: string, parts: Parts, addresses: Parts | undefined, content: Parts]>([
    ['no stack, one frame', ['hello'], undefined, ['hello']],
    ['no stack, one byte that means nothing', [7], undefined, [7]],
    ['no stack, what begins like READY', [Uint8Array.of(1, 0)], undefined, [Uint8Array.of(1, 0)]],
    ['no stack, several frames', ['a', 1, 'c'], undefined, ['a', 1, 'c']],
    ['an empty stack', ['', 'x'], [], ['x']],
    ['an empty stack, content that is control elsewhere', ['', 2], [], [2]],
    ['an empty stack, empty content', ['', ''], [], ['']],
  ])('accepts a request of %s', (_, parts, addresses, content) => {
    expect(decodePppAtWorker(framesOf(...parts))).toStrictEqual({
      kind: 'request',
      addresses: addresses && framesOf(...addresses),
      content: framesOf(...content),
    });
  });

  test('accepts HEARTBEAT, and requests of any depth and any number of content frames', () => {
    expect(decodePppAtWorker(framesOf(2))).toStrictEqual({ kind: 'heartbeat' });
    expect(decodePppAtWorker(framesOf('CLI', 'hop', '', 'a', 'b'))).toStrictEqual({
      kind: 'request',
      addresses: framesOf('CLI', 'hop'),
      content: framesOf('a', 'b'),
    });
  });
});

describe('decodePppAtFrontend', () => {
  test.each<Row>([
    ['no frame', [], 'no-frames'],
    ['READY', [1], 'control-unexpected'],
    ['HEARTBEAT', [2], 'control-unexpected'],
    ['the empty frame alone', [''], 'request-no-content'],
    ['the empty frame last', ['hop', ''], 'request-no-content'],
  ])('refuses %s', (_, parts, reason) => {
    expect(decodePppAtFrontend(framesOf(...parts))).toStrictEqual({ kind: 'malformed', reason });
  });

  test.each<[what: string, parts: Parts, hops: Parts | undefined, content: Parts]>([
    ['a DEALER that sends content alone', ['42'], undefined, ['42']],
    ['the same, several parts', ['a', 1, 'c'], undefined, ['a', 1, 'c']],
    ['a REQ socket', ['', '42'], [], ['42']],
    ['a DEALER, several parts', ['', 'multi', 'part'], [], ['multi', 'part']],
    ['a DEALER, empty content', ['', ''], [], ['']],
    ['a DEALER behind two hops', ['hop1', 'hop2', '', 'x'], ['hop1', 'hop2'], ['x']],
  ])('accepts a request of %s', (_, parts, hops, content) => {
    expect(decodePppAtFrontend(framesOf(...parts))).toStrictEqual({
      kind: 'client-request',
      hops: hops && framesOf(...hops),
      content: framesOf(...content),
    });
  });
});

describe('decodePppAtClient', () => {
  test.each<[what: string, parts: Parts]>([
    ['no frame', []],
    ['content without empty frame', ['42']],
    ['the empty frame alone', ['']],
    ['hops and nothing behind them', ['hop', '']],
  ])('refuses %s', (_, parts) => {
    expect(decodePppAtClient(framesOf(...parts))).toStrictEqual({ kind: 'malformed', reason: 'reply-malformed' });
  });

  test('accepts a reply and keeps the hops it came by', () => {
    expect(decodePppAtClient(framesOf('', '42', ''))).toStrictEqual({
      kind: 'client-reply',
      hops: [],
      content: framesOf('42', ''),
    });
    expect(decodePppAtClient(framesOf('hop', '', '42'))).toMatchObject({ hops: framesOf('hop') });
  });
});
