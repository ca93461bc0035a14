/** What must hold for any frames and any command. */
import assert from 'node:assert/strict';
import { arbitraries, framesOf, sameFrames, toHex } from '@proj/testkit';
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeMdpAtBroker, decodeMdpAtClient, decodeMdpAtWorker, decodeMmiReply, encodeMdp, MMI } from './index.js';
import type { MdpMalformed } from './index.js';

type Frames = readonly Uint8Array[];
type Decoded = Exclude<ReturnType<(typeof DECODERS)[number]>, MdpMalformed>;

const tolerant = (frames: Frames) => decodeMdpAtBroker(frames, { acceptLeadingEmpty: true });
const DECODERS = [decodeMdpAtBroker, tolerant, decodeMdpAtWorker, decodeMdpAtClient] as const;

const SIDES = ['client', 'worker', 'unknown'];

/** The protocol's own words and some near misses. */
const WORDS = framesOf('', 'MDPC02', 'MDPW02', 'MDPC01', 'MDPW01', 1, 2, 3, 4, 5, 6, 7, 'echo', 'MDPC03', '\0CLI');

const valid = arbitraries.mdpCommand.map(encodeMdp);

const ANY_FRAMES: [what: string, frames: Arbitrary<Uint8Array[]>, runs: number][] = [
  ['random frames', arbitraries.message(), 20_000],
  ['random sequences of protocol words', arbitraries.messageOf(WORDS), 40_000],
  ['valid messages with faults', arbitraries.mutated(valid), 20_000],
];

// node:assert, because `expect` costs more than all decoders together.
test.each(ANY_FRAMES)('%s are a value to every decoder', (_, frames, runs) => {
  fc.assert(
    fc.property(frames, (message) => {
      const accepted: Decoded[] = [];
      for (const decode of DECODERS) {
        const decoded = decode(message);
        if (decoded.kind === 'malformed') assert.ok(SIDES.includes(decoded.side));
        else accepted.push(decoded);
      }
      // Each accepted message has one spelling and one reading.
      for (const decoded of accepted) assert.ok(sameFrames(encodeMdp(decoded), message));
      assert.ok(new Set(accepted.map(meaning)).size <= 1);
    }),
    { numRuns: runs },
  );
});

describe('every command', () => {
  test.each([
    ['broker', arbitraries.mdpToBroker, decodeMdpAtBroker],
    ['worker', arbitraries.mdpToWorker, decodeMdpAtWorker],
    ['client', arbitraries.mdpToClient, decodeMdpAtClient],
  ] as const)('arrives at the %s as it was sent', (_, commands, decode) => {
    fc.assert(
      fc.property(commands, (command) => {
        expect(decode(encodeMdp(command))).toEqual(command);
      }),
      { numRuns: 2_000 },
    );
  });

  test('of 0.2 also arrives behind an empty frame, if that is accepted', () => {
    const of02 = arbitraries.mdpToBroker.filter((command) => command.version === '0.2');
    fc.assert(
      fc.property(of02, (command) => {
        const marked = { ...command, leadingEmpty: true };
        expect(tolerant(encodeMdp(marked))).toEqual(marked);
        expect(decodeMdpAtBroker(encodeMdp(marked))).toMatchObject({ kind: 'malformed', reason: 'leading-empty' });
      }),
      { numRuns: 1_000 },
    );
  });

  test('keeps its body frames: the same objects in the same order, and unchanged', () => {
    fc.assert(
      fc.property(arbitraries.mdpCommand, (command) => {
        if (!('body' in command)) return;
        const before = toHex(command.body);
        const frames = encodeMdp(command);
        const sent = frames.slice(-command.body.length);
        expect(sent.every((frame, i) => frame === command.body[i])).toBe(true);
        for (const decode of DECODERS) {
          const decoded = decode(frames);
          if ('body' in decoded) expect(decoded.body.every((frame, i) => frame === command.body[i])).toBe(true);
        }
        expect(toHex(command.body)).toEqual(before);
      }),
      { numRuns: 2_000 },
    );
  });
});

test('an answer of MMI is a value whatever the body', () => {
  const words = framesOf('200', '404', '501', '', '[]', '[{}]', '{}', '[[', 'null', '[{"name":"a"}]');
  fc.assert(
    fc.property(fc.oneof(arbitraries.body(), arbitraries.messageOf(words, 3)), (body) => {
      for (const name of [MMI.service, MMI.services, MMI.workers] as const) {
        const reply = decodeMmiReply(name, body);
        expect(reply === undefined || Array.isArray(reply.entries)).toBe(true);
      }
    }),
    { numRuns: 2_000 },
  );
});

/** 0.1 spells the client's REQUEST and the broker's REPLY alike: only the receiver's role distinguishes them. */
function meaning({ kind, version }: Decoded): string {
  return version === '0.1' && kind.startsWith('client-') ? 'client 0.1' : `${kind} ${version}`;
}
