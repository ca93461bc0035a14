/**
 * Frames for outgoing messages, cut from larger pieces of memory: a separate piece for each small frame costs a broker a tenth of its time,
 * because V8 places it on its heap, where no socket can read it. Do not modify them.
 */
import { fromLatin1, putLatin1 } from './bytes.js';

const SLAB_BYTES = 16_384;
/** Longer texts get memory of their own. */
const SHARED_MAX = 1024;
/** Up to this many characters, the call out of the language costs more than the copy. */
const SHORT_MAX = 32;

const toUtf8 = new TextEncoder();

/** Frames that live about as long as each other: a piece is freed with the last of its frames. */
export class Slab {
  #memory = new Uint8Array(SLAB_BYTES);
  #used = 0;

  /** The text as UTF-8. */
  writeUtf8(text: string): Uint8Array {
    if (text.length > SHARED_MAX) return toUtf8.encode(text);
    if (text.length <= SHORT_MAX) {
      this.#reserve(text.length);
      if (this.#putAscii(text)) return this.#cut(text.length);
    }
    for (;;) {
      const { read, written } = toUtf8.encodeInto(text, this.#memory.subarray(this.#used));
      if (read === text.length) return this.#cut(written);
      this.#renew();
    }
  }

  /** The text, one byte per character. Throws a `RangeError` as `fromLatin1` does. */
  writeLatin1(text: string): Uint8Array {
    if (text.length > SHARED_MAX) return fromLatin1(text);
    this.#reserve(text.length);
    putLatin1(text, this.#memory, this.#used);
    return this.#cut(text.length);
  }

  /** False, with memory half written, when the text is not ASCII. Most short texts are. */
  #putAscii(text: string): boolean {
    const memory = this.#memory;
    let at = this.#used;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      memory[at++] = code;
    }
    return true;
  }

  #reserve(bytes: number): void {
    if (this.#used + bytes > SLAB_BYTES) this.#renew();
  }

  #renew(): void {
    this.#memory = new Uint8Array(SLAB_BYTES);
    this.#used = 0;
  }

  /** A view by its place: `subarray` would first look up the class of the frame. */
  #cut(bytes: number): Uint8Array {
    const frame = new Uint8Array(this.#memory.buffer, this.#used, bytes);
    this.#used += bytes;
    return frame;
  }
}

const shared = new Slab();

/** The text as UTF-8, in memory shared with other frames that are about to be sent. */
export function writeUtf8(text: string): Uint8Array {
  return shared.writeUtf8(text);
}

/** The text, one byte per character, likewise. Throws a `RangeError` as `fromLatin1` does. */
export function writeLatin1(text: string): Uint8Array {
  return shared.writeLatin1(text);
}
