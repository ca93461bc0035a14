/** Small frames share memory, which must not be noticeable. */
import { toHex } from '@proj/testkit';
import { expect, test } from 'vitest';
import { fromLatin1 } from './bytes.js';
import { writeLatin1, writeUtf8 } from './slab.js';

const plain = (text: string) => new TextEncoder().encode(text);

test('thousands of texts are each correct, early ones even after the last', () => {
  const texts = Array.from({ length: 5000 }, (_, i) => `${i} é ${'x'.repeat(i % 340)}`);
  const frames = texts.flatMap((text) => [writeUtf8(text), writeLatin1(text)]);
  expect(toHex(frames)).toEqual(toHex(texts.flatMap((text) => [plain(text), fromLatin1(text)])));
});

test.each([[33], [1024]])('texts of %i characters share memory', (length) => {
  const frames = ['a', 'é', '€', '\u{1f600}'].map((one) => writeUtf8(one.repeat(length / one.length)));
  expect(new Set(frames.map(({ buffer }) => buffer)).size).toBeLessThanOrEqual(2);
  expect(frames.map(({ length: bytes }) => bytes)).toEqual(
    [1, 2, 3].map((n) => n * length).concat(Math.floor(length / 2) * 4),
  );
});

test.each([[1025], [20_000]])('a text of %i characters has its own memory', (length) => {
  const text = 'é'.repeat(length);
  const frames = [writeUtf8(text), writeLatin1(text)];
  for (const frame of frames) expect(frame.byteLength).toBe(frame.buffer.byteLength);
  expect(toHex(frames)).toEqual(toHex([plain(text), fromLatin1(text)]));
});

test('a character that is not a byte is refused, and costs no memory', () => {
  const before = writeLatin1('a');
  expect(() => writeLatin1('a\u0100')).toThrow(RangeError);
  expect(writeLatin1('b').byteOffset).toBe(before.byteOffset + 1);
});
