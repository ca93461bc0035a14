/**
 * Tracks who still uses the memory of a long body, so that it can be reused (spares.ts). Replaces garbage collection of bodies. Saves:
 * `zmtp-fast`, row "spares". Without it, nothing is lent, and the other functions here do nothing.
 */
import { isMapped } from '@proj/transport/adapter';
import { allocate, free, keep, LONG_BYTES, move, takeLong, takeMapped } from './spares.js';

interface Loan {
  /** Number of messages with this body being sent. */
  writes: number;
  /** Nobody else uses it. */
  over: boolean;
}

/** Keyed by the body's memory. A body that is never returned is garbage-collected. */
const loans = new WeakMap<ArrayBufferLike, Loan>();

/** Memory for one body: all of its `whole` bytes if that much is spare, otherwise `bytes`. */
export function lend(bytes: number, whole: number): Uint8Array {
  return bytes < LONG_BYTES ? allocate(bytes) : lent(takeLong(whole, bytes));
}

/** As {@link lend}, for bodies that may be kept for long: what they leave behind is no part of the process. */
export function lendMapped(bytes: number, whole: number): Uint8Array {
  return bytes < LONG_BYTES ? allocate(bytes) : lent(takeMapped(whole, bytes));
}

/** The copies that {@link mapped} made, by frame. */
const copies = new WeakMap<Uint8Array, Uint8Array>();

/** Copies a long frame that will wait into a mapping of its own, once for all who wait for it. Returns any other frame as it is. */
export function mapped(frame: Uint8Array): Uint8Array {
  if (frame.length < LONG_BYTES || isMapped(frame.buffer)) return frame;
  let copy = copies.get(frame);
  if (copy === undefined) {
    copy = takeMapped(frame.length, frame.length);
    copy.set(frame);
    copies.set(frame, copy);
  }
  return copy;
}

function lent(body: Uint8Array): Uint8Array {
  loans.set(body.buffer, { writes: 0, over: false });
  return body;
}

/** A message with this body is being sent. */
export function beginWrite({ buffer }: Uint8Array): void {
  const loan = loans.get(buffer);
  if (loan !== undefined) loan.writes++;
}

/** The write has finished. Call it only if that is certain: not after a connection was cut. */
export function endWrite({ buffer }: Uint8Array): void {
  const loan = loans.get(buffer);
  if (loan === undefined) return;
  loan.writes--;
  endIfOver(buffer, loan);
}

/** Nobody reads these frames any more, except writes announced by {@link beginWrite}. Ignores frames that were not lent. */
export function giveBack(frames: readonly Uint8Array[]): void {
  for (const { buffer, length } of frames) {
    const loan = length < LONG_BYTES ? undefined : loans.get(buffer);
    if (loan === undefined) continue;
    loan.over = true;
    endIfOver(buffer, loan);
  }
}

/** Nobody uses these frames any more: frees the memory lent for them at once. Ignores frames that were not lent. */
export function discard(frames: readonly Uint8Array[]): void {
  for (const { buffer } of frames) if (loans.delete(buffer)) free(buffer as ArrayBuffer);
}

/** Moves the memory. Code that wrongly kept the body finds it empty, never with another peer's bytes. */
function endIfOver(buffer: ArrayBufferLike, { writes, over }: Loan): void {
  if (!over || writes > 0) return;
  loans.delete(buffer);
  keep(move(buffer as ArrayBuffer));
}
