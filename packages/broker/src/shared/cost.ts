/** What it costs to keep a message, so that many small ones are bounded as well as a few large ones. No protocol. */

/** Charged for each request and each frame on top of their bytes: the memory of objects and buffers. */
const REQUEST_OVERHEAD_BYTES = 512;
const FRAME_OVERHEAD_BYTES = 128;

/** Memory of one entry in a table with all that belongs to it: a client, a service with its queue, or a registered worker. */
export const ENTRY_BYTES = 2048;

/** The cost of keeping these frames, in bytes. */
export function frameCost(frames: readonly Uint8Array[]): number {
  let cost = frames.length * FRAME_OVERHEAD_BYTES;
  for (const frame of frames) cost += frame.length;
  return cost;
}

/** The cost of keeping a request with these frames, in bytes. */
export function requestCost(frames: readonly Uint8Array[]): number {
  return REQUEST_OVERHEAD_BYTES + frameCost(frames);
}
