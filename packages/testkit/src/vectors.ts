/** Golden vectors: messages of real peers as data, from packages/frames/vectors. */
import { readFileSync } from 'node:fs';

/** One recorded or constructed message. */
export interface Vector {
  /** Unique in its file; tests refer to it. */
  readonly name: string;
  /** For example `client->broker`; `both` if it travels both ways. */
  readonly direction: string;
  /** Protocol and version, or the dialect of a peer that only claims to speak one. */
  readonly protocol: string;
  /** Without the identity frame of the receiving ROUTER. */
  readonly frames: readonly Uint8Array[];
  readonly note: string;
  /** Captured from a wire, or written by hand from a specification. */
  readonly source: 'captured' | 'constructed';
}

/** Reads `packages/frames/vectors/<file>.json`. */
export function loadVectors(file: string): Vector[] {
  const url = new URL(`../../frames/vectors/${file}.json`, import.meta.url);
  const entries = JSON.parse(readFileSync(url, 'utf8')) as (Omit<Vector, 'frames'> & { frames: string[] })[];
  return entries.map((entry) => ({ ...entry, frames: fromHex(entry.frames) }));
}

/** Frames from hex text, one string per frame, as in the vector files. */
export function fromHex(frames: readonly string[]): Uint8Array[] {
  return frames.map((hex) => Uint8Array.from(Buffer.from(hex, 'hex')));
}

/** Inverse of {@link fromHex}. Tests compare hex, because differences are readable. */
export function toHex(frames: readonly Uint8Array[]): string[] {
  return frames.map((frame) => Buffer.from(frame).toString('hex'));
}

/** True if both hold the same bytes, frame by frame. For properties, where comparing hex would take most of the time. */
export function sameFrames(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  return a.length === b.length && a.every((frame, i) => Buffer.compare(frame, b[i] as Uint8Array) === 0);
}

/** Frames in readable form: text stands for its UTF-8 bytes, `''` for the empty frame, a number for one byte, and bytes for themselves. */
export function framesOf(...parts: readonly (string | number | Uint8Array)[]): Uint8Array[] {
  return parts.map((part) => {
    if (typeof part === 'number') return Uint8Array.of(part);
    return typeof part === 'string' ? new TextEncoder().encode(part) : part;
  });
}
