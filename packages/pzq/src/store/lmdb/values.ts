/** Small values: delivery counts, times, and empty values of keys without one. Those of version 1 have no checksum. */
import { SEAL_BYTES, sealed, unsealed } from '@proj/store/lmdb-folder';

const COUNT_BYTES = 4;
const TIME_BYTES = 8;
const NOTHING = Buffer.alloc(0);
/** Size of an empty value of version 1. */
const PLAIN_NOTHING_BYTES = 1;

/** Deliveries of a message, 32 bits. */
export function encodeCount(key: Uint8Array, count: number): Buffer {
  const value = Buffer.allocUnsafe(COUNT_BYTES);
  value.writeUInt32BE(count);
  return sealed(key, value);
}

/** The inverse of {@link encodeCount}; `undefined` for other bytes. */
export function decodeCount(key: Uint8Array, value: Buffer): number | undefined {
  return contentOf(key, value, COUNT_BYTES)?.readUInt32BE();
}

/** A time in microseconds. */
export function encodeTime(key: Uint8Array, micros: number): Buffer {
  const value = Buffer.allocUnsafe(TIME_BYTES);
  value.writeDoubleBE(micros);
  return sealed(key, value);
}

/** The inverse of {@link encodeTime}; `undefined` for other bytes. */
export function decodeTime(key: Uint8Array, value: Buffer): number | undefined {
  return contentOf(key, value, TIME_BYTES)?.readDoubleBE();
}

/** The value of a key without one. */
export function encodeNothing(key: Uint8Array): Buffer {
  return sealed(key, NOTHING);
}

/** True for the value of {@link encodeNothing}. */
export function isNothing(key: Uint8Array, value: Buffer): boolean {
  return value.length === PLAIN_NOTHING_BYTES || (value.length === SEAL_BYTES && unsealed(key, value) !== undefined);
}

function contentOf(key: Uint8Array, value: Buffer, bytes: number): Buffer | undefined {
  if (value.length === bytes) return value;
  return value.length === bytes + SEAL_BYTES ? unsealed(key, value) : undefined;
}
