/**
 * Boxes in WebAssembly, of libsodium. Replaces those of `@noble/ciphers`. Saves: `zmtp-boxes`, all rows (docs/adr/0025-boxes-in-webassembly.md).
 * Without it, where there is no WebAssembly, and until it is loaded, `@noble/ciphers` makes them.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Sodium } from 'libsodium-sumo';
import { BLOCK_BYTES, KEY_BYTES, NONCE_BYTES, TAG_BYTES } from '../engine/primitives.js';
import type { SlicedBox } from '../engine/primitives.js';
import type { Boxes } from './boxes.js';

/** So much is in the module at a time, in whole blocks: little enough for a cache, and its memory never grows. */
const WINDOW_BYTES = 2 ** 16;
const FREE_BYTES = 32;
/** Where the text of a box begins in its space, less the authenticator. */
const BOX_AT = FREE_BYTES - TAG_BYTES;
const TWO_TO_32 = 2 ** 32;

/** Resolves to the boxes of libsodium, or to `undefined` where there is no WebAssembly. */
export async function loadSodium(): Promise<Boxes | undefined> {
  try {
    const { default: create } = await import('libsodium-sumo');
    return sodiumBoxes(await create());
  } catch {
    return undefined;
  }
}

function sodiumBoxes(sodium: Sodium): Boxes {
  const window = sodium._malloc(WINDOW_BYTES);
  const keyAt = sodium._malloc(KEY_BYTES);
  const nonceAt = sodium._malloc(NONCE_BYTES);
  const tagAt = sodium._malloc(TAG_BYTES);
  const stateBytes = sodium._crypto_onetimeauth_statebytes();
  const stateAt = sodium._malloc(stateBytes);

  /** A box whose state is in the module only while a slice is worked on. */
  class SodiumBox implements SlicedBox {
    readonly #key: Uint8Array;
    readonly #nonce: Uint8Array;
    readonly #isOpened: boolean;
    readonly #state: Uint8Array;
    #block = 0;

    constructor(key: Uint8Array, nonce: Uint8Array, isOpened: boolean) {
      this.#key = Uint8Array.from(key);
      this.#nonce = Uint8Array.from(nonce);
      this.#isOpened = isOpened;
      const memory = this.#enter();
      memory.fill(0, window, window + FREE_BYTES);
      sodium._crypto_stream_xsalsa20_xor_ic(window, window, FREE_BYTES, 0, nonceAt, 0, 0, keyAt);
      sodium._crypto_onetimeauth_init(stateAt, window);
      this.#state = memory.slice(stateAt, stateAt + stateBytes);
    }

    next(slice: Uint8Array): void {
      const memory = this.#enter();
      memory.set(this.#state, stateAt);
      for (let at = 0; at < slice.length; at += WINDOW_BYTES) {
        const piece = slice.subarray(at, at + WINDOW_BYTES);
        memory.set(piece, window);
        this.#cipher(piece.length);
        piece.set(memory.subarray(window, window + piece.length));
      }
      this.#state.set(memory.subarray(stateAt, stateAt + stateBytes));
    }

    tag(): Uint8Array {
      const memory = sodium.HEAPU8;
      memory.set(this.#state, stateAt);
      sodium._crypto_onetimeauth_final(stateAt, tagAt);
      return memory.slice(tagAt, tagAt + TAG_BYTES);
    }

    #enter(): Uint8Array {
      const memory = sodium.HEAPU8;
      memory.set(this.#key, keyAt);
      memory.set(this.#nonce, nonceAt);
      return memory;
    }

    /** What is in the window. */
    #cipher(bytes: number): void {
      const free = this.#block === 0 ? FREE_BYTES : 0;
      const [text, length] = [window + free, bytes - free];
      if (this.#isOpened) sodium._crypto_onetimeauth_update(stateAt, text, length, 0);
      const [low, high] = [this.#block % TWO_TO_32, Math.floor(this.#block / TWO_TO_32)];
      sodium._crypto_stream_xsalsa20_xor_ic(window, window, bytes, 0, nonceAt, low, high, keyAt);
      if (free > 0) sodium.HEAPU8.fill(0, window, window + free);
      if (!this.#isOpened) sodium._crypto_onetimeauth_update(stateAt, text, length, 0);
      this.#block += Math.ceil(bytes / BLOCK_BYTES);
    }
  }

  const slices: Boxes['slices'] = (key, nonce, way) => new SodiumBox(key, nonce, way === 'open');

  return {
    slices,
    seal(key, nonce, space) {
      const bytes = space.length - FREE_BYTES;
      if (bytes + TAG_BYTES > WINDOW_BYTES) {
        const box = slices(key, nonce, 'seal');
        box.next(space);
        space.set(box.tag(), BOX_AT);
        return;
      }
      const memory = sodium.HEAPU8;
      memory.set(key, keyAt);
      memory.set(nonce, nonceAt);
      memory.set(space.subarray(FREE_BYTES), window + TAG_BYTES);
      sodium._crypto_secretbox_easy(window, window + TAG_BYTES, bytes, 0, nonceAt, keyAt);
      space.set(memory.subarray(window, window + TAG_BYTES + bytes), BOX_AT);
    },
    open(key, nonce, box) {
      if (box.length > WINDOW_BYTES) return openLong(slices(key, nonce, 'open'), box);
      const memory = sodium.HEAPU8;
      memory.set(key, keyAt);
      memory.set(nonce, nonceAt);
      memory.set(box, window);
      const text = window + TAG_BYTES;
      if (sodium._crypto_secretbox_open_easy(text, window, box.length, 0, nonceAt, keyAt) !== 0) return undefined;
      const opened = Buffer.allocUnsafe(box.length - TAG_BYTES);
      opened.set(memory.subarray(text, text + opened.length));
      return opened;
    },
  };
}

function openLong(box: SlicedBox, from: Uint8Array): Uint8Array | undefined {
  const space = Buffer.allocUnsafe(BOX_AT + from.length);
  space.set(from, BOX_AT);
  box.next(space);
  return timingSafeEqual(box.tag(), from.subarray(0, TAG_BYTES)) ? space.subarray(FREE_BYTES) : undefined;
}
