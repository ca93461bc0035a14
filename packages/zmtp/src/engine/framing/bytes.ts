/** Bytes and text, independent of the platform. */

/** Allocates memory for received frames. It need not be zeroed: every byte is written before it is read. */
export type Allocate = (bytes: number) => Uint8Array;

/** Reusable memory. */
export interface Reuse {
  /** Memory for a received body of `whole` bytes: all of it if spare memory is so large, otherwise `bytes`, which are new. */
  lend(bytes: number, whole: number): Uint8Array;
  /** The lent memory, made longer in place; `undefined` if that is not possible. */
  readonly grow?: (body: Uint8Array, bytes: number) => Uint8Array | undefined;
  /** The memory for a frame that is about to wait for a slow peer. Absent: it stays where it is. */
  readonly settle?: (frame: Uint8Array) => Uint8Array;
  /** Nobody uses this received chunk, or any part of it, any more. */
  reclaim(chunk: Uint8Array): void;
  /** Nobody uses these frames any more: memory lent for them is free at once. */
  discard(frames: readonly Uint8Array[]): void;
}

/** Latin-1: one character per byte. */
export function latin1(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

/** The Latin-1 bytes of a text. For the protocol's literals, which are ASCII. */
export function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
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
