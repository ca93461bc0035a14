import { describe, expect, it } from 'vitest';
import { REUSE_MAPPED } from '../fast.js';
import { discard, giveBack, lend, lendMapped, mapped } from './bodies.js';
import { allocate, reclaim, SPARE_MEMORY } from './spares.js';

const isResizable = ({ buffer }: { readonly buffer: ArrayBufferLike & { readonly resizable?: boolean } }) =>
  buffer.resizable;

describe('memory', () => {
  it('is not shared, however small', () => {
    const pieces = Array.from({ length: 2000 }, (_, index) => allocate(index % 40).fill(index));
    for (const [index, piece] of pieces.entries()) expect(piece).toEqual(Buffer.alloc(index % 40, index));
  });

  it('holds no more than the pool of Node, or itself', () => {
    for (const bytes of [0, 1, 100, 4096]) expect(allocate(bytes).buffer.byteLength).toBeLessThanOrEqual(8192);
    for (const bytes of [4097, 100_000]) {
      const memory = allocate(bytes);
      expect([memory.length, memory.buffer.byteLength]).toEqual([bytes, bytes]);
    }
  });

  it('is reused once a long piece is reclaimed whole, and not for a part of it', () => {
    const piece = allocate(50_000);
    reclaim(piece.subarray(0));
    expect(allocate(50_000).buffer).not.toBe(piece.buffer);
    reclaim(piece);
    reclaim(piece);
    const next = allocate(40_000);
    expect([next.buffer === piece.buffer, next.byteOffset, next.length]).toEqual([true, 0, 40_000]);
    expect(allocate(40_000).buffer).not.toBe(piece.buffer);
  });

  it('is mapped once for a long frame that waits for several peers', () => {
    const [frame, same] = [allocate(50_000).fill(7), allocate(50_000).fill(7)];
    const copy = mapped(frame);
    expect([isResizable(copy), Buffer.compare(copy, frame)]).toEqual([true, 0]);
    expect([mapped(frame), mapped(copy)].every((other) => other === copy)).toBe(true);
    expect(mapped(same)).not.toBe(copy);
  });

  it('is freed at once when a lent body is discarded; other memory stays', () => {
    const [lent, whole] = [lend(50_000, 50_000), allocate(50_000).fill(7)];
    const view = whole.subarray(0, 40_000);
    discard([lent, view]);
    discard([lent]);
    expect([lent.buffer.byteLength, view.length, view[39_999]]).toEqual([0, 40_000, 7]);
  });

  it('of a body with its own mapping is gone from the process once freed, and is no chunk meanwhile', () => {
    const bytes = 2 ** 26 - 2 ** 16;
    const body = lendMapped(bytes, bytes).fill(7);
    const small = lendMapped(50_000, 50_000);
    giveBack([small]);
    expect(small.length).toBe(0);
    const chunk = allocate(50_000);
    const again = lendMapped(50_000, 50_000);
    expect([isResizable(chunk), isResizable(again), body.length]).toEqual([false, true, bytes]);
    const held = process.memoryUsage().rss;
    discard([body]);
    expect(held - process.memoryUsage().rss).toBeGreaterThan(bytes / 2);
  });

  it('of a body with its own mapping is reserved for all of it, and can be used again once grown', () => {
    const body = REUSE_MAPPED!.lend(20_000, 70_000).fill(7);
    const grown = REUSE_MAPPED!.grow!(body, 70_000)!;
    expect([grown.buffer === body.buffer, body.length, grown[19_999]]).toEqual([true, 20_000, 7]);
    giveBack([grown]);
    expect(REUSE_MAPPED!.lend(20_000, 70_000).length).toBe(70_000);
  });

  it('is kept spare up to 64 MiB', () => {
    const large = Array.from({ length: 3 }, () => allocate(2 ** 25));
    for (const piece of large) reclaim(piece);
    const again = large.map(() => allocate(2 ** 25).buffer);
    expect(large.map(({ buffer }) => again.includes(buffer))).toEqual([false, true, true]);
  });

  it('that is spare returns to the system when there is little traffic', () => {
    const piece = allocate(2 ** 20);
    reclaim(piece);
    expect(SPARE_MEMORY.heldBytes).toBeGreaterThanOrEqual(2 ** 20);
    SPARE_MEMORY.onRest();
    expect([SPARE_MEMORY.heldBytes, piece.buffer.byteLength]).toEqual([0, 0]);
  });
});
