/** NFP "printable string": services, worker names, job uuids and targets as text. */
import { latin1, printable } from '../bytes.js';
import { Slab, writeUtf8 } from '../slab.js';

/** Longest service, worker name and uuid, in bytes; also the maximum of routing ids. */
export const NAME_MAX_BYTES = 255;

/** Longest target, in bytes: a list of several thousand workers. */
export const TARGET_MAX_BYTES = 65_536;

/** Up to here, bytes that are all ASCII are looked at one by one. */
const SHORT_MAX_BYTES = 64;

const toUtf8 = new TextEncoder();
const fromUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

// A job's uuid is written three times and a service again and again; making a frame for a socket would dominate the cost.
const WRITTEN_MAX = 1024;
const written = new Map<string, Uint8Array>();
// Apart from frames that are sent at once, whose memory would be kept with them.
const names = new Slab();

// Not allowed in names: control characters, which no log can show, and lone surrogates, which UTF-8 cannot express.
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;
const LONE_SURROGATE = /\p{Cs}/u;
/** Most names: what needs no other look. */
const PRINTABLE_ASCII = /^[ -~]+$/;

/** True for 1 to 255 bytes of UTF-8 without control characters. */
export function isNfpName(text: string): boolean {
  if (text.length === 0 || text.length > NAME_MAX_BYTES) return false;
  return PRINTABLE_ASCII.test(text) || (!UNPRINTABLE.test(text) && utf8Length(text) <= NAME_MAX_BYTES);
}

/**
 * The name of a peer with this routing id: the id as text, as every NORFAB worker sets it, or `0x` and hex if it is not text. Inverse, for names
 * that are text: {@link nfpRoutingId}.
 */
export function nfpNameOf(id: Uint8Array): string {
  return readName(id) ?? `0x${Array.from(id, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** The routing id of the worker with this name. Throws a `RangeError` for invalid names: see {@link isNfpName}. */
export function nfpRoutingId(name: string): Uint8Array {
  return writeName(name, 'worker name');
}

/** The name in a frame, or `undefined` if it is not valid. */
export function readName(frame: Uint8Array): string | undefined {
  if (frame.length === 0 || frame.length > NAME_MAX_BYTES) return undefined;
  let ascii = true;
  for (let i = 0; i < frame.length; i++) {
    const byte = frame[i] as number;
    if (byte < 0x20 || byte === 0x7f) return undefined;
    if (byte > 0x7f) ascii = false;
  }
  if (ascii) return latin1(frame);
  const text = readUtf8(frame);
  return text === undefined || UNPRINTABLE.test(text) ? undefined : text;
}

/** The frame of a name, shared: do not modify it. For an invalid name, throws a `RangeError` that quotes it and says `what` it should have been. */
export function writeName(name: string, what: string): Uint8Array {
  const known = written.get(name);
  if (known !== undefined) return known;
  const frame = encodeName(name, what);
  if (written.size >= WRITTEN_MAX) written.clear();
  written.set(name, frame);
  return frame;
}

function encodeName(name: string, what: string): Uint8Array {
  if (!isNfpName(name)) {
    const shown = JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}...` : name);
    throw new RangeError(`${what} ${shown}: must be 1 to ${NAME_MAX_BYTES} bytes of printable UTF-8`);
  }
  return names.writeUtf8(name);
}

/** The target in a frame, or `undefined` if it is too long or not UTF-8. */
export function readTarget(frame: Uint8Array): string | undefined {
  return frame.length > TARGET_MAX_BYTES ? undefined : readUtf8(frame);
}

/** The frame of a target. Throws a `RangeError` if it is too long or not well-formed. */
export function writeTarget(target: string): Uint8Array {
  if (LONE_SURROGATE.test(target)) throw new RangeError('target: a lone surrogate has no UTF-8');
  const frame = writeUtf8(target);
  if (frame.length > TARGET_MAX_BYTES)
    throw new RangeError(`target of ${frame.length} bytes: the limit is ${TARGET_MAX_BYTES}`);
  return frame;
}

/** As {@link readName}, for error answers: cut to the length of a name, and empty if there is none. */
export function readNameLoosely(frame: Uint8Array | undefined): string {
  return (frame && readName(frame.subarray(0, NAME_MAX_BYTES))) ?? '';
}

/** A command frame in an error text: `0x08` for either form, other bytes as in a log line. */
export function describeCommand(frame: Uint8Array): string {
  if (frame.length === 1) return `0x${(frame[0] as number).toString(16).padStart(2, '0')}`;
  return readName(frame.subarray(0, 16)) ?? printable(frame, 16);
}

/** UTF-8 as text, including a byte order mark; `undefined` if it is not well-formed. */
export function readUtf8(frame: Uint8Array): string | undefined {
  // Most targets: the decoder costs ten times as much to call.
  if (frame.length <= SHORT_MAX_BYTES && isAscii(frame)) return latin1(frame);
  try {
    return fromUtf8.decode(frame);
  } catch {
    return undefined;
  }
}

function isAscii(frame: Uint8Array): boolean {
  for (let i = 0; i < frame.length; i++) if ((frame[i] as number) > 0x7f) return false;
  return true;
}

function utf8Length(text: string): number {
  return toUtf8.encode(text).length;
}
