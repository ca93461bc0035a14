/** A name is encoded once, which must not be noticeable. */
import { toHex } from '@proj/testkit';
import { expect, test } from 'vitest';
import { writeUtf8 } from '../slab.js';
import { writeName } from './text.js';

const plain = (text: string) => new TextEncoder().encode(text);

test('thousands of names are each correct, early ones even after the last', () => {
  const texts = Array.from({ length: 5000 }, (_, i) => `${i} é ${'x'.repeat(i % 240)}`);
  const names = texts.map((text) => writeName(text, 'uuid'));
  expect(toHex(names)).toEqual(toHex(texts.map(plain)));
  expect(toHex(texts.map((text) => writeName(text, 'uuid')))).toEqual(toHex(names));
});

test('a name is one frame however often it is written, until a thousand others have been', () => {
  const frame = writeName('one', 'service');
  expect(writeName('one', 'service')).toBe(frame);
  for (let i = 0; i < 1024; i++) writeName(`other ${i}`, 'uuid');
  expect(writeName('one', 'service')).not.toBe(frame);
  expect(toHex([writeName('one', 'service')])).toEqual(toHex([frame]));
});

test('a name does not keep the memory of frames that are sent at once', () => {
  expect(writeName('remembered', 'service').buffer).not.toBe(writeUtf8('sent').buffer);
});
