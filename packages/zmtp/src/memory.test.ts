import { describe, expect, it } from 'vitest';
import { allocate } from './memory.js';

describe('memory', () => {
  it('is nobody else’s, however small', () => {
    const pieces = Array.from({ length: 2000 }, (_, index) => allocate(index % 40).fill(index));
    for (const [index, piece] of pieces.entries()) expect(piece).toEqual(new Uint8Array(index % 40).fill(index));
  });

  it('holds no more than a block, or itself', () => {
    for (const bytes of [0, 1, 100, 4096]) expect(allocate(bytes).buffer.byteLength).toBeLessThanOrEqual(8192);
    for (const bytes of [4097, 100_000]) {
      const memory = allocate(bytes);
      expect([memory.length, memory.buffer.byteLength]).toEqual([bytes, bytes]);
    }
  });
});
