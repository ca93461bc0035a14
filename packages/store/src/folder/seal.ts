/** Checksums: what is read back is what was written, under the same key. CRC-32, as no stranger but a broken disk is to be told. */
import { crc32 } from 'node:zlib';

/** What a seal takes behind a value. */
export const SEAL_BYTES = 4;

/** Writes the checksum of key and value behind the value; returns where that ends. */
export function seal(memory: Buffer, from: number, end: number, key: Uint8Array): number {
  return memory.writeUInt32BE(crc32(memory.subarray(from, end), crc32(key)), end);
}

/** A value with its seal, in memory of its own. */
export function sealed(key: Uint8Array, value: Uint8Array): Buffer {
  const memory = Buffer.allocUnsafeSlow(value.length + SEAL_BYTES);
  memory.set(value);
  seal(memory, 0, value.length, key);
  return memory;
}

/** The value without its seal; `undefined` where it is not the one that was sealed under this key. */
export function unsealed(key: Uint8Array, memory: Buffer): Buffer | undefined {
  const end = memory.length - SEAL_BYTES;
  if (end < 0) return undefined;
  const value = memory.subarray(0, end);
  return crc32(value, crc32(key)) === memory.readUInt32BE(end) ? value : undefined;
}
