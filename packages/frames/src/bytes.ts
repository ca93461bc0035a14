/** Byte helpers that every codec and engine shares. Neutral platform: no Node.js `Buffer`, no globals beyond the language. */

/** The zero-length frame: envelope delimiter of REQ/REP and of protocols like it. Never written to. */
export const EMPTY_FRAME: Uint8Array = new Uint8Array(0);

/** Longest text converted in one call. */
const FLAT_MAX = 1024;

/** Up to this many frames, a list of their memory is cheaper than a set. */
const FEW = 8;

/** True when both frames hold the same bytes. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  const length = a.length;
  if (length !== b.length) return false;
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * The bytes as a string of the same length, one character (U+0000 to U+00FF) per byte: a lossless map key for routing ids, unlike UTF-8, which
 * merges distinct ids. For short frames; the cost is linear.
 */
export function latin1(bytes: Uint8Array): string {
  // One flat string: a map would have to put it together from its characters first. Long ones go beyond the stack.
  if (bytes.length <= FLAT_MAX) return String.fromCharCode.apply(null, bytes as unknown as number[]);
  let text = '';
  for (let at = 0; at < bytes.length; at += FLAT_MAX) {
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + FLAT_MAX) as unknown as number[]);
  }
  return text;
}

/** Inverse of {@link latin1}. Characters above U+00FF are a programming error and throw a `RangeError`. */
export function fromLatin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  putLatin1(text, bytes);
  return bytes;
}

/** As {@link fromLatin1}, into memory that is long enough, from `at` on. */
export function putLatin1(text: string, memory: Uint8Array, at = 0): void {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0xff) throw new RangeError(`character ${JSON.stringify(text[i])} does not fit in one byte`);
    memory[at + i] = code;
  }
}

/** Bytes for a log line: quoted if all are printable ASCII, otherwise `0x` and hex, cut after `max` bytes with `...`. */
export function printable(bytes: Uint8Array, max = 64): string {
  const head = bytes.subarray(0, max);
  const tail = bytes.length > max ? '...' : '';
  if (head.every((byte) => byte >= 0x20 && byte <= 0x7e)) return `"${latin1(head)}"${tail}`;
  return `0x${Array.from(head, (byte) => byte.toString(16).padStart(2, '0')).join('')}${tail}`;
}

/** A frame for keeping: itself, or a copy if it lies in memory more than twice its size. A frame that is passed on at once need not be compacted. */
export function compact(frame: Uint8Array): Uint8Array {
  const { length } = frame;
  if (!isLoose(frame)) return frame;
  if (length === 0) return EMPTY_FRAME;
  const copy = new Uint8Array(length);
  copy.set(frame);
  return copy;
}

/**
 * The frames of a message for keeping: themselves or, if they lie in memory more than twice their total size, copies of those that are less than
 * half of their piece of memory. The copies share one piece, because a piece for each costs more than a small frame.
 */
export function compactAll(frames: readonly Uint8Array[]): readonly Uint8Array[] {
  const [only] = frames;
  if (frames.length === 1 && only !== undefined) {
    const kept = compact(only);
    return kept === only ? frames : [kept];
  }
  if (slackOf(frames) === 0) return frames;
  const piece = new Uint8Array(totalBytes(frames.filter(isLoose)));
  let at = 0;
  return frames.map((frame) => {
    if (!isLoose(frame)) return frame;
    if (frame.length === 0) return EMPTY_FRAME;
    piece.set(frame, at);
    at += frame.length;
    return frame.length === piece.length ? piece : piece.subarray(at - frame.length, at);
  });
}

function isLoose({ buffer, length }: Uint8Array): boolean {
  return buffer.byteLength > 2 * length;
}

/** Extra bytes that keeping these frames uncompacted would hold; 0 if {@link compactAll} leaves them unchanged. */
export function slackOf(frames: readonly Uint8Array[]): number {
  let held = 0;
  if (frames.length === 1) held = (frames[0] as Uint8Array).buffer.byteLength;
  else for (const { byteLength } of piecesOf(frames)) held += byteLength;
  const total = totalBytes(frames);
  return held > 2 * total ? held - total : 0;
}

/** The pieces of memory in which the frames lie, each once. */
function piecesOf(frames: readonly Uint8Array[]): Iterable<ArrayBufferLike> {
  if (frames.length > FEW) return new Set(frames.map(({ buffer }) => buffer));
  const pieces: ArrayBufferLike[] = [];
  for (const { buffer } of frames) if (!pieces.includes(buffer)) pieces.push(buffer);
  return pieces;
}

/** Total length of the frames, in bytes. */
export function totalBytes(frames: readonly Uint8Array[]): number {
  let total = 0;
  for (const frame of frames) total += frame.length;
  return total;
}
