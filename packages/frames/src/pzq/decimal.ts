/** Numbers in PZQ: ASCII decimals. */

const ZERO = 0x30;

/** Longer numbers are written in two parts that fit the 32 bits of fast arithmetic. */
const PART_DIGITS = 8;
const PART = 10 ** PART_DIGITS;

/** The number in these bytes: 1 to 16 digits of a safe integer. `undefined` for anything else. */
export function readDecimal(bytes: Uint8Array, from: number, to: number): number | undefined {
  if (to - from < 1 || to - from > 16) return undefined;
  let value = 0;
  for (let i = from; i < to; i++) {
    const digit = (bytes[i] as number) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return Number.isSafeInteger(value) ? value : undefined;
}

/** Writes `count` digits at `at`, with leading zeros. `value` is a non-negative safe integer with at most as many digits. */
export function writeDigits(bytes: Uint8Array, at: number, count: number, value: number): void {
  const high = Math.floor(value / PART);
  const split = Math.max(count - PART_DIGITS, 0);
  writePart(bytes, at + split, at + count, value - high * PART);
  writePart(bytes, at, at + split, high);
}

/** Writes the digits of an integer of 32 bits from `from` up to `to`. */
function writePart(bytes: Uint8Array, from: number, to: number, value: number): void {
  for (let i = to - 1, rest = value | 0; i >= from; i--) {
    const next = (rest / 10) | 0;
    bytes[i] = ZERO + (rest - next * 10);
    rest = next;
  }
}

/** The frame of a number, without leading zeros. Throws a `RangeError` unless it is a non-negative safe integer. */
export function decimalFrame(value: number): Uint8Array {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value}: not a safe integer from 0 up`);
  let digits = 1;
  for (let limit = 10; value >= limit; limit *= 10) digits++;
  const frame = new Uint8Array(digits);
  writeDigits(frame, 0, digits, value);
  return frame;
}
