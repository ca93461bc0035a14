/** Frames for whoever keeps them: what `compact` of `@proj/frames` is to engines, which sockets do not know. */

/**
 * The same frames; those that are a part of memory more than twice as large are copied out of it. What is passed on at once is better left
 * where it came.
 */
export function compacted(frames: readonly Uint8Array[]): readonly Uint8Array[] {
  return frames.some(isLoose) ? frames.map((frame) => (isLoose(frame) ? copyOf(frame) : frame)) : frames;
}

function isLoose({ buffer, length }: Uint8Array): boolean {
  return buffer.byteLength > 2 * length;
}

/** Of the same class: `Buffer` has a \`slice\` of its own that copies nothing. */
function copyOf(frame: Uint8Array): Uint8Array {
  return Uint8Array.prototype.slice.call(frame);
}
