/** A body packed into one piece of memory: number of frames, their lengths, the frames. Numbers are 32-bit big-endian. */
import type { Body } from './store.js';

const COUNT_BYTES = 4;
const EMPTY = new Uint8Array(0);
/** Frames whose objects are part of a message's own memory. */
const FRAMES_INCLUDED = 8;
/** Memory of each other frame besides its bytes. */
const FRAME_OVERHEAD_BYTES = 128;

/** Bytes of all frames. */
export function bytesOfBody(body: Body): number {
  return body.reduce((sum, { length }) => sum + length, 0);
}

/** Memory of the frames: a thousand empty ones have no bytes, but a thousand objects. */
export function memoryOfBody(body: Body, bytes: number): number {
  return memoryOfFrames(body.length, bytes);
}

/** As {@link memoryOfBody}, for so many frames of so many bytes together. */
export function memoryOfFrames(count: number, bytes: number): number {
  return bytes + FRAME_OVERHEAD_BYTES * Math.max(0, count - FRAMES_INCLUDED);
}

/** Writes a body; returns its end offset. */
export function packBody(memory: Buffer, from: number, body: Body): number {
  let lengthAt = memory.writeUInt32BE(body.length, from);
  let at = lengthAt + COUNT_BYTES * body.length;
  for (const frame of body) {
    lengthAt = memory.writeUInt32BE(frame.length, lengthAt);
    if (frame.length > 0) memory.set(frame, at);
    at += frame.length;
  }
  return at;
}

/** Bytes that {@link packBody} writes. */
export function packedSize(body: Body): number {
  return COUNT_BYTES * (1 + body.length) + bytesOfBody(body);
}

/** The frames of the packed body at `from`, as views; `undefined` for other bytes. */
export function unpackBody(memory: Buffer, from: number): Body | undefined {
  if (packedBytes(memory, from) === undefined) return undefined;
  const lengthsEnd = from + COUNT_BYTES * (1 + memory.readUInt32BE(from));
  const body: Uint8Array[] = [];
  let at = lengthsEnd;
  for (let lengthAt = from + COUNT_BYTES; lengthAt < lengthsEnd; lengthAt += COUNT_BYTES) {
    const length = memory.readUInt32BE(lengthAt);
    body.push(length === 0 ? EMPTY : memory.subarray(at, at + length));
    at += length;
  }
  return body;
}

/** Bytes of the frames of a packed body; `undefined` if the lengths are invalid. */
export function packedBytes(memory: Buffer, from: number): number | undefined {
  if (memory.length < from + COUNT_BYTES) return undefined;
  const count = memory.readUInt32BE(from);
  const bytes = memory.length - from - COUNT_BYTES * (1 + count);
  if (count === 0 || bytes < 0) return undefined;
  let sum = 0;
  for (let index = 1; index <= count; index++) sum += memory.readUInt32BE(from + COUNT_BYTES * index);
  return sum === bytes ? bytes : undefined;
}
