/** Memory for what is received and sent: small pieces are cut out of blocks, more cheaply than Node's pool does. */

/** So much at most is held by one who holds on to a small piece. */
const BLOCK_BYTES = 8192;

const NOTHING = new Uint8Array(0);

let block = new ArrayBuffer(0);
let used = 0;

/** So many bytes, of any content. */
export function allocate(bytes: number): Uint8Array {
  if (bytes === 0) return NOTHING;
  if (bytes > BLOCK_BYTES / 2) return Buffer.allocUnsafeSlow(bytes);
  if (used + bytes > block.byteLength) {
    block = new ArrayBuffer(BLOCK_BYTES);
    used = 0;
  }
  const memory = new Uint8Array(block, used, bytes);
  used += bytes;
  return memory;
}
