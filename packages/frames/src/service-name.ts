/**
 * Service names, the rule that Majordomo and typed services share: 18/MDP says "printable string", which this project reads as 1 to 255 bytes of
 * printable ASCII (0x20 to 0x7e), compared byte for byte.
 */
import { equalBytes, fromLatin1, latin1 } from './bytes.js';

const NAME_MAX_BYTES = 255;
/** Power of two. */
const RECENT_MAX = 256;

interface Known {
  readonly name: string;
  readonly frame: Uint8Array;
}

/** Recent names, each at an index derived from its length and its ends: most messages name a recent service. */
const recent = new Array<Known | undefined>(RECENT_MAX).fill(undefined);

/** True for 1 to 255 characters, all of them printable ASCII. */
export function isServiceName(text: string): boolean {
  if (text.length === 0 || text.length > NAME_MAX_BYTES) return false;
  for (let i = 0; i < text.length; i++) if (!isPrintable(text.charCodeAt(i))) return false;
  return true;
}

/** The name in a frame, or `undefined` if it is not valid. */
export function readServiceName(frame: Uint8Array): string | undefined {
  const { length } = frame;
  if (length === 0 || length > NAME_MAX_BYTES) return undefined;
  const place = placeOf(length, frame[0] as number, frame[length - 1] as number);
  const before = recent[place];
  if (before !== undefined && equalBytes(before.frame, frame)) return before.name;
  for (let i = 0; i < length; i++) if (!isPrintable(frame[i] as number)) return undefined;
  return remember(place, latin1(frame)).name;
}

/** The frame of a name, shared: do not modify it. Throws a `RangeError` that quotes an invalid name. */
export function writeServiceName(name: string): Uint8Array {
  const place = placeOf(name.length, name.charCodeAt(0), name.charCodeAt(name.length - 1));
  const before = recent[place];
  if (before?.name === name) return before.frame;
  if (!isServiceName(name)) throw new RangeError(describeBadName(name));
  return remember(place, name).frame;
}

/** One sentence about an invalid name: the name, shortened, and what is allowed. */
export function describeBadName(name: string): string {
  const shown = name.length > 40 ? `${name.slice(0, 40)}...` : name;
  return `service name ${JSON.stringify(shown)}: must be 1 to ${NAME_MAX_BYTES} printable ASCII characters`;
}

function placeOf(length: number, first: number, last: number): number {
  return (length + 7 * first + 31 * last) & (RECENT_MAX - 1);
}

function remember(place: number, name: string): Known {
  return (recent[place] = { name, frame: fromLatin1(name) });
}

function isPrintable(code: number): boolean {
  return code >= 0x20 && code <= 0x7e;
}
