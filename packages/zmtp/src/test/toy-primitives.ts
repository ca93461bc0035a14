/** Primitives without any secrecy: fast, worthless, and deterministic. For tests that need many handshakes. */
import type { KeyPair, Primitives } from '../engine/mechanisms/primitives.js';

const TEXT_AT = 32;
const TAG_AT = 16;
const TAG_BYTES = 16;

/** A pair whose public key begins with these bytes. It agrees with another pair on the sum of both. */
export function toyPair(...start: readonly number[]): KeyPair {
  const publicKey = new Uint8Array(32);
  publicKey.set(start);
  return { publicKey, agree: (theirs) => publicKey.map((byte, index) => byte + (theirs[index] ?? 0)) };
}

/** Deterministic keys, cookies and nonces. Make a new one for each connection. */
export function toyPrimitives(): Primitives {
  let count = 0;
  return {
    random: (bytes) => new Uint8Array(bytes).fill(++count),
    newPair: () => toyPair(++count, 0xaa),
    seal(key, nonce, space) {
      space.set(tag(key, nonce, space.subarray(TEXT_AT)), TAG_AT);
    },
    open(key, nonce, box) {
      const text = box.slice(TAG_BYTES);
      const expected = tag(key, nonce, text);
      return expected.every((byte, index) => byte === box[index]) ? text : undefined;
    },
    slices(key, nonce) {
      let text: Uint8Array = new Uint8Array(0);
      let free = TEXT_AT;
      return {
        next(slice) {
          text = Buffer.concat([text, slice.subarray(free)]);
          free = 0;
        },
        tag: () => tag(key, nonce, text),
      };
    },
    equal: (one, other) => one.length === other.length && one.every((byte, index) => byte === other[index]),
  };
}

/** A sum over all bytes that depends on their positions. */
function tag(key: Uint8Array, nonce: Uint8Array, text: Uint8Array): Uint8Array {
  let sum = 1;
  for (const bytes of [key, nonce, text])
    for (let index = 0; index < bytes.length; index++) sum = (Math.imul(sum, 31) + (bytes[index] as number)) | 0;
  const result = new Uint8Array(TAG_BYTES);
  new DataView(result.buffer).setInt32(0, sum);
  return result;
}
