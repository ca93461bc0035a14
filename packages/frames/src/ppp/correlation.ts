/**
 * A dispatcher's correlation ids. 6/PPP leaves the address stack to the sender; a dispatcher has no client address to put there, so it uses a
 * number, which the worker returns.
 */
import { CORRELATION_BYTES } from './wire.js';

const LOW = 2 ** 32;

/** The address frame of a number: 8 bytes, big-endian. Throws a `RangeError` unless it is a non-negative safe integer. */
export function encodePppCorrelation(id: number): Uint8Array {
  if (!Number.isSafeInteger(id) || id < 0) throw new RangeError(`correlation id ${id}: not a safe integer from 0 up`);
  const frame = new Uint8Array(CORRELATION_BYTES);
  const view = new DataView(frame.buffer);
  view.setUint32(0, Math.floor(id / LOW));
  view.setUint32(4, id % LOW);
  return frame;
}

/** The number in an address frame, or `undefined` for a frame that {@link encodePppCorrelation} never made. */
export function decodePppCorrelation(frame: Uint8Array): number | undefined {
  if (frame.length !== CORRELATION_BYTES) return undefined;
  const view = new DataView(frame.buffer, frame.byteOffset, CORRELATION_BYTES);
  const id = view.getUint32(0) * LOW + view.getUint32(4);
  return Number.isSafeInteger(id) ? id : undefined;
}
