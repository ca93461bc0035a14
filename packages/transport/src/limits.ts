/** Limits on what a socket receives and sends, the same for every adapter. */
import type { RejectReason } from './port.js';
import type { ResolvedPortOptions } from './port-options.js';

/** Why a received message must be dropped before decoding; `undefined` if it is within the limits. */
export function overLimits(
  frames: readonly Uint8Array[],
  { maxMessageFrames, maxMessageBytes }: Pick<ResolvedPortOptions, 'maxMessageFrames' | 'maxMessageBytes'>,
): RejectReason | undefined {
  if (frames.length === 0) return 'no-frames';
  if (frames.length > maxMessageFrames) return 'too-many-frames';
  let bytes = 0;
  for (const frame of frames) bytes += frame.length;
  return bytes > maxMessageBytes ? 'too-large' : undefined;
}

/** Throws `TypeError` unless the frames are one or more `Uint8Array`s: libzmq's bindings would send anything else as text. */
export function assertFrames(frames: readonly unknown[]): asserts frames is readonly Uint8Array[] {
  if (frames.length === 0) throw new TypeError('send: a message needs at least one frame');
  for (let index = 0; index < frames.length; index++) {
    const frame = frames[index];
    if (!(frame instanceof Uint8Array))
      throw new TypeError(`send: frame ${index} is ${typeof frame}, not a Uint8Array`);
  }
}
