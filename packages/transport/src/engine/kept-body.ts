/** Bodies that wait, in memory of their own. Knows no protocol. */
import { compactAll, EMPTY_FRAME, latin1, slackOf, totalBytes } from '@proj/frames';

/** Up to this many bytes, a string is cheaper to keep than frames with memory of their own. */
const TEXT_MAX_BYTES = 256;
/** More frames than this are joined if they are short: then their objects take more memory than their bytes. */
const FRAMES_MAX = 8;
const SHORT_BYTES = 128;
/** Frames made of texts share pieces of this size. */
const PIECE_BYTES = 8192;

/** Short frames in one piece of memory, which holds nothing else, or in a text with a character for each byte; and where each ends. */
export interface JoinedFrames {
  readonly memory: Uint8Array | string;
  readonly ends: readonly number[];
}

/** A body that waits: its frames; or many short ones joined; or for a single short one a text with a character for each byte. */
export type KeptBody = readonly Uint8Array[] | string | JoinedFrames;

/**
 * A body for keeping: it holds no memory that it shares with other messages, and many short frames are joined, because the garbage collector must move each object
 * that waits.
 */
export function keepBody(frames: readonly Uint8Array[]): KeptBody {
  const joined = joinFrames(frames);
  return joined === frames ? compactAll(frames) : joined;
}

/**
 * As {@link keepBody}, for one of very many bodies that wait: a small one becomes text. V8 takes the memory of each buffer from an allocator that hardly gives it back, but
 * that of a string from its own heap. Costs more CPU if the body waits only for a moment.
 */
export function keepOneOfMany(frames: readonly Uint8Array[]): KeptBody {
  if (totalBytes(frames) > TEXT_MAX_BYTES || slackOf(frames) === 0) return keepBody(frames);
  const [only] = frames;
  if (frames.length === 1 && only !== undefined) return latin1(only);
  return { memory: frames.map(latin1).join(''), ends: endsOf(frames) };
}

/** The frames of a kept body, for use at once: they may share memory with others, so keep the body, not the frames. */
export function keptFrames(body: KeptBody): readonly Uint8Array[] {
  if (typeof body === 'string') return [frameOf(body)];
  return isJoined(body) ? viewsOf(body) : body;
}

/** Not with `subarray`, which looks for a subclass: a body may have thousands of frames. */
function viewsOf({ memory, ends }: JoinedFrames): readonly Uint8Array[] {
  const { buffer, byteOffset } = typeof memory === 'string' ? frameOf(memory) : memory;
  let from = 0;
  return ends.map((end) => {
    const view = end === from ? EMPTY_FRAME : new Uint8Array(buffer, byteOffset + from, end - from);
    from = end;
    return view;
  });
}

/** How many frames a kept body has. */
export function keptCount(body: KeptBody): number {
  if (typeof body === 'string') return 1;
  return isJoined(body) ? body.ends.length : body.length;
}

/** The piece that frames of texts are made in, and how much of it is used. */
let piece = new Uint8Array(0);
let used = 0;

function frameOf(text: string): Uint8Array {
  if (used + text.length > piece.length) {
    piece = new Uint8Array(PIECE_BYTES);
    used = 0;
  }
  const from = used;
  for (let index = 0; index < text.length; index++) piece[used++] = text.charCodeAt(index);
  return piece.subarray(from, used);
}

/** As {@link keepBody}, for a body that already is in memory of its own. */
export function joinFrames(frames: readonly Uint8Array[]): KeptBody {
  if (frames.length <= FRAMES_MAX || totalBytes(frames) > frames.length * SHORT_BYTES) return frames;
  const memory = new Uint8Array(totalBytes(frames));
  const ends = endsOf(frames);
  frames.forEach((frame, index) => {
    if (frame.length > 0) memory.set(frame, (ends[index] as number) - frame.length);
  });
  return { memory, ends };
}

function endsOf(frames: readonly Uint8Array[]): readonly number[] {
  let at = 0;
  return frames.map(({ length }) => (at += length));
}

function isJoined(body: Exclude<KeptBody, string>): body is JoinedFrames {
  return 'ends' in body;
}
