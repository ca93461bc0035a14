import { randomBytes } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import type { Boxes } from './boxes.js';
import { nobleBoxes } from './noble.js';
import { loadSodium } from './sodium.js';

const SODIUM = await loadSodium();
const KEY = randomBytes(32);
const NONCE = randomBytes(24);
const FREE = 32;
const TAG_AT = 16;
/** Around a block, and around the size of libsodium's window. */
const SIZES = [0, 1, 31, 32, 33, 64, 200, 65_503, 65_504, 65_520, 65_521, 65_536, 200_001];

/** Free bytes with any content, then the text. */
function spaceOf(text: Uint8Array): Uint8Array {
  return Buffer.concat([new Uint8Array(FREE).fill(0xee), text]);
}

function sealed(boxes: Boxes, text: Uint8Array): Uint8Array {
  const space = spaceOf(text);
  boxes.seal(KEY, NONCE, space);
  return space.subarray(TAG_AT);
}

/** The space after processing it in slices of this many blocks, and the authenticator. */
function sliced(boxes: Boxes, way: 'seal' | 'open', space: Uint8Array, blocks: number): Buffer {
  const [key, nonce] = [Uint8Array.from(KEY), Uint8Array.from(NONCE)];
  const box = boxes.slices(key, nonce, way);
  key.fill(0);
  nonce.fill(0);
  for (let at = 0; at < space.length; at += 64 * blocks) box.next(space.subarray(at, at + 64 * blocks));
  return Buffer.concat([box.tag(), space.subarray(FREE)]);
}

describe.each([
  ['libsodium', SODIUM!],
  ['@noble/ciphers', nobleBoxes],
])('boxes of %s', (_, boxes) => {
  it.each(SIZES)('of %d bytes are the same whole, in slices, and from either implementation', (size) => {
    const text = randomBytes(size);
    const whole = Buffer.from(sealed(boxes, text));
    expect(whole.equals(sealed(nobleBoxes, text))).toBe(true);
    for (const blocks of [1, 7, 1024, 5000].filter((count) => size / count < 50_000))
      expect(sliced(boxes, 'seal', spaceOf(text), blocks).equals(whole)).toBe(true);
  });

  it.each(SIZES)('of %d bytes are opened whole and in slices', (size) => {
    const text = randomBytes(size);
    const box = sealed(boxes, text);
    expect(text.equals(boxes.open(KEY, NONCE, box)!)).toBe(true);
    const opened = sliced(boxes, 'open', Buffer.concat([new Uint8Array(TAG_AT), box]), 100);
    expect(opened.equals(Buffer.concat([box.subarray(0, 16), text]))).toBe(true);
  });

  it.each([5, 100_000])('of %d bytes are not opened if changed anywhere', (size) => {
    for (const at of [0, 15, 16, -1]) {
      const box = Buffer.from(sealed(boxes, randomBytes(size)));
      const index = at < 0 ? box.length + at : at;
      box[index] = box[index]! ^ 1;
      expect(boxes.open(KEY, NONCE, box)).toBeUndefined();
    }
    expect(boxes.open(KEY, NONCE, new Uint8Array(15))).toBeUndefined();
  });

  it('of two connections, interleaved, do not disturb each other', () => {
    const texts = [randomBytes(1000), randomBytes(1000)];
    const works = texts.map((text) => ({ box: boxes.slices(KEY, NONCE, 'seal'), space: spaceOf(text) }));
    for (let at = 0; at < 1032; at += 320) for (const { box, space } of works) box.next(space.subarray(at, at + 320));
    const boxed = works.map(({ box, space }) => Buffer.concat([box.tag(), space.subarray(FREE)]));
    expect(boxed.map((bytes, index) => bytes.equals(sealed(boxes, texts[index]!)))).toEqual([true, true]);
  });
});

describe('libsodium', () => {
  it('loads, and its memory never grows', () => {
    const { Memory } = (globalThis as unknown as { WebAssembly: { Memory: { prototype: { grow(): number } } } })
      .WebAssembly;
    const grow = vi.spyOn(Memory.prototype, 'grow');
    SODIUM!.seal(KEY, NONCE, new Uint8Array(2 ** 24));
    SODIUM!.open(KEY, NONCE, new Uint8Array(2 ** 24));
    expect(grow).not.toHaveBeenCalled();
    grow.mockRestore();
  });
});
