/**
 * Replaces new memory for each output with memory that all sockets share: what the kernel has taken at once leaves it free for the next output.
 * Saves: `zmtp-fast`, row "writing". Without it, outputs are garbage-collected.
 */
import { allocate, LONG_BYTES, reclaim } from './spares.js';

let shared = Buffer.allocUnsafeSlow(LONG_BYTES);
/** The last view of it: the next output often has the same size. */
let latest = shared.subarray(0, 0);

/** Memory for one output. End it with {@link returnOutput} or {@link keepOutput} before the next. */
export function lendOutput(bytes: number): Uint8Array {
  if (bytes > LONG_BYTES) return allocate(bytes);
  if (latest.length !== bytes) latest = shared.subarray(0, bytes);
  return latest;
}

/** Nobody reads this output any more. Ignores memory that was not lent. */
export function returnOutput(output: Uint8Array): void {
  if (output.length > LONG_BYTES) reclaim(output);
}

/** This output waits to be written, in memory that is its own from now on. Ignores memory that was not lent. */
export function keepOutput(output: Uint8Array): void {
  if (output.buffer !== shared.buffer) return;
  shared = Buffer.allocUnsafeSlow(LONG_BYTES);
  latest = shared.subarray(0, 0);
}
