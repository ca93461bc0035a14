/** Checksums of values and their keys. CRC-32 detects broken disks, not forgery. */
import { crc32 } from 'node:zlib';

/** Bytes of a checksum after a value. */
export const SEAL_BYTES = 4;

/** Writes the checksum of key and value after the value; returns where it ends. */
export function seal(memory: Buffer, from: number, end: number, key: Uint8Array): number {
  return memory.writeUInt32BE(crc32(memory.subarray(from, end), crc32(key)), end);
}

/** The same for a value right behind its key, which begins at `keyFrom`. Faster: one checksum instead of two. */
export function sealBehindKey(memory: Buffer, keyFrom: number, end: number): number {
  return memory.writeUInt32BE(crc32(memory.subarray(keyFrom, end)), end);
}

/** A copy of a value with its checksum. */
export function sealed(key: Uint8Array, value: Uint8Array): Buffer {
  const memory = Buffer.allocUnsafeSlow(value.length + SEAL_BYTES);
  memory.set(value);
  seal(memory, 0, value.length, key);
  return memory;
}

/** The value without its checksum; `undefined` if that does not match value and key. */
export function unsealed(key: Uint8Array, memory: Buffer): Buffer | undefined {
  const end = memory.length - SEAL_BYTES;
  if (end < 0) return undefined;
  const value = memory.subarray(0, end);
  return crc32(value, crc32(key)) === memory.readUInt32BE(end) ? value : undefined;
}
