import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compact,
  compactAll,
  EMPTY_FRAME,
  equalBytes,
  fromLatin1,
  latin1,
  printable,
  slackOf,
  totalBytes,
} from './bytes.js';

describe('latin1', () => {
  test('is a lossless key: one character per byte', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(latin1(bytes)).toHaveLength(bytes.length);
        expect(fromLatin1(latin1(bytes))).toEqual(bytes);
      }),
    );
  });

  test('refuses a character that is not a byte', () => {
    expect(() => fromLatin1('aĀ')).toThrow(RangeError);
  });
});

describe('equalBytes', () => {
  test('compares length and every byte', () => {
    const bytes = Uint8Array.of(1, 2, 3);
    expect(equalBytes(bytes, Uint8Array.of(1, 2, 3))).toBe(true);
    expect(equalBytes(bytes, Uint8Array.of(1, 2))).toBe(false);
    expect(equalBytes(bytes, Uint8Array.of(1, 2, 4))).toBe(false);
    expect(equalBytes(EMPTY_FRAME, new Uint8Array(0))).toBe(true);
  });
});

describe('printable', () => {
  test.each([
    ['', '""'],
    ['echo', '"echo"'],
    ['a\n', '0x610a'],
    ['\x00\xff', '0x00ff'],
  ])('%j reads %s', (text, shown) => {
    expect(printable(fromLatin1(text))).toBe(shown);
  });

  test('cuts what is too long for a log line', () => {
    expect(printable(fromLatin1('abcdef'), 3)).toBe('"abc"...');
    expect(printable(fromLatin1('\0\0\0'), 2)).toBe('0x0000...');
  });
});

test('compactAll copies a message out of memory that is more than twice as large, and leaves one that shares a block', () => {
  const memory = new Uint8Array(100);
  const parts = [memory.subarray(0, 30), EMPTY_FRAME, memory.subarray(30, 60), Uint8Array.of(1)];
  expect([compactAll(parts), slackOf(parts)]).toEqual([parts, 0]);
  expect(compactAll(parts)).toBe(parts);
  const few = [memory.subarray(0, 30), memory.subarray(30, 49)];
  expect(slackOf(few)).toBe(51);
  expect(compactAll(few)).toEqual(few);
  expect(slackOf([])).toBe(0);
});

test('compactAll copies into one block of exactly the needed size, and leaves frames that fill most of their own', () => {
  const memory = Uint8Array.from({ length: 100 }, (_, index) => index);
  const [own, empty] = [Uint8Array.of(1), memory.subarray(7, 7)];
  const kept = compactAll([memory.subarray(0, 30), own, empty, memory.subarray(30, 49)]);
  expect(kept).toEqual([memory.slice(0, 30), own, EMPTY_FRAME, memory.slice(30, 49)]);
  expect(kept[1]).toBe(own);
  expect(kept[2]).toBe(EMPTY_FRAME);
  expect(kept[0]!.buffer).toBe(kept[3]!.buffer);
  expect(kept[0]!.buffer.byteLength).toBe(49);
  expect(slackOf(kept)).toBe(0);
});

test('compact copies a frame out of memory that is more than twice as large, and no other', () => {
  const memory = Uint8Array.from({ length: 8 }, (_, index) => index);
  const half = memory.subarray(2, 6);
  expect(compact(half)).toBe(half);
  const less = compact(memory.subarray(2, 5));
  expect([[...less], less.buffer.byteLength]).toEqual([[2, 3, 4], 3]);
  expect(compact(memory.subarray(3, 3))).toBe(EMPTY_FRAME);
  expect(compact(memory)).toBe(memory);
});

test('totalBytes adds the lengths', () => {
  expect(totalBytes([])).toBe(0);
  expect(totalBytes([EMPTY_FRAME, Uint8Array.of(1, 2), Uint8Array.of(3)])).toBe(3);
});
