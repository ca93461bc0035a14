import { fromHex, toHex } from '@proj/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodePppCorrelation, encodePppCorrelation } from './index.js';

describe('correlation ids', () => {
  test.each([
    [0, '0000000000000000'],
    [1, '0000000000000001'],
    [2 ** 32, '0000000100000000'],
    [Number.MAX_SAFE_INTEGER, '001fffffffffffff'],
  ])('%d is %s', (id, hex) => {
    const frame = encodePppCorrelation(id);
    expect(toHex([frame])).toEqual([hex]);
    expect(decodePppCorrelation(frame)).toBe(id);
  });

  test.each(['', '00', '00000000000000', '000000000000000000', '0020000000000000', 'ffffffffffffffff'])(
    '%j is not one of ours',
    (hex) => {
      expect(decodePppCorrelation(fromHex([hex])[0]!)).toBeUndefined();
    },
  );

  test.each([-1, 0.5, Number.NaN, Infinity, 2 ** 53])('%d cannot be one', (id) => {
    expect(() => encodePppCorrelation(id)).toThrow(RangeError);
  });

  test('are read in place, also inside a larger buffer', () => {
    const buffer = fromHex(['ff0000000000000007ff'])[0]!;
    expect(decodePppCorrelation(buffer.subarray(1, 9))).toBe(7);
  });

  test('come back as the same number', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (id) => {
        expect(decodePppCorrelation(encodePppCorrelation(id))).toBe(id);
      }),
    );
  });
});
