/**
 * Frames for outgoing messages, cut from larger pieces of memory: a separate piece for each small frame costs a broker a tenth of its time,
 * because V8 places it on its heap, where no socket can read it. Do not modify them.
 */
import { fromLatin1, putLatin1 } from './bytes.js';

const SLAB_BYTES = 16_384;
const SHARED_MAX_BYTES = 1024;

const toUtf8 = new TextEncoder();
let slab = new Uint8Array(SLAB_BYTES);
let used = 0;

/** The text as UTF-8. */
export function writeUtf8(text: string): Uint8Array {
  const most = text.length * 3;
  if (most > SHARED_MAX_BYTES) return toUtf8.encode(text);
  reserve(most);
  return cut(putAscii(text) ? text.length : toUtf8.encodeInto(text, slab.subarray(used)).written);
}

/** The text, one byte per character. Throws a `RangeError` as `fromLatin1` does. */
export function writeLatin1(text: string): Uint8Array {
  if (text.length > SHARED_MAX_BYTES) return fromLatin1(text);
  reserve(text.length);
  putLatin1(text, slab, used);
  return cut(text.length);
}

/** False, with memory half written, when the text is not ASCII. Most short texts are, and the call out of the language costs more than the copy. */
function putAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) return false;
    slab[used + i] = code;
  }
  return true;
}

function reserve(bytes: number): void {
  if (used + bytes <= SLAB_BYTES) return;
  slab = new Uint8Array(SLAB_BYTES);
  used = 0;
}

/** A view by its place: `subarray` would first look up the class of the frame. */
function cut(bytes: number): Uint8Array {
  const frame = new Uint8Array(slab.buffer, used, bytes);
  used += bytes;
  return frame;
}
