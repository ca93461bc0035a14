/** What must hold for any frames and any command. */
import assert from 'node:assert/strict';
import { arbitraries, framesOf, sameFrames, toHex } from '@proj/testkit';
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodeNfpAtBroker,
  decodeNfpAtClient,
  decodeNfpAtWorker,
  decodeNfpDispatch,
  decodeNfpOpenInfo,
  decodeNfpTask,
  encodeNfp,
  parseNfpTarget,
} from './index.js';
import type { NfpCommand, NfpMalformed } from './index.js';

const DECODERS = [decodeNfpAtBroker, decodeNfpAtWorker, decodeNfpAtClient] as const;

/** The protocol's own words and some near misses. */
const WORDS = framesOf(
  ...['', '', 'NFPB01', 'NFPC01', 'NFPW01', 'NFPB02', 'sample', 'all', '\0CLI', '200', '20', '200 OK'],
  ...['0x00', '0x01', '0x02', '0x03', '0x04', '0x05', '0x08', '0x11', '0X04', '0x0a', '0x12', 0, 3, 4, 5, 0x10, 0x12],
);

/** Two openings to begin with; otherwise hardly any sequence of words would get past the header. */
const openings = fc.constantFrom(framesOf('', 'NFPC01'), framesOf('', 'NFPW01'), framesOf('', 'NFPB01'), []);
const words = fc.tuple(openings, arbitraries.messageOf(WORDS)).map(([opening, rest]) => [...opening, ...rest]);
const valid = arbitraries.nfpCommand.map((command) => encodeNfp(command as NfpCommand));

const ANY_FRAMES: [what: string, frames: Arbitrary<Uint8Array[]>, runs: number][] = [
  ['random frames', arbitraries.message(), 20_000],
  ['random sequences of protocol words', words, 50_000],
  ['valid messages with faults', arbitraries.mutated(valid), 30_000],
];

// node:assert, because `expect` costs more than all decoders together.
test.each(ANY_FRAMES)('%s are a value to every decoder', (_, frames, runs) => {
  fc.assert(
    fc.property(frames, (message) => {
      for (const decode of DECODERS) {
        const decoded = decode(message);
        if (decoded.kind === 'malformed') assert.ok(isTold(decoded));
        // Each accepted message has one spelling, except the DISCONNECT that releases write the wrong way round.
        else if (decoded.kind !== 'broker-disconnect') assert.ok(sameFrames(encodeNfp(decoded), message));
      }
    }),
    { numRuns: runs },
  );
});

describe('every command', () => {
  test.each([
    ['broker', arbitraries.nfpToBroker, decodeNfpAtBroker],
    ['worker', arbitraries.nfpToWorker, decodeNfpAtWorker],
    ['client', arbitraries.nfpToClient, decodeNfpAtClient],
  ] as const)('arrives at the %s as it was sent', (_, commands, decode) => {
    fc.assert(
      fc.property(commands, (command) => {
        expect(decode(encodeNfp(command as NfpCommand))).toEqual(command);
      }),
      { numRuns: 3_000 },
    );
  });

  test('keeps its body frames: the same objects in the same order, and unchanged', () => {
    fc.assert(
      fc.property(arbitraries.nfpCommand, (command) => {
        if (!('body' in command) || command.body.length === 0) return;
        const { body } = command;
        const before = toHex(body);
        const frames = encodeNfp(command);
        assert.ok(frames.slice(-body.length).every((frame, i) => frame === body[i]));
        for (const decode of DECODERS) {
          const decoded = decode(frames);
          // A role may read what was meant for another, and then its body begins elsewhere; the frames are still the same.
          if ('body' in decoded)
            assert.ok(decoded.body.every((frame, i) => frame === frames.at(i - decoded.body.length)));
        }
        assert.deepEqual(toHex(body), before);
      }),
      { numRuns: 5_000 },
    );
  });
});

test('a body and a target are a value whatever they hold', () => {
  const texts = fc.oneof(
    fc.json(),
    fc.string(),
    fc.constantFrom('[', '['.repeat(30_000), '{"task":1}', '{"task":"x","kwargs":[]}', '{"keepalive":null}', '["a",1]'),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        texts.map((text) => framesOf(text)),
        arbitraries.body(),
      ),
      texts,
      (body, text) => {
        const task = decodeNfpTask(body);
        if (task !== undefined) assert.ok(typeof task.task === 'string' && Array.isArray(task.args));
        const info = decodeNfpOpenInfo(body);
        if (info !== undefined) assert.equal(typeof info.keepalive.interval, 'number');
        assert.equal(decodeNfpDispatch(body), undefined);
        const target = parseNfpTarget(text);
        if (target?.kind === 'names') expect(new Set(target.names).size).toBe(target.names.length);
      },
    ),
    { numRuns: 3_000 },
  );
});

test('a list of names is what JSON says, however it is written', () => {
  const text = fc.oneof(
    fc
      .array(fc.oneof(fc.string({ maxLength: 30 }), fc.string({ unit: 'binary', maxLength: 12 })))
      .map((names) => JSON.stringify(names)),
    fc
      .array(
        fc.constantFrom(
          '"a"',
          '"worker-name-1"',
          '"\\u0041\\n"',
          '"long enough \\""',
          ',',
          ' , ',
          '[',
          ']',
          '\t',
          '"',
          '\\',
          '1',
          '\v',
          '"\u0001"',
        ),
        { maxLength: 8 },
      )
      .map((pieces) => `[${pieces.join('')}]`),
  );
  const parsed = (json: string): readonly string[] | undefined => {
    try {
      const value: unknown = JSON.parse(json);
      return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined;
    } catch {
      return undefined;
    }
  };
  fc.assert(
    fc.property(text, (json) => {
      const names = parsed(json);
      assert.deepEqual(parseNfpTarget(json), names && { kind: 'names', names: [...new Set(names)] });
    }),
    { numRuns: 5_000 },
  );
});

/** A refusal names its owner, and contains what is needed for an answer. */
function isTold({ side, answer }: NfpMalformed): boolean {
  if (answer === undefined) return ['client', 'worker', 'unknown'].includes(side);
  const { form, service, uuid } = answer;
  const frames = encodeNfp({
    kind: 'client-answer',
    form,
    header: 'NFPB01',
    command: 'response',
    service,
    uuid,
    status: 400,
    body: framesOf(''),
  });
  return side === 'client' && frames.length === 7;
}
