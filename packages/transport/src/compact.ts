/** Messages for whoever keeps them: what `compactAll` of `@proj/frames` is to engines, which sockets do not know. */

/**
 * The same frames, or, when the pieces of memory that they are parts of are more than twice as large all together, copies of those that are
 * the smaller part of their piece. What is passed on at once is better left where it came.
 */
export function compacted(frames: readonly Uint8Array[]): readonly Uint8Array[] {
  let held = 0;
  for (const { byteLength } of new Set(frames.map(({ buffer }) => buffer))) held += byteLength;
  const bytes = frames.reduce((sum, { length }) => sum + length, 0);
  return held > 2 * bytes ? frames.map((frame) => (isLoose(frame) ? copyOf(frame) : frame)) : frames;
}

function isLoose({ buffer, length }: Uint8Array): boolean {
  return buffer.byteLength > 2 * length;
}

/** Of the same class: `Buffer` has a `slice` of its own that copies nothing. */
function copyOf(frame: Uint8Array): Uint8Array {
  return Uint8Array.prototype.slice.call(frame);
}
