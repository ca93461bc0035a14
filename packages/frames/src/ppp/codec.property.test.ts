/** What must hold for any frames and any command. */
import assert from 'node:assert/strict';
import { arbitraries, framesOf, sameFrames } from '@proj/testkit';
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodePppAtClient, decodePppAtFrontend, decodePppAtQueue, decodePppAtWorker, encodePpp } from './index.js';

const BACKEND = [decodePppAtQueue, decodePppAtWorker] as const;
const FRONTEND = [decodePppAtFrontend, decodePppAtClient] as const;

/** The protocol's own words and some near misses. */
const WORDS = framesOf('', '', 1, 2, 7, 'CLI', 'x', Uint8Array.of(1, 0));

const valid = arbitraries.pppCommand.map(encodePpp);

const ANY_FRAMES: [what: string, frames: Arbitrary<Uint8Array[]>, runs: number][] = [
  ['random frames', arbitraries.message(), 10_000],
  ['random sequences of protocol words', arbitraries.messageOf(WORDS), 15_000],
  ['valid messages with faults', arbitraries.mutated(valid), 10_000],
];

// node:assert, because `expect` costs more than all decoders together.
test.each(ANY_FRAMES)('%s are a value to every decoder, and accepted messages have one spelling', (_, frames, runs) => {
  fc.assert(
    fc.property(frames, (message) => {
      for (const decode of [...BACKEND, ...FRONTEND]) {
        const decoded = decode(message);
        if (decoded.kind !== 'malformed') assert.ok(sameFrames(encodePpp(decoded), message));
      }
      const control = BACKEND.map((decode) => decode(message).kind).some(
        (kind) => kind === 'ready' || kind === 'heartbeat',
      );
      assert.equal(control, message.length === 1 && message[0]!.length === 1 && [1, 2].includes(message[0]![0]!));
    }),
    { numRuns: runs },
  );
});

describe('every command', () => {
  test.each([
    ['queue', arbitraries.pppToQueue, decodePppAtQueue],
    ['worker', arbitraries.pppToWorker, decodePppAtWorker],
    ['frontend', arbitraries.pppClientRequest, decodePppAtFrontend],
    ['client', arbitraries.pppClientReply, decodePppAtClient],
  ] as const)('arrives at the %s as it was sent, its frames the same objects', (_, commands, decode) => {
    fc.assert(
      fc.property(commands, (command) => {
        const decoded = decode(encodePpp(command));
        expect(decoded).toEqual(command);
        if ('content' in command && 'content' in decoded) {
          assert.ok(decoded.content.every((frame, i) => frame === command.content[i]));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('passes a queue and returns by the stack it came with', () => {
    fc.assert(
      fc.property(arbitraries.routingId, arbitraries.pppClientRequest, (client, { hops, content }) => {
        const request = decodePppAtWorker(
          encodePpp({ kind: 'request', addresses: [client, ...(hops ?? [])], content }),
        );
        assert.ok(request.kind === 'request');
        const reply = decodePppAtQueue(encodePpp({ ...request, kind: 'reply' }));
        assert.ok(reply.kind === 'reply');
        assert.equal(reply.addresses[0], client);
        const [, ...back] = reply.addresses;
        const answer = encodePpp({ kind: 'client-reply', hops: hops && back, content: reply.content });
        if (hops === undefined) assert.deepEqual(answer, content);
        else assert.deepEqual(decodePppAtClient(answer), { kind: 'client-reply', hops, content });
      }),
      { numRuns: 1_000 },
    );
  });
});
