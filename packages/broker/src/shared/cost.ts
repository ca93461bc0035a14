/** What keeping a message costs, so that many small ones are bounded as well as few large ones. No protocol. */

/** Charged for each request and each frame on top of their bytes: what objects and buffers occupy. */
const REQUEST_OVERHEAD_BYTES = 512;
const FRAME_OVERHEAD_BYTES = 128;

/** What a row of a table occupies, such as a client, a service with its queue, or a registered worker, with all that hangs on it. */
export const ENTRY_BYTES = 2048;

/** What keeping these frames costs, in bytes. */
export function frameCost(frames: readonly Uint8Array[]): number {
  let cost = frames.length * FRAME_OVERHEAD_BYTES;
  for (const frame of frames) cost += frame.length;
  return cost;
}

/** What keeping a request with these frames costs, in bytes. */
export function requestCost(frames: readonly Uint8Array[]): number {
  return REQUEST_OVERHEAD_BYTES + frameCost(frames);
}
