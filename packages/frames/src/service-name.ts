/**
 * Service names, the one rule that Majordomo and typed services share: 18/MDP says "printable string", which this project
 * reads as 1 to 255 bytes of printable ASCII (0x20 to 0x7e), compared byte for byte.
 */
import { fromLatin1, latin1 } from './bytes.js';

const NAME_MAX_BYTES = 255;

/** True for 1 to 255 characters, all of them printable ASCII. */
export function isServiceName(text: string): boolean {
  if (text.length === 0 || text.length > NAME_MAX_BYTES) return false;
  for (let i = 0; i < text.length; i++) if (!isPrintable(text.charCodeAt(i))) return false;
  return true;
}

/** The name in a frame, or `undefined` when the frame holds no valid name. */
export function readServiceName(frame: Uint8Array): string | undefined {
  if (frame.length === 0 || frame.length > NAME_MAX_BYTES) return undefined;
  for (let i = 0; i < frame.length; i++) if (!isPrintable(frame[i] as number)) return undefined;
  return latin1(frame);
}

/** The frame of a name. Throws a `RangeError` that quotes the name when it is not valid. */
export function writeServiceName(name: string): Uint8Array {
  if (!isServiceName(name)) throw new RangeError(describeBadName(name));
  return fromLatin1(name);
}

/** One sentence for a name that {@link isServiceName} refuses: the name, cut to a readable length, and what is allowed. */
export function describeBadName(name: string): string {
  const shown = name.length > 40 ? `${name.slice(0, 40)}...` : name;
  return `service name ${JSON.stringify(shown)}: allowed are 1 to ${NAME_MAX_BYTES} printable ASCII characters`;
}

function isPrintable(code: number): boolean {
  return code >= 0x20 && code <= 0x7e;
}
