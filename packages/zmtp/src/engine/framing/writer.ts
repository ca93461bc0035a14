/** Encodes messages for a connection: small frames are copied into one buffer, large bodies passed by reference. */
import type { Allocate } from './bytes.js';
import { LONG_HEADER, MORE, SHORT_HEADER, SHORT_MAX, writeHeader } from './flags.js';

/** Bodies of at least this size are passed by reference: copying would cost more than another part of the write. */
export const REFERENCE_BYTES = 8192;

/**
 * The bytes of these messages, in as few parts as possible. Bodies of at least 8 KiB are the given arrays: do not change them until the parts
 * are written. `allocateOnly` is for output of one part.
 */
export function encodeMessages(
  messages: readonly (readonly Uint8Array[])[],
  allocate: Allocate,
  allocateOnly = allocate,
): Uint8Array[] {
  const { copied, isOnePart } = measure(messages);
  const buffer = isOnePart ? allocateOnly(copied) : allocate(copied);
  const parts: Uint8Array[] = [];
  let from = 0;
  let at = 0;
  for (const frames of messages) {
    const last = frames.length - 1;
    for (let index = 0; index <= last; index++) {
      const frame = frames[index] as Uint8Array;
      at = writeHeader(buffer, at, index < last ? MORE : 0, frame.length);
      if (frame.length >= REFERENCE_BYTES) {
        parts.push(buffer.subarray(from, at), frame);
        from = at;
      } else if (frame.length > 0) {
        buffer.set(frame, at);
        at += frame.length;
      }
    }
  }
  if (at > from) parts.push(from === 0 ? buffer : buffer.subarray(from));
  return parts;
}

function measure(messages: readonly (readonly Uint8Array[])[]): { copied: number; isOnePart: boolean } {
  let copied = 0;
  let isOnePart = true;
  for (const frames of messages) {
    for (const { length } of frames) {
      copied += length > SHORT_MAX ? LONG_HEADER : SHORT_HEADER;
      if (length < REFERENCE_BYTES) copied += length;
      else isOnePart = false;
    }
  }
  return { copied, isOnePart };
}
