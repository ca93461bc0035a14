/**
 * Header frames with our own meaning, section 5 of docs/protocols/pzq.md: `NAME:` and a decimal. The original drops them, and so does a queue
 * that was not configured to read them.
 */
import { fromLatin1 } from '../bytes.js';
import { readDecimal } from './decimal.js';
import { HEADER } from './wire.js';

/** A producer's settings for storing the message. */
export interface PzqWishes {
  /** Deliver it this long after storing, in milliseconds. Absent: at once. */
  readonly delayMs?: number | undefined;
  /** Do not deliver it this long after storing, in milliseconds. Absent: no limit. */
  readonly ttlMs?: number | undefined;
}

/** {@link PzqWishes}, or the name of the first header with an invalid value. */
export type PzqHeaders = (PzqWishes & { readonly invalid?: undefined }) | { readonly invalid: string };

/** Longest delay and time to live, in milliseconds, over 126 years: wall time in microseconds stays a safe integer. */
const LONGEST_MS = 4_000_000_000_000;

const DELAY = fromLatin1(`${HEADER.delay}:`);
const TTL = fromLatin1(`${HEADER.ttl}:`);

/** Decodes header frames. Others are skipped; if a name occurs twice, the last counts. Never throws. */
export function decodePzqHeaders(headers: readonly Uint8Array[]): PzqHeaders {
  let wishes: PzqWishes = {};
  for (const frame of headers) {
    const delay = valueOf(frame, DELAY);
    if (delay === null) return { invalid: HEADER.delay };
    if (delay !== undefined) wishes = { ...wishes, delayMs: delay };
    const ttl = valueOf(frame, TTL);
    if (ttl === null) return { invalid: HEADER.ttl };
    if (ttl !== undefined) wishes = { ...wishes, ttlMs: ttl };
  }
  return wishes;
}

/** The header frames for these settings; none if there are none. Throws a `RangeError` for a value that is not a time in milliseconds. */
export function encodePzqHeaders({ delayMs, ttlMs }: PzqWishes): Uint8Array[] {
  const frames: Uint8Array[] = [];
  if (delayMs !== undefined) frames.push(headerFrame(HEADER.delay, delayMs));
  if (ttlMs !== undefined) frames.push(headerFrame(HEADER.ttl, ttlMs));
  return frames;
}

/** The number after `name`: `undefined` for another header, `null` if it is invalid. */
function valueOf(frame: Uint8Array, name: Uint8Array): number | null | undefined {
  if (frame.length < name.length) return undefined;
  for (let i = 0; i < name.length; i++) if (frame[i] !== name[i]) return undefined;
  const value = readDecimal(frame, name.length, frame.length);
  return value === undefined || value > LONGEST_MS ? null : value;
}

function headerFrame(name: string, value: number): Uint8Array {
  if (!Number.isInteger(value) || value < 0 || value > LONGEST_MS)
    throw new RangeError(`${name} ${value}: not an integer from 0 to ${LONGEST_MS}`);
  return fromLatin1(`${name}:${value}`);
}
