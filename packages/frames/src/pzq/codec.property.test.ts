/** What must hold for any frames and any command. */
import assert from 'node:assert/strict';
import { arbitraries, framesOf, sameFrames } from '@proj/testkit';
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
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
  encodePzqHeaders,
  encodePzqMonitorText,
} from './index.js';
import type { PzqBody } from './index.js';

const DECODERS = [
  decodePzqAtReceive,
  decodePzqAtProducer,
  decodePzqAtSend,
  decodePzqAtConsumer,
  decodePzqAtMonitor,
  decodePzqMonitorReply,
] as const;

/** The protocol's own words and some near misses. */
const WORDS = framesOf('', '', '', '0', '1', '01', 'OK', 'MONITOR', 'id', '1795199729632593', '9'.repeat(17), 1);

const valid = arbitraries.pzqCommand.map(encodePzq);

const ANY_FRAMES: [what: string, frames: Arbitrary<Uint8Array[]>, runs: number][] = [
  ['random frames', arbitraries.message(), 10_000],
  ['random sequences of protocol words', arbitraries.messageOf(WORDS), 15_000],
  ['valid messages with faults', arbitraries.mutated(valid), 10_000],
];

// node:assert, because `expect` costs more than all decoders together.
test.each(ANY_FRAMES)(
  '%s are a value to every decoder, and accepted messages mean the same when we send them',
  (_, frames, runs) => {
    fc.assert(
      fc.property(frames, (message) => {
        for (const decode of DECODERS) {
          const decoded = decode(message);
          if (decoded.kind === 'malformed' || decoded.kind === 'unusable') continue;
          if (decoded.kind === 'producer-ack' && decoded.stored) continue;
          if ('key' in decoded && decoded.key.length === 0) continue;
          assert.deepEqual(decode(encodePzq(decoded)), decoded);
        }
        for (const frame of message) decodePzqKey(frame);
        decodePzqHeaders(message);
      }),
      { numRuns: runs },
    );
  },
);

test('a message of any body is produced, stored and delivered frame by frame: the same objects', () => {
  const same = (a: PzqBody, b: PzqBody) => a.length === b.length && a.every((frame, i) => frame === b[i]);
  fc.assert(
    fc.property(arbitraries.pzqProduce, arbitraries.pzqDelivery, (produce, delivery) => {
      const stored = decodePzqAtReceive(encodePzq(produce));
      assert.ok(stored.kind === 'produce' && same(stored.body, produce.body));
      const delivered = decodePzqAtConsumer(encodePzq({ ...delivery, body: stored.body }));
      assert.ok(delivered.kind === 'delivery' && same(delivered.body, produce.body) && delivered.key === delivery.key);
    }),
    { numRuns: 2_000 },
  );
});

describe('every command', () => {
  test.each([
    ['receive socket', arbitraries.pzqProduce, decodePzqAtReceive],
    ['producer', arbitraries.pzqProducerAck, decodePzqAtProducer],
    ['send socket', arbitraries.pzqFromConsumer, decodePzqAtSend],
    ['consumer', arbitraries.pzqDelivery, decodePzqAtConsumer],
    ['monitor socket', arbitraries.pzqMonitorRequest, decodePzqAtMonitor],
    ['monitoring program', arbitraries.pzqMonitorReply, decodePzqMonitorReply],
  ] as const)('arrives at the %s as it was sent', (_, commands, decode) => {
    fc.assert(
      fc.property(commands, (command) => {
        const frames = encodePzq(command);
        expect(decode(frames)).toEqual(command);
        assert.ok(sameFrames(encodePzq(command), frames));
      }),
      { numRuns: 1_000 },
    );
  });
});

test('delay and time to live travel as headers', () => {
  const time = fc.integer({ min: 0, max: 4_000_000_000_000 });
  fc.assert(
    fc.property(fc.record({ delayMs: time, ttlMs: time }, { requiredKeys: [] }), (wishes) => {
      expect(decodePzqHeaders(encodePzqHeaders(wishes))).toEqual(wishes);
    }),
  );
});

test('rule 22: any text is a map, and reads back as written', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(decodePzqMonitorText(text)).toBeInstanceOf(Map);
    }),
  );
  const name = fc.stringMatching(/^[a-z_]{1,20}$/);
  fc.assert(
    fc.property(fc.dictionary(name, fc.oneof(fc.nat(), fc.stringMatching(/^[a-z0-9.:-]{1,20}$/))), (values) => {
      const read = decodePzqMonitorText(encodePzqMonitorText(Object.entries(values)));
      expect([...read]).toEqual(Object.entries(values).map(([key, value]) => [key, String(value)]));
    }),
  );
});
