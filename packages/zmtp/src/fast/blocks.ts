/**
 * Replaces Node's pool: small pieces of memory are cut from our own blocks, without the checks and the class of `Buffer`. Saves: `zmtp-fast`,
 * row "blocks". Without it, all memory comes from `Buffer.allocUnsafe`.
 */
import { LONG_BYTES, takeChunk } from './spares.js';

/** The most memory that one kept piece can hold on to. */
const BLOCK_BYTES = 8192;
const NOTHING = new Uint8Array(0);

let block = new ArrayBuffer(0);
let used = BLOCK_BYTES;

/** Uninitialized memory of the given size. */
export function allocate(bytes: number): Uint8Array {
  if (bytes === 0) return NOTHING;
  if (bytes >= LONG_BYTES) return takeChunk(bytes);
  if (bytes > BLOCK_BYTES / 2) return Buffer.allocUnsafeSlow(bytes);
  if (used + bytes > BLOCK_BYTES) {
    block = new ArrayBuffer(BLOCK_BYTES);
    used = 0;
  }
  const memory = new Uint8Array(block, used, bytes);
  used += bytes;
  return memory;
}
