import { arbitraries, framesOf } from '@proj/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromLatin1, latin1 } from '../bytes.js';
import { decodePzqKey, encodePzqKey } from './index.js';

const NOW = 1_795_199_729_632_593;
const EPOCH_MAX = (1n << 60n) - 1n;

describe('our keys', () => {
  test.each([
    [NOW, 0x28cbd893e992872n, 1, '1795199729632593|28cbd893-e992-8872-8000-000000000001'],
    [NOW, 0n, 0x123456789abcd, '1795199729632593|00000000-0000-8000-8001-23456789abcd'],
    [0, 1n, 2 ** 32, '0000000000000000|00000000-0000-8001-8000-000100000000'],
    [7, EPOCH_MAX, Number.MAX_SAFE_INTEGER, '0000000000000007|ffffffff-ffff-8fff-801f-ffffffffffff'],
  ])('rule 27: stored %d, epoch %d, sequence %d is %s', (storedMicros, epoch, seq, text) => {
    const key = encodePzqKey({ storedMicros, epoch, seq });
    expect(latin1(key)).toBe(text);
    expect(decodePzqKey(key)).toEqual({ storedMicros, epoch, seq });
  });

  test.each([
    ['', 'nothing'],
    ['1795199729632593|28cbd893-e992-8872-8000-00000000000', 'too short'],
    ['1795199729632593|28cbd893-e992-8872-8000-0000000000010', 'too long'],
    ['1795199729632593|28cbd893-e992-4872-8000-000000000001', 'another version'],
    ['1795199729632593|28cbd893-e992-8872-9000-000000000001', 'a bit of the variant’s group that we leave 0'],
    ['1795199729632593|28cbd893-e992-8872-c000-000000000001', 'another variant'],
    ['1795199729632593|28cbd893-e992-8872-8000-000000000000', 'sequence 0'],
    ['1795199729632593|28cbd893-e992-8872-8020-000000000000', 'a sequence that is no safe integer'],
    ['9999999999999999|28cbd893-e992-8872-8000-000000000001', 'a time that is no safe integer'],
    ['179519972963259x|28cbd893-e992-8872-8000-000000000001', 'a time that is no number'],
    ['1795199729632593:28cbd893-e992-8872-8000-000000000001', 'no bar'],
    ['1795199729632593|28cbd893+e992-8872-8000-000000000001', 'no first dash'],
    ['1795199729632593|28cbd893-e992+8872-8000-000000000001', 'no second dash'],
    ['1795199729632593|28cbd893-e992-8872+8000-000000000001', 'no third dash'],
    ['1795199729632593|28cbd893-e992-8872-8000+000000000001', 'no fourth dash'],
    ['1795199729632593|28CBD893-e992-8872-8000-000000000001', 'upper case in the epoch'],
    ['1795199729632593|28cbd893-e992-887g-8000-000000000001', 'a letter that is no digit'],
    ['1795199729632593|28cbd893-e992-8872-8000-00000000000A', 'upper case in the sequence'],
    ['1795199729632593|28cbd893-e992-8872-8000-00000000:001', 'what follows 9'],
    ['1795199729632593|28cbd893-e992-8872-8000-00000000`001', 'what precedes a'],
  ])('rule 15: %j is invalid (%s)', (text) => {
    expect(decodePzqKey(fromLatin1(text))).toBeUndefined();
  });

  test.each([
    { storedMicros: -1, epoch: 1n, seq: 1 },
    { storedMicros: 0.5, epoch: 1n, seq: 1 },
    { storedMicros: 2 ** 53, epoch: 1n, seq: 1 },
    { storedMicros: NOW, epoch: -1n, seq: 1 },
    { storedMicros: NOW, epoch: 1n << 60n, seq: 1 },
    { storedMicros: NOW, epoch: 1n, seq: 0 },
    { storedMicros: NOW, epoch: 1n, seq: 2 ** 53 },
    { storedMicros: NOW, epoch: 1n, seq: Number.NaN },
  ])('%o cannot be one', (key) => {
    expect(() => encodePzqKey(key)).toThrow(RangeError);
  });

  test('rule 27: each is a 53-byte key of the original’s form and reads back the same', () => {
    const shape = /^\d{16}\|[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    fc.assert(
      fc.property(arbitraries.pzqKey, (key) => {
        const bytes = encodePzqKey(key);
        expect(latin1(bytes)).toMatch(shape);
        expect(decodePzqKey(bytes)).toEqual(key);
      }),
      { numRuns: 5_000 },
    );
  });

  test('rule 15: a changed byte gives no key or another one, never the same', () => {
    fc.assert(
      fc.property(arbitraries.pzqKey, fc.nat(52), fc.integer({ min: 1, max: 255 }), (key, at, by) => {
        const bytes = encodePzqKey(key);
        bytes[at] = (bytes[at]! + by) % 256;
        const read = decodePzqKey(bytes);
        expect(read).not.toEqual(key);
        if (read !== undefined) expect(encodePzqKey(read)).toEqual(bytes);
      }),
      { numRuns: 20_000 },
    );
  });

  test('are read in place, also inside a larger buffer', () => {
    const [text] = framesOf('##1795199729632593|28cbd893-e992-8872-8000-000000000001##');
    expect(decodePzqKey(text!.subarray(2, 55))).toEqual({ storedMicros: NOW, epoch: 0x28cbd893e992872n, seq: 1 });
  });
});
