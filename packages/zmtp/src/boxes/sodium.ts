/**
 * Boxes in WebAssembly, from libsodium. Replaces those of `@noble/ciphers`. Saves: `zmtp-boxes`, all rows
 * (docs/adr/0025-boxes-in-webassembly.md). Until it is loaded, and without WebAssembly, `@noble/ciphers` makes them.
 */
import { timingSafeEqual } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { BLOCK_BYTES, KEY_BYTES, NONCE_BYTES, TAG_BYTES } from '../engine/mechanisms/primitives.js';
import type { SlicedBox } from '../engine/mechanisms/primitives.js';
import type { Boxes } from './boxes.js';

/** Bytes in the module at a time, in whole blocks. They fit a cache, and its memory never grows. */
const WINDOW_BYTES = 2 ** 16;
const FREE_BYTES = 32;
/** Where the text of a box begins in its space, without the authenticator. */
const BOX_AT = FREE_BYTES - TAG_BYTES;
const TWO_TO_32 = 2 ** 32;

/** The exports of `sodium-module.ts`. Addresses and lengths are numbers; a 64-bit one is two numbers, the lower half first. */
interface SodiumExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  construct(): void;
  malloc(bytes: number): number;
  crypto_secretbox_easy(box: number, text: number, low: number, high: number, nonce: number, key: number): number;
  crypto_secretbox_open_easy(text: number, box: number, low: number, high: number, nonce: number, key: number): number;
  crypto_stream_xsalsa20_xor_ic(
    to: number,
    from: number,
    low: number,
    high: number,
    nonce: number,
    blockLow: number,
    blockHigh: number,
    key: number,
  ): number;
  crypto_onetimeauth_statebytes(): number;
  crypto_onetimeauth_init(state: number, key: number): number;
  crypto_onetimeauth_update(state: number, text: number, low: number, high: number): number;
  crypto_onetimeauth_final(state: number, tag: number): number;
}

/** The part of WebAssembly that we use. Some runtimes do not have it. */
interface Assembly {
  instantiate(module: Uint8Array, imports: object): Promise<{ readonly instance: { readonly exports: unknown } }>;
}

/** The module's imports: randomness and abort, for functions that were left out. */
const IMPORTS = { a: Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, refuse])) };

function refuse(): never {
  throw new Error('libsodium called a function that boxes do not need');
}

/** Resolves to libsodium's boxes, or to `undefined` without WebAssembly. */
export async function loadSodium(): Promise<Boxes | undefined> {
  try {
    const { SODIUM_MODULE } = await import('./sodium-module.js');
    const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: Assembly };
    const { instance } = await WebAssembly.instantiate(inflateRawSync(Buffer.from(SODIUM_MODULE, 'base64')), IMPORTS);
    const sodium = instance.exports as SodiumExports;
    sodium.construct();
    return sodiumBoxes(sodium);
  } catch {
    return undefined;
  }
}

function sodiumBoxes(sodium: SodiumExports): Boxes {
  const memory = new Uint8Array(sodium.memory.buffer);
  const window = sodium.malloc(WINDOW_BYTES);
  const keyAt = sodium.malloc(KEY_BYTES);
  const nonceAt = sodium.malloc(NONCE_BYTES);
  const tagAt = sodium.malloc(TAG_BYTES);
  const stateBytes = sodium.crypto_onetimeauth_statebytes();
  const stateAt = sodium.malloc(stateBytes);

  /** A box whose state is in the module only while a slice is processed. */
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
      this.#enter();
      memory.fill(0, window, window + FREE_BYTES);
      sodium.crypto_stream_xsalsa20_xor_ic(window, window, FREE_BYTES, 0, nonceAt, 0, 0, keyAt);
      sodium.crypto_onetimeauth_init(stateAt, window);
      this.#state = memory.slice(stateAt, stateAt + stateBytes);
    }

    next(slice: Uint8Array): void {
      this.#enter();
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
      memory.set(this.#state, stateAt);
      sodium.crypto_onetimeauth_final(stateAt, tagAt);
      return memory.slice(tagAt, tagAt + TAG_BYTES);
    }

    #enter(): void {
      memory.set(this.#key, keyAt);
      memory.set(this.#nonce, nonceAt);
    }

    /** The contents of the window. */
    #cipher(bytes: number): void {
      const free = this.#block === 0 ? FREE_BYTES : 0;
      const [text, length] = [window + free, bytes - free];
      if (this.#isOpened) sodium.crypto_onetimeauth_update(stateAt, text, length, 0);
      const [low, high] = [this.#block % TWO_TO_32, Math.floor(this.#block / TWO_TO_32)];
      sodium.crypto_stream_xsalsa20_xor_ic(window, window, bytes, 0, nonceAt, low, high, keyAt);
      if (free > 0) memory.fill(0, window, window + free);
      if (!this.#isOpened) sodium.crypto_onetimeauth_update(stateAt, text, length, 0);
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
      memory.set(key, keyAt);
      memory.set(nonce, nonceAt);
      memory.set(space.subarray(FREE_BYTES), window + TAG_BYTES);
      sodium.crypto_secretbox_easy(window, window + TAG_BYTES, bytes, 0, nonceAt, keyAt);
      space.set(memory.subarray(window, window + TAG_BYTES + bytes), BOX_AT);
    },
    open(key, nonce, box) {
      if (box.length > WINDOW_BYTES) return openLong(slices(key, nonce, 'open'), box);
      memory.set(key, keyAt);
      memory.set(nonce, nonceAt);
      memory.set(box, window);
      const text = window + TAG_BYTES;
      if (sodium.crypto_secretbox_open_easy(text, window, box.length, 0, nonceAt, keyAt) !== 0) return undefined;
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
