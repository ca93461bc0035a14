/** Who still needs the memory of a long body: docs/adr/0016-long-bodies-are-given-back.md. */
import { allocate, allocateLong, free, keep, LONG_BYTES } from './memory.js';

interface Loan {
  /** Messages with this body that are on their way out. */
  writes: number;
  /** Nobody else needs it any more. */
  over: boolean;
}

/** By the memory of the body. What nobody gives back is collected with its body. */
const loans = new WeakMap<ArrayBufferLike, Loan>();

/** Memory for a body, and for nothing else: for all of its `whole` bytes if some lies spare, else for so many. */
export function lend(bytes: number, whole: number): Uint8Array {
  if (bytes < LONG_BYTES) return allocate(bytes);
  const body = allocateLong(whole, bytes);
  loans.set(body.buffer, { writes: 0, over: false });
  return body;
}

/** A message with this body is on its way out. */
export function beginWrite({ buffer }: Uint8Array): void {
  const loan = loans.get(buffer);
  if (loan !== undefined) loan.writes++;
}

/** It has been written; never said when that is not certain, as after a connection was cut. */
export function endWrite({ buffer }: Uint8Array): void {
  const loan = loans.get(buffer);
  if (loan === undefined) return;
  loan.writes--;
  endIfOver(buffer, loan);
}

/** Nobody reads these frames any more, but for what {@link beginWrite} was told of. Does nothing with what was not lent. */
export function giveBack(frames: readonly Uint8Array[]): void {
  for (const { buffer, length } of frames) {
    const loan = length < LONG_BYTES ? undefined : loans.get(buffer);
    if (loan === undefined) continue;
    loan.over = true;
    endIfOver(buffer, loan);
  }
}

/** Nobody will ever read or write these frames: what was lent for them is free at once. Does nothing with what was not lent. */
export function discard(frames: readonly Uint8Array[]): void {
  for (const { buffer } of frames) if (loans.delete(buffer)) free(buffer as ArrayBuffer);
}

/** The memory moves: whoever still has the body, against the rules, has an empty one from now on, and never somebody else's. */
function endIfOver(buffer: ArrayBufferLike, { writes, over }: Loan): void {
  if (!over || writes > 0) return;
  loans.delete(buffer);
  keep(structuredClone(buffer as ArrayBuffer, { transfer: [buffer as ArrayBuffer] }));
}
