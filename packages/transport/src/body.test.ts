import { describe, expect, it } from 'vitest';
import { toBuffers, toFrames } from './body.js';

describe('toFrames', () => {
  it('takes text as UTF-8 and bytes as they are, one frame or several', () => {
    const bytes = Uint8Array.of(0, 255);
    expect(toFrames('x', 'é').map((frame) => [...frame])).toEqual([[0xc3, 0xa9]]);
    expect(toFrames('x', [bytes, ''])[0]).toBe(bytes);
    expect(toFrames('x', [bytes, ''])).toHaveLength(2);
  });

  it.each<[string, unknown, string]>([
    ['no frame', [], 'request: the body has no frame'],
    ['a number', 7, 'request: body frame 0 is number'],
    ['a number among frames', ['a', 7], 'request: body frame 1 is number'],
    ['more frames than the limit', ['', '', '', ''], 'request: the body has 4 frames; the limit is 3'],
    ['more bytes than the limit', ['four', 'é'], 'request: the body has 6 bytes; the limit is 5'],
  ])('refuses %s', (_what, body, message) => {
    expect(() => toFrames('request', body as string, { frames: 3, bytes: 5 })).toThrow(
      expect.objectContaining({ code: 'PROTOCOL_LOCAL', message: expect.stringContaining(message) as unknown }),
    );
  });
});

it('toFrames accepts a body that reaches the limits', () => {
  expect(toFrames('x', ['four', '', '5'], { frames: 3, bytes: 5 })).toHaveLength(3);
});

describe('toBuffers', () => {
  it('shares memory and keeps Buffers', () => {
    const [buffer, bytes] = [Buffer.from('a'), Uint8Array.of(1, 2, 3).subarray(1)];
    const [first, second] = toBuffers([buffer, bytes]);
    expect(first).toBe(buffer);
    bytes[0] = 9;
    expect([...(second ?? [])]).toEqual([9, 3]);
  });
});
