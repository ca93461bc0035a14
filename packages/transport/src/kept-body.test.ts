import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keepBody, keptFrames } from './kept-body.js';

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

describe('a body that waits', () => {
  it('has the bytes it arrived with, in memory of its own', () => {
    const frames = fc.array(fc.uint8Array({ maxLength: 1000 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(frames, (sent) => {
        const received = arrived(sent);
        const kept = keepBody(received);
        received[0]!.fill(1);
        expect(keptFrames(kept).map((frame) => [...frame])).toEqual(sent.map((frame) => [...frame]));
      }),
    );
  });

  it.each([
    [[512], 'string'],
    [[0], 'string'],
    [[513], 'object'],
    [[1, 1], 'object'],
  ] as const)('of frames of %j bytes is kept as %s', (lengths, kind) => {
    expect(typeof keepBody(arrived(lengths.map((length) => Buffer.alloc(length, 0xff))))).toBe(kind);
  });
});
