/**
 * Knows who still uses the memory of a long body, so that it can be kept for the next one (spares.ts). Replaces garbage collection of bodies.
 * Saves: `zmtp-fast`, row "spares". Without it, nothing is lent, and the other functions here find nothing to do.
 */
import { allocate } from './blocks.js';
import { free, keep, LONG_BYTES, takeLong, takeMapped } from './spares.js';

interface Loan {
  /** Messages with this body that are being sent. */
  writes: number;
  /** Nobody else uses it. */
  over: boolean;
}

/** By the memory of the body. A body that is never given back is garbage-collected. */
const loans = new WeakMap<ArrayBufferLike, Loan>();

/** Memory for one body: for all of its `whole` bytes if that much is spare, else for `bytes`. */
export function lend(bytes: number, whole: number): Uint8Array {
  return bytes < LONG_BYTES ? allocate(bytes) : lent(takeLong(whole, bytes));
}

/** As {@link lend}, for bodies that may be kept for long: what they leave behind is no part of the process. */
export function lendMapped(bytes: number, whole: number): Uint8Array {
  return bytes < LONG_BYTES ? allocate(bytes) : lent(takeMapped(whole, bytes));
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

/** It was written. Not called unless that is certain: after a connection was cut it is not. */
export function endWrite({ buffer }: Uint8Array): void {
  const loan = loans.get(buffer);
  if (loan === undefined) return;
  loan.writes--;
  endIfOver(buffer, loan);
}

/** Nobody reads these frames any more, except writes that {@link beginWrite} announced. Ignores what was not lent. */
export function giveBack(frames: readonly Uint8Array[]): void {
  for (const { buffer, length } of frames) {
    const loan = length < LONG_BYTES ? undefined : loans.get(buffer);
    if (loan === undefined) continue;
    loan.over = true;
    endIfOver(buffer, loan);
  }
}

/** Nobody will read or write these frames again: memory lent for them is freed at once. Ignores what was not lent. */
export function discard(frames: readonly Uint8Array[]): void {
  for (const { buffer } of frames) if (loans.delete(buffer)) free(buffer as ArrayBuffer);
}

/** The memory moves to a new buffer: whoever still has the body, against the rules, has an empty one, and never another peer's bytes. */
function endIfOver(buffer: ArrayBufferLike, { writes, over }: Loan): void {
  if (!over || writes > 0) return;
  loans.delete(buffer);
  keep(structuredClone(buffer as ArrayBuffer, { transfer: [buffer as ArrayBuffer] }));
}
