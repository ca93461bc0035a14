/** Bodies that wait, in memory of their own. Knows no protocol. */
import { compactAll, slackOf } from '@proj/frames';

/** Up to this many bytes, a frame is cheaper as text than in memory of its own: a quarter of the CPU, half of the garbage collector's time. */
const TEXT_MAX_BYTES = 512;

/** A body that waits: its frames, or for a small single frame a text with a character for each byte. */
export type KeptBody = readonly Uint8Array[] | string;

/**
 * A body for keeping: it holds no memory that it shares with other messages. A small one becomes text, because V8 takes the memory of each small buffer from
 * an allocator that hardly gives it back, and moves a string at no cost.
 */
export function keepBody(frames: readonly Uint8Array[]): KeptBody {
  if (slackOf(frames) === 0) return frames;
  const [only] = frames;
  if (frames.length !== 1 || only === undefined || only.length > TEXT_MAX_BYTES) return compactAll(frames);
  return Buffer.from(only.buffer, only.byteOffset, only.length).toString('latin1');
}

/** The frames of a kept body, for use at once: those of a text share memory with others, so keep the body, not the frames. */
export function keptFrames(body: KeptBody): readonly Uint8Array[] {
  return typeof body === 'string' ? [Buffer.from(body, 'latin1')] : body;
}
