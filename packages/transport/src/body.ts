/** Bodies between users and frames: text and bytes in, Buffers out. Knows no protocol. */
import { ProjError } from './errors.js';

/** One frame: text is sent as UTF-8, bytes as they are. Do not change the bytes until the call has ended. */
export type Frame = string | Uint8Array;

/** A body: one or more frames. */
export type BodyInput = Frame | readonly Frame[];

/** Size limits of a body. */
export interface BodyLimits {
  readonly frames: number;
  readonly bytes: number;
}

/**
 * The frames of a body. Throws `PROTOCOL_LOCAL`, beginning with `subject`, for a body without frames, with values of other types, or over the
 * limits. Default: no limits.
 */
export function toFrames(subject: string, body: BodyInput, limits?: BodyLimits): Uint8Array[] {
  const input = Array.isArray(body) ? (body as readonly Frame[]) : [body as Frame];
  if (input.length === 0) throw refusal(subject, "the body has no frames; send '' for an empty one");
  const frames = input.map((frame, index) => toFrame(subject, frame, index));
  if (limits === undefined) return frames;
  if (frames.length > limits.frames)
    throw refusal(subject, `the body has ${frames.length} frames; the limit is ${limits.frames}`);
  let bytes = 0;
  for (const frame of frames) bytes += frame.length;
  if (bytes > limits.bytes) throw refusal(subject, `the body has ${bytes} bytes; the limit is ${limits.bytes}`);
  return frames;
}

function toFrame(subject: string, frame: unknown, index: number): Uint8Array {
  if (typeof frame === 'string') return Buffer.from(frame);
  if (frame instanceof Uint8Array) return frame;
  throw refusal(subject, `body frame ${index} is ${typeof frame}; must be a string or Uint8Array`);
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
