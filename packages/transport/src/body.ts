/** Bodies between users and frames: text and bytes in, Buffers out. No protocol. */
import { ProjError } from './errors.js';

/** One frame: text is sent as UTF-8, bytes as they are. Bytes must not be changed until the call has ended. */
export type Frame = string | Uint8Array;

/** A body: one frame, or several, at least one. */
export type BodyInput = Frame | readonly Frame[];

/** The largest body that may be sent. */
export interface BodyLimits {
  readonly frames: number;
  readonly bytes: number;
}

/**
 * The frames of a body. Throws `PROTOCOL_LOCAL`, beginning with `subject`, for a body without frames, of other values or
 * over the limits. Default: no limits.
 */
export function toFrames(subject: string, body: BodyInput, limits?: BodyLimits): Uint8Array[] {
  const input = Array.isArray(body) ? (body as readonly Frame[]) : [body as Frame];
  if (input.length === 0) throw refusal(subject, "the body has no frame; send '' for an empty one");
  const frames = input.map((frame, index) => toFrame(subject, frame, index));
  if (limits === undefined) return frames;
  if (frames.length > limits.frames)
    throw refusal(subject, `${frames.length} body frames are more than ${limits.frames}`);
  let bytes = 0;
  for (const frame of frames) bytes += frame.length;
  if (bytes > limits.bytes) throw refusal(subject, `${bytes} body bytes are more than ${limits.bytes}`);
  return frames;
}

function toFrame(subject: string, frame: unknown, index: number): Uint8Array {
  if (typeof frame === 'string') return Buffer.from(frame);
  if (frame instanceof Uint8Array) return frame;
  throw refusal(subject, `body frame ${index} is ${typeof frame}; allowed are string and Uint8Array`);
}

function refusal(subject: string, why: string): ProjError {
  return new ProjError('PROTOCOL_LOCAL', `${subject}: ${why}`);
}

/** The same bytes as Buffers, without a copy. */
export function toBuffers(frames: readonly Uint8Array[]): Buffer[] {
  return frames.map((frame) =>
    Buffer.isBuffer(frame) ? frame : Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength),
  );
}
