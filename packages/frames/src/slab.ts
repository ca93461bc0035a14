/**
 * Frames for outgoing messages, cut from larger pieces of memory: a separate piece for each small frame costs a broker a tenth of its time,
 * because V8 places it on its heap, where no socket can read it. Do not modify them.
 */
import { fromLatin1, putLatin1 } from './bytes.js';

const SLAB_BYTES = 16_384;
const SHARED_MAX_BYTES = 1024;

const toUtf8 = new TextEncoder();
let free = new Uint8Array(SLAB_BYTES);

/** The text as UTF-8. */
export function writeUtf8(text: string): Uint8Array {
  const most = text.length * 3;
  if (most > SHARED_MAX_BYTES) return toUtf8.encode(text);
  reserve(most);
  return cut(putAscii(text, free) ? text.length : toUtf8.encodeInto(text, free).written);
}

/** The text, one byte per character. Throws a `RangeError` as `fromLatin1` does. */
export function writeLatin1(text: string): Uint8Array {
  if (text.length > SHARED_MAX_BYTES) return fromLatin1(text);
  reserve(text.length);
  putLatin1(text, free);
  return cut(text.length);
}

/** False, with memory half written, when the text is not ASCII. Most short texts are, and the call out of the language costs more than the copy. */
function putAscii(text: string, memory: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) return false;
    memory[i] = code;
  }
  return true;
}

function reserve(bytes: number): void {
  if (free.length < bytes) free = new Uint8Array(SLAB_BYTES);
}

function cut(bytes: number): Uint8Array {
  const frame = free.subarray(0, bytes);
  free = free.subarray(bytes);
  return frame;
}
