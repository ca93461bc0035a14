import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Backlog } from './backlog.js';

const HEADER_BYTES = 4;

function message(byte: number, ...lengths: readonly number[]): readonly Uint8Array[] {
  return lengths.map((length) => new Uint8Array(length).fill(byte));
}

/** The distinct pieces of memory in which all messages lie; the backlog is empty afterwards. */
function piecesOf(backlog: Backlog): readonly ArrayBufferLike[] {
  const pieces = new Set<ArrayBufferLike>();
  for (let frames = backlog.shift(); frames !== undefined; frames = backlog.shift())
    for (const { buffer } of frames) pieces.add(buffer);
  return [...pieces];
}

describe('Backlog', () => {
  it('gives every message back as it came and in order, packed or not', () => {
    const frames = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 12 });
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('push' as const, 'pack' as const), frames }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('shift' as const) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const backlog = new Backlog();
        const model: (readonly Uint8Array[])[] = [];
        for (const one of steps) {
          if (one.kind === 'shift') {
            expect(backlog.peek()).toEqual(model[0]);
            expect(backlog.shift()).toEqual(model.shift());
          } else {
            if (one.kind === 'push') backlog.push(one.frames);
            else expect(backlog.pack(one.frames)).toBe(true);
            model.push(one.frames);
          }
          expect(backlog.length).toBe(model.length);
        }
        while (model.length > 0) expect(backlog.shift()).toEqual(model.shift());
        expect([backlog.peek(), backlog.shift()]).toEqual([undefined, undefined]);
      }),
    );
  });

  it('keeps what it packed, whatever becomes of the frames', () => {
    const backlog = new Backlog();
    const frames = message(1, 3, 0, 2);
    backlog.pack(frames);
    for (const frame of frames) frame.fill(9);
    expect(backlog.shift()).toEqual(message(1, 3, 0, 2));
  });

  it('keeps what it has not packed as it is', () => {
    const backlog = new Backlog();
    const frames = message(1, 3);
    backlog.push(frames);
    expect([backlog.peek() === frames, backlog.shift() === frames]).toEqual([true, true]);
  });

  it.each([
    ['packs 4096 bytes, with the length of each frame', [4096 - HEADER_BYTES], true],
    ['leaves one more as it is', [4097 - HEADER_BYTES], false],
    ['packs any number of short frames', Array.from({ length: 1000 }, () => 124), true],
    ['packs short frames with a long one', [...Array.from({ length: 70_000 }, () => 0), 2 ** 23 + 2 ** 16], true],
    ['leaves frames that are longer on average', Array.from({ length: 1000 }, () => 125), false],
    ['packs a hundred thousand empty frames', Array.from({ length: 100_000 }, () => 0), true],
  ])('%s', (_, lengths, isPacked) => {
    const backlog = new Backlog();
    const frames = message(7, ...lengths);
    expect(backlog.pack(frames)).toBe(isPacked);
    expect(backlog.length).toBe(isPacked ? 1 : 0);
    if (isPacked) expect(Buffer.concat(backlog.shift()!)).toEqual(Buffer.concat(frames));
  });

  it('needs few pieces of memory for many messages, and at most twice as much as they take', () => {
    const backlog = new Backlog();
    for (const [messages, most] of [
      [1000, 12],
      [10, 5],
      [1, 1],
    ] as const) {
      for (let left = messages; left > 0; left--) backlog.pack(message(1, 50, 0, 100));
      const pieces = piecesOf(backlog);
      const bytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
      expect(pieces.length).toBeLessThanOrEqual(most);
      expect(bytes).toBeLessThanOrEqual(2 * messages * (150 + 3 * HEADER_BYTES));
    }
  });

  it('fills its pieces, whatever lies between small messages', () => {
    const backlog = new Backlog();
    const large = message(2, 5000);
    for (let left = 1000; left > 0; left--) {
      backlog.pack(message(1, 100));
      backlog.push(large);
    }
    const small: ArrayBufferLike[] = [];
    for (let frames = backlog.shift(); frames !== undefined; frames = backlog.shift()) {
      small.push(frames[0]!.buffer);
      expect(backlog.peek()).toBe(large);
      expect(backlog.shift()).toBe(large);
    }
    const pieces = [...new Set(small)];
    expect([small.length, pieces.length <= 12]).toEqual([1000, true]);
    const bytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(bytes).toBeLessThanOrEqual(2 * 1000 * (100 + 2 * HEADER_BYTES));
  });

  it('begins a new piece when the last one is empty, even if that has room', () => {
    const backlog = new Backlog();
    for (const byte of [1, 2, 3]) backlog.pack(message(byte, 100));
    while (backlog.shift() !== undefined);
    backlog.pack(message(4, 100));
    expect([backlog.length, backlog.shift()]).toEqual([1, message(4, 100)]);
  });

  it('maps large pieces, which leave the process with their messages', () => {
    const backlog = new Backlog();
    for (let left = 1000; left > 0; left--) backlog.pack(message(1, 1000));
    const mapped = piecesOf(backlog).filter((piece) => (piece as { readonly resizable?: boolean }).resizable);
    expect(mapped.map(({ byteLength }) => byteLength)).toContain(65_536);
    expect(mapped.every(({ byteLength }) => byteLength >= 16_384)).toBe(true);
  });
});
