/** Frames for whoever keeps them: what `compact` of `@proj/frames` is to engines, which sockets do not know. */

/**
 * The same frames; those that are a part of memory more than twice as large are copied out of it. What is passed on at once is better left
 * where it came.
 */
export function compacted(frames: readonly Uint8Array[]): readonly Uint8Array[] {
  return frames.some(isLoose) ? frames.map((frame) => (isLoose(frame) ? new Uint8Array(frame) : frame)) : frames;
}

function isLoose({ buffer, length }: Uint8Array): boolean {
  return buffer.byteLength > 2 * length;
}
