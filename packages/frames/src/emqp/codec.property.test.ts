/** What must hold for any frames and any command. */
import assert from 'node:assert/strict';
import { arbitraries, framesOf, sameFrames, toHex } from '@proj/testkit';
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
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
  decodeEmqpHeaders,
  emqpJobText,
  encodeEmqp,
  encodeEmqpHeaders,
} from './index.js';
import type { EmqpCommand, EmqpMalformed } from './index.js';

type Decoder = (frames: readonly Uint8Array[]) => EmqpCommand | EmqpMalformed;

const DECODERS: readonly Decoder[] = [
  decodeEmqpAtBroker,
  decodeEmqpAtAdminPort,
  decodeEmqpAtWorker,
  decodeEmqpAtScheduler,
  decodeEmqpAtClient,
  decodeEmqpAtAdmin,
  decodeEmqpAtPubSub,
  decodeEmqpAtSubscriber,
];

/** The protocol's own words and some near misses. */
const COMMANDS = framesOf(
  ...['INFORM', 'ACK', 'READY', 'HEARTBEAT', 'REQUEST', 'REPLY', 'SCHEDULE', 'UNSCHEDULE', 'PUBLISH', 'DISCONNECT'],
  ...['KBYE', 'KBAI', 'STATUS', 'HELLO', 'request', 'inform', 'Request', ''],
);
const FIELDS = framesOf(
  ...['', 'm', 'default', 'guarantee,timeout:9', 'interval:3', '{"interval": 3}', '-1', 'worker', 'scheduler'],
  ...['[[10, "a"]]', "[40, 'email']", '[[10,', '["run", {"callable": "f", "path": "m"}]', '* * * * *', 'é', '\0'],
  Uint8Array.of(0xff),
);
const VERSIONS = framesOf('eMQP/1.0', 'eMQP/1.0', 'eMQP/1.0', 'eMQP/1.7', 'eMQP/2.0');

/** A message with a likely opening and any of the fields anywhere. */
const likely = fc
  .tuple(fc.constantFrom(...VERSIONS), fc.constantFrom(...COMMANDS), arbitraries.messageOf(FIELDS, 7))
  .map(([version, command, fields]) => [new Uint8Array(0), version, command, ...fields]);

const valid = arbitraries.emqpCommand.map(encodeEmqp);

const ANY_FRAMES: [what: string, frames: Arbitrary<Uint8Array[]>, runs: number][] = [
  ['random frames', arbitraries.message(10), 20_000],
  ['likely sequences of protocol words', likely, 40_000],
  ['valid messages with faults', arbitraries.mutated(valid), 30_000],
];

// node:assert, because `expect` costs more than all decoders together.
test.each(ANY_FRAMES)('%s are a value to every decoder', (_, frames, runs) => {
  fc.assert(
    fc.property(frames, (message) => {
      for (const decode of DECODERS) {
        const decoded = decode(message);
        if (decoded.kind === 'malformed') continue;
        // Each accepted message has one canonical spelling, which means the same.
        assert.deepEqual(decode(encodeEmqp(decoded)), decoded);
      }
    }),
    { numRuns: runs },
  );
});

describe('every command', () => {
  test.each([
    ['broker', arbitraries.emqpToBroker, decodeEmqpAtBroker],
    ['admin port', arbitraries.emqpToAdminPort, decodeEmqpAtAdminPort],
    ['worker', arbitraries.emqpToWorker, decodeEmqpAtWorker],
    ['scheduler', arbitraries.emqpToScheduler, decodeEmqpAtScheduler],
    ['client', arbitraries.emqpToClient, decodeEmqpAtClient],
    ['admin', arbitraries.emqpToAdmin, decodeEmqpAtAdmin],
    ['pub-sub device', arbitraries.emqpPublish, decodeEmqpAtPubSub],
    ['subscriber', arbitraries.emqpPublished, decodeEmqpAtSubscriber],
  ] as [string, Arbitrary<EmqpCommand>, Decoder][])('arrives at the %s as it was sent', (_, commands, decode) => {
    fc.assert(
      fc.property(commands, (command) => {
        expect(decode(encodeEmqp(command))).toEqual(command);
      }),
      { numRuns: 1_500 },
    );
  });

  test('is forwarded byte for byte, and its frames are neither copied nor changed', () => {
    const forwarded = fc.oneof(arbitraries.emqpRequest, arbitraries.emqpScheduling, arbitraries.emqpResult);
    fc.assert(
      fc.property(forwarded, (command) => {
        const frames = encodeEmqp(command);
        const before = toHex(frames);
        const decoded = decodeEmqpAtBroker(frames);
        assert.ok(decoded.kind !== 'malformed');
        const again = encodeEmqp(decoded);
        assert.ok(sameFrames(again, frames));
        if ('body' in command) assert.ok(again.includes(command.body));
        if ('headers' in command) assert.ok(again.includes(command.headers));
        if ('result' in command) assert.ok(again.includes(command.result));
        assert.deepEqual(toHex(frames), before);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('headers', () => {
  test('of any bytes are a value', () => {
    const items = framesOf('guarantee', ',', ':', '9', ' ', 'timeout', '{', '}', '"', 'run_count', '\\u20ac');
    const joined = arbitraries.messageOf(items, 12).map((parts) => Uint8Array.from(parts.flatMap((part) => [...part])));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), joined), (frame) => {
        const { invalid, ...headers } = decodeEmqpHeaders(frame);
        assert.ok(invalid >= 0);
        assert.deepEqual(decodeEmqpHeaders(encodeEmqpHeaders(headers)), { ...headers, invalid: 0 });
      }),
      { numRuns: 10_000 },
    );
  });

  test('arrive as they were meant', () => {
    fc.assert(
      fc.property(arbitraries.emqpHeaders, (headers) => {
        expect(decodeEmqpHeaders(encodeEmqpHeaders(headers))).toEqual({ ...headers, invalid: 0 });
      }),
      { numRuns: 2_000 },
    );
  });
});

test('the text of a job is JSON of the same job, and its own canonical text', () => {
  const job = fc.record({
    callable: fc.constant('f'),
    path: fc.constant('m'),
    args: fc.jsonValue(),
    kwargs: fc.jsonValue(),
  });
  fc.assert(
    fc.property(job, (parts) => {
      const text = emqpJobText(framesOf(JSON.stringify(['run', parts]))[0]!);
      expect(JSON.parse(text!)).toMatchObject(JSON.parse(JSON.stringify(parts)) as object);
      expect(emqpJobText(framesOf(`["run", ${text!}]`)[0]!)).toBe(text);
    }),
    { numRuns: 3_000 },
  );
});
