/** Z85 (RFC 32): keys as printable text, five characters per four bytes. */
import { ProjError } from '../errors.js';

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';
const BASE = 85;
const WORD_MAX = 0xffff_ffff;

/** The text of bytes whose length is a multiple of 4. Throws `OPTIONS_INVALID`. */
export function encodeZ85(bytes: Uint8Array): string {
  if (bytes.length % 4 !== 0)
    throw new ProjError('OPTIONS_INVALID', `${bytes.length} bytes: Z85 needs a multiple of 4`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = '';
  for (let offset = 0; offset < bytes.length; offset += 4) {
    const word = view.getUint32(offset);
    for (let divisor = BASE ** 4; divisor >= 1; divisor /= BASE)
      text += ALPHABET.charAt(Math.floor(word / divisor) % BASE);
  }
  return text;
}

/** The bytes of a text; `undefined` if it is not Z85. */
export function decodeZ85(text: string): Uint8Array | undefined {
  if (text.length % 5 !== 0) return undefined;
  const bytes = new Uint8Array((text.length / 5) * 4);
  const view = new DataView(bytes.buffer);
  for (let offset = 0; offset < text.length; offset += 5) {
    let word = 0;
    for (const character of text.slice(offset, offset + 5)) {
      const digit = ALPHABET.indexOf(character);
      if (digit < 0) return undefined;
      word = word * BASE + digit;
    }
    if (word > WORD_MAX) return undefined;
    view.setUint32((offset / 5) * 4, word);
  }
  return bytes;
}

const KEY_CHARACTERS = 40;

/** A CURVE key, 32 bytes, from its 40 characters; `undefined` for anything else. */
export function decodeCurveKey(text: string): Uint8Array | undefined {
  return text.length === KEY_CHARACTERS ? decodeZ85(text) : undefined;
}
