/** The id of an EventMQ message, from its frames. */
import { EMPTY_FRAME, latin1 } from '@proj/frames';

/** The id in the frames of a message of ours. */
export function idOf(frames: readonly Uint8Array[]): string {
  return latin1(frames[3] ?? EMPTY_FRAME);
}
