/** Bytes and text without a platform. */

/** Makes memory for received frames; the bytes need not be zero, for all of them are written before anybody sees them. */
export type Allocate = (bytes: number) => Uint8Array;

/** Memory that is used again. */
export interface Reuse {
  /** For a received body of `whole` bytes, and for nothing else: for all of it where that costs nothing, else for so many. */
  lend(bytes: number, whole: number): Uint8Array;
  /** Nobody reads or writes this received chunk any more, nor any part of it. */
  reclaim(chunk: Uint8Array): void;
  /** Nobody reads or writes these frames any more: what was lent for them is free at once. */
  discard(frames: readonly Uint8Array[]): void;
}

/** The bytes as text, one character per byte. */
export function latin1(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

/** Latin1 bytes of a text; for the literals of the protocol, which are ASCII. */
export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** All parts in one new array. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
