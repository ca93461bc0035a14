import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keepBody, keepOneOfMany, keptCount, keptFrames } from './kept-body.js';

/** Frames as they arrive: views of one large piece of memory. */
const arrived = (frames: readonly Uint8Array[]): readonly Uint8Array[] => {
  const piece = Buffer.alloc(65_536);
  let at = 0;
  return frames.map((frame) => {
    piece.set(frame, at);
    at += frame.length;
    return piece.subarray(at - frame.length, at);
  });
};

const WAYS = [
  ['keepBody', keepBody],
  ['keepOneOfMany', keepOneOfMany],
] as const;

describe('a body that waits', () => {
  it.each(WAYS)('has the bytes it arrived with, in memory of its own, after %s', (_name, keep) => {
    const few = fc.array(fc.uint8Array({ maxLength: 1000 }), { minLength: 1, maxLength: 4 });
    const many = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 30 });
    const short = fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 2, maxLength: 7 });
    fc.assert(
      fc.property(fc.oneof(few, many, short), (sent) => {
        const received = arrived(sent);
        const kept = keep(received);
        received[0]!.fill(1);
        expect(keptCount(kept)).toBe(sent.length);
        const frames = keptFrames(kept);
        // Those of others come from the same piece of memory.
        keptFrames(keepOneOfMany(arrived([Buffer.alloc(9, 2), Buffer.alloc(9, 2)])));
        expect(frames.map((frame) => [...frame])).toEqual(sent.map((frame) => [...frame]));
      }),
    );
  });

  it.each([
    [[256], 'text'],
    [[0], 'text'],
    [[257], 'frames'],
    [[1, 255], 'joined text'],
    [[0, 0], 'joined text'],
    [[1, 256], 'frames'],
    [Array<number>(9).fill(20), 'joined text'],
    [Array<number>(8).fill(128), 'frames'],
    [Array<number>(9).fill(128), 'joined'],
    [Array<number>(9).fill(129), 'frames'],
  ] as const)('of frames of %j bytes is kept as %s', (lengths, how) => {
    const kept = keepOneOfMany(arrived(lengths.map((length) => Buffer.alloc(length, 0xff))));
    if (typeof kept === 'string') expect(how).toBe('text');
    else if ('ends' in kept) expect(how).toBe(typeof kept.memory === 'string' ? 'joined text' : 'joined');
    else expect(how).toBe('frames');
  });

  it.each(WAYS)('stays where it arrived if it fills that, after %s', (_name, keep) => {
    const frames = [Buffer.alloc(600)];
    expect(keep(frames)).toBe(frames);
  });
});
