/** Flags and sizes of a frame: 37/ZMTP, "Framing". */

/** More frames of the same message follow. */
export const MORE = 0x01;
/** The size takes eight bytes instead of one. */
export const LONG = 0x02;
/** The frame is a command. */
export const COMMAND = 0x04;
/** Bits that must be zero. */
export const RESERVED = 0xf8;
/** The largest body whose size fits one byte. */
export const SHORT_MAX = 255;
/** Flags and size of a short frame. */
export const SHORT_HEADER = 2;
/** Flags and size of a long frame. */
export const LONG_HEADER = 9;

const TWO_TO_32 = 2 ** 32;

/** Writes flags and size at `at`; returns where the body begins. */
export function writeHeader(target: Uint8Array, at: number, flags: number, length: number): number {
  if (length <= SHORT_MAX) {
    target[at] = flags;
    target[at + 1] = length;
    return at + SHORT_HEADER;
  }
  target[at] = flags | LONG;
  let rest = length;
  for (let index = at + LONG_HEADER - 1; index > at; index--) {
    target[index] = rest & 0xff;
    rest = Math.floor(rest / 256);
  }
  return at + LONG_HEADER;
}

/** The eight bytes at `at` as a number. Inexact above 2^53, far beyond every limit. */
export function readLongSize(source: Uint8Array, at: number): number {
  let high = 0;
  let low = 0;
  for (let index = 0; index < 4; index++) {
    high = high * 256 + (source[at + index] ?? 0);
    low = low * 256 + (source[at + 4 + index] ?? 0);
  }
  return high * TWO_TO_32 + low;
}
