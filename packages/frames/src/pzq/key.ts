/**
 * Our keys, rule 27 of docs/protocols/pzq.md. They look like those of the original and contain the message's position, so an acknowledgement
 * needs no index:
 *
 *     key = 16DIGIT "|" 8HEX "-" 4HEX "-8" 3HEX "-8" 3HEX "-" 12HEX   ; lower case; the uuid has version 8
 *           stored      epoch, 60 bits ......    seq, 60 bits ..
 *
 * After the two bits of its variant a uuid has room for 62 bits of sequence; a safe integer leaves the upper two 0.
 */
import type { PzqKey } from './commands.js';
import { readDecimal, writeDigits } from './decimal.js';
import { KEY_BYTES, TIME_DIGITS } from './wire.js';

const EPOCH_BITS = 60n;
/** 15 hexadecimal digits are handled as 7 and 8, which fit the 32 bits of fast arithmetic. */
const LOW_BITS = 32n;
const LOW = 2 ** 32;
const LOW_MASK = 0xffff_ffffn;

/** Where the digits of epoch and sequence are, most significant first. */
const EPOCH_PLACES = [17, 18, 19, 20, 21, 22, 23, 24, 26, 27, 28, 29, 32, 33, 34] as const;
const SEQ_PLACES = [37, 38, 39, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52] as const;

/** The constant part of every key: the bar, the dashes, version and variant. */
const FIXED = [
  [16, 0x7c],
  [25, 0x2d],
  [30, 0x2d],
  [31, 0x38],
  [35, 0x2d],
  [36, 0x38],
  [40, 0x2d],
] as const;

/** The last epoch, and its halves as numbers: nearly every key is of the same queue, and arithmetic on a bigint takes longer than all the rest. */
let known = { epoch: 0n, high: 0, low: 0 };

/**
 * The 53 bytes of a key. Throws a `RangeError` for a time that is not a non-negative safe integer, an epoch of more than 60 bits, and a sequence
 * that is not a positive safe integer.
 */
export function encodePzqKey({ storedMicros, epoch, seq }: PzqKey): Uint8Array {
  if (!Number.isSafeInteger(storedMicros) || storedMicros < 0)
    throw new RangeError(`stored at ${storedMicros}: not a safe integer from 0 up`);
  if (!Number.isSafeInteger(seq) || seq < 1) throw new RangeError(`sequence ${seq}: not a safe integer from 1 up`);
  const { high, low } = epoch === known.epoch ? known : (known = halvesOf(epoch));
  const key = new Uint8Array(KEY_BYTES);
  writeDigits(key, 0, TIME_DIGITS, storedMicros);
  for (const [at, byte] of FIXED) key[at] = byte;
  writeHex(key, EPOCH_PLACES, high, low);
  writeHex(key, SEQ_PLACES, Math.floor(seq / LOW), seq % LOW);
  return key;
}

/** The contents of a key; `undefined` for bytes that {@link encodePzqKey} never made. Total. */
export function decodePzqKey(key: Uint8Array): PzqKey | undefined {
  if (key.length !== KEY_BYTES) return undefined;
  for (const [at, byte] of FIXED) if (key[at] !== byte) return undefined;
  const storedMicros = readDecimal(key, 0, TIME_DIGITS);
  const high = readHex(key, EPOCH_PLACES, 0, 7);
  const low = readHex(key, EPOCH_PLACES, 7, 15);
  const seq = readHex(key, SEQ_PLACES, 0, 7) * LOW + readHex(key, SEQ_PLACES, 7, 15);
  if (storedMicros === undefined || Number.isNaN(high + low) || !Number.isSafeInteger(seq) || seq === 0)
    return undefined;
  if (high !== known.high || low !== known.low) known = { epoch: (BigInt(high) << LOW_BITS) | BigInt(low), high, low };
  return { storedMicros, epoch: known.epoch, seq };
}

/** Throws a `RangeError` for more than 60 bits. */
function halvesOf(epoch: bigint): typeof known {
  if (epoch < 0n || epoch >> EPOCH_BITS !== 0n) throw new RangeError(`epoch ${epoch.toString()}: not of 60 bits`);
  return { epoch, high: Number(epoch >> LOW_BITS), low: Number(epoch & LOW_MASK) };
}

/** Writes 15 digits, the last 8 of them from `low`. */
function writeHex(key: Uint8Array, places: readonly number[], high: number, low: number): void {
  for (let i = 14, rest = low; i >= 0; i--, rest = i === 6 ? high : rest >>> 4) {
    const digit = rest & 15;
    key[places[i] as number] = digit < 10 ? 0x30 + digit : 0x57 + digit;
  }
}

/** The digits from `from` up to `to` as a number; `NaN` if one is invalid. */
function readHex(key: Uint8Array, places: readonly number[], from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) {
    const byte = key[places[i] as number] as number;
    if (byte >= 0x30 && byte <= 0x39) value = value * 16 + (byte - 0x30);
    else if (byte >= 0x61 && byte <= 0x66) value = value * 16 + (byte - 0x57);
    else return Number.NaN;
  }
  return value;
}
