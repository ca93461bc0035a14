import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCurveKey, decodeZ85, encodeZ85 } from './index.js';

const HELLO = Uint8Array.of(0x86, 0x4f, 0xd2, 0x6f, 0xb5, 0x59, 0xf7, 0x5b);

describe('Z85', () => {
  it('writes the example of RFC 32', () => {
    expect(encodeZ85(HELLO)).toBe('HelloWorld');
  });

  it('reads the example of RFC 32', () => {
    expect(decodeZ85('HelloWorld')).toEqual(HELLO);
  });

  it('reads back whatever it wrote, also from the middle of a buffer', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ minLength: 4, maxLength: 4 }), { maxLength: 9 }), (words) => {
        const whole = Buffer.concat([Buffer.from('x'), ...words]);
        expect(decodeZ85(encodeZ85(whole.subarray(1)))).toEqual(Uint8Array.from(whole.subarray(1)));
      }),
    );
  });

  it.each([
    ['too short', '0123'],
    ['a character outside the alphabet', '0123~'],
    ['a number over 32 bits', '#####'],
  ])('refuses %s', (_what, text) => {
    expect(decodeZ85(text)).toBeUndefined();
  });

  it('writes whole words only', () => {
    expect(() => encodeZ85(HELLO.subarray(1))).toThrow('7 bytes');
  });

  it('accepts 40 characters as a key, and nothing else', () => {
    expect(decodeCurveKey('0'.repeat(40))).toHaveLength(32);
    expect(decodeCurveKey('0'.repeat(45))).toBeUndefined();
    expect(decodeCurveKey('')).toBeUndefined();
  });
});
