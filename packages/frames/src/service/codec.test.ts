import { framesOf, toHex } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { bytesCodec, jsonCodec } from './index.js';

describe('jsonCodec', () => {
  test.each([null, true, 0, 'é名', [], { a: [1, { b: null }] }])(
    'writes %j as one frame of UTF-8 and reads it back',
    (value) => {
      const frames = jsonCodec.encode(value);
      expect(toHex(frames)).toEqual(toHex(framesOf(JSON.stringify(value))));
      expect(jsonCodec.decode(frames)).toEqual(value);
    },
  );

  test.each([undefined, () => 0, Symbol('s')])('throws for %o, which JSON cannot express', (value) => {
    expect(() => jsonCodec.encode(value)).toThrow(TypeError);
  });

  test('throws for values that JSON.stringify refuses', () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(() => jsonCodec.encode(cycle)).toThrow(TypeError);
    expect(() => jsonCodec.encode(1n)).toThrow(TypeError);
  });

  test.each([
    ['no frame', []],
    ['two frames', framesOf('1', '2')],
    ['an empty frame', framesOf('')],
    ['no JSON', framesOf('{')],
    ['no UTF-8', [Uint8Array.of(0x22, 0xff, 0x22)]],
  ])('throws for %s', (_, frames) => {
    expect(() => jsonCodec.decode(frames)).toThrow();
  });
});

describe('bytesCodec', () => {
  test('passes the bytes of one frame through, uncopied', () => {
    const bytes = Uint8Array.of(0, 0xff);
    expect(bytesCodec.encode(bytes)[0]).toBe(bytes);
    expect(bytesCodec.decode([bytes])).toBe(bytes);
  });

  test.each([['text'], [null], [[Uint8Array.of(1)]]])('throws for %o, which is not bytes', (value) => {
    expect(() => bytesCodec.encode(value)).toThrow(TypeError);
  });

  test('throws for a body of two frames', () => {
    expect(() => bytesCodec.decode(framesOf('a', 'b'))).toThrow('expected one frame, got 2');
  });
});
