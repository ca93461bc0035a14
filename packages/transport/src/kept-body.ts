/** Bodies that wait, in memory of their own. Knows no protocol. */
import { compactAll, slackOf, totalBytes } from '@proj/frames';

/** Up to this many bytes, a string is cheaper to make, to move and to collect than a frame with memory of its own. */
const TEXT_MAX_BYTES = 512;
/** More frames than this are joined if they are short: then their objects take more memory than their bytes. */
const FRAMES_MAX = 8;
const SHORT_BYTES = 128;

/** Many short frames in one piece of memory, and where each ends. */
export interface JoinedFrames {
  readonly memory: Uint8Array;
  readonly ends: readonly number[];
}

/** A body that waits: its frames; or many short ones joined; or for a single short one a text with a character for each byte. */
export type KeptBody = readonly Uint8Array[] | string | JoinedFrames;

/**
 * A body for keeping: it holds no memory that it shares with other messages. V8 takes the memory of each small buffer from an allocator that hardly gives it back, and
 * each object that waits must be moved by the garbage collector, so small bodies are kept in few objects.
 */
export function keepBody(frames: readonly Uint8Array[]): KeptBody {
  if (frames.length > FRAMES_MAX && totalBytes(frames) <= frames.length * SHORT_BYTES) return joined(frames);
  if (slackOf(frames) === 0) return frames;
  const [only] = frames;
  if (frames.length !== 1 || only === undefined || only.length > TEXT_MAX_BYTES) return compactAll(frames);
  return Buffer.from(only.buffer, only.byteOffset, only.length).toString('latin1');
}

/** The frames of a kept body, for use at once: they may share memory with others, so keep the body, not the frames. */
export function keptFrames(body: KeptBody): readonly Uint8Array[] {
  if (typeof body === 'string') return [Buffer.from(body, 'latin1')];
  return isJoined(body) ? body.ends.map((end, index) => body.memory.subarray(body.ends[index - 1] ?? 0, end)) : body;
}

/** How many frames a kept body has. */
export function keptCount(body: KeptBody): number {
  if (typeof body === 'string') return 1;
  return isJoined(body) ? body.ends.length : body.length;
}

function joined(frames: readonly Uint8Array[]): JoinedFrames {
  const memory = new Uint8Array(totalBytes(frames));
  let at = 0;
  const ends = frames.map((frame) => {
    memory.set(frame, at);
    return (at += frame.length);
  });
  return { memory, ends };
}

function isJoined(body: Exclude<KeptBody, string>): body is JoinedFrames {
  return 'ends' in body;
}
