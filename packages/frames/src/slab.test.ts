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

test('a long text has its own memory', () => {
  const text = 'é'.repeat(20_000);
  const frames = [writeUtf8(text), writeLatin1(text)];
  for (const frame of frames) expect(frame.byteLength).toBe(frame.buffer.byteLength);
  expect(toHex(frames)).toEqual(toHex([plain(text), fromLatin1(text)]));
});

test('a character that is not a byte is refused, and costs no memory', () => {
  const before = writeLatin1('a');
  expect(() => writeLatin1('a\u0100')).toThrow(RangeError);
  expect(writeLatin1('b').byteOffset).toBe(before.byteOffset + 1);
});
