/** Boxes in JavaScript, from `@noble/ciphers`. Available at once, and without WebAssembly. */
import { poly1305 } from '@noble/ciphers/_poly1305.js';
import { xsalsa20, xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import { BLOCK_BYTES, KEY_BYTES } from '../engine/mechanisms/primitives.js';
import type { SlicedBox } from '../engine/mechanisms/primitives.js';
import type { Boxes } from './boxes.js';

/** Scratch bytes that opening needs. */
const OPEN_SCRATCH_BYTES = 32;
/** Free bytes in front of the opened text. */
const OPENED_AT = 48;
/** The first bytes of the key stream, which encrypt no text. */
const FREE_BYTES = 32;

/** See {@link Boxes}. */
export const nobleBoxes: Boxes = {
  seal(key, nonce, space) {
    xsalsa20poly1305(key, nonce).encrypt(space.subarray(OPEN_SCRATCH_BYTES), space);
  },
  open(key, nonce, box) {
    const space = Buffer.allocUnsafe(box.length + OPEN_SCRATCH_BYTES);
    try {
      xsalsa20poly1305(key, nonce).decrypt(box, space);
    } catch {
      return undefined;
    }
    return space.subarray(OPENED_AT);
  },
  slices: (key, nonce, way) => new NobleBox(Uint8Array.from(key), Uint8Array.from(nonce), way === 'open'),
};

class NobleBox implements SlicedBox {
  readonly #key: Uint8Array;
  readonly #nonce: Uint8Array;
  readonly #isOpened: boolean;
  readonly #mac: ReturnType<typeof poly1305.create>;
  #block = 0;

  constructor(key: Uint8Array, nonce: Uint8Array, isOpened: boolean) {
    this.#key = key;
    this.#nonce = nonce;
    this.#isOpened = isOpened;
    this.#mac = poly1305.create(xsalsa20(key, nonce, new Uint8Array(KEY_BYTES)));
  }

  next(slice: Uint8Array): void {
    const text = this.#block === 0 ? slice.subarray(FREE_BYTES) : slice;
    if (this.#isOpened) this.#mac.update(text);
    xsalsa20(this.#key, this.#nonce, slice, slice, this.#block);
    // If these bytes were zero, they now hold the authenticator's key: erase them.
    if (this.#block === 0) slice.fill(0, 0, FREE_BYTES);
    if (!this.#isOpened) this.#mac.update(text);
    this.#block += Math.ceil(slice.length / BLOCK_BYTES);
  }

  tag(): Uint8Array {
    return this.#mac.digest();
  }
}
