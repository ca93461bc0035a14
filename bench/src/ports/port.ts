/** What the ports of all protocols share. */
import { fromLatin1 } from '@proj/frames';
import type { Entropy, Peer } from '@proj/transport';
import type fc from 'fast-check';

/** A message. */
export type Frames = readonly Uint8Array[];

/** Takes a message from a peer, as the program does. */
export type Step = (peer: Peer, frames: Frames) => void;

/** A port of a program. */
export interface Port {
  readonly name: string;
  /** What well-behaved peers send. */
  readonly valid: fc.Arbitrary<Frames>;
  /** A server with nothing in it. */
  readonly open: () => Step;
  /** The largest message of each kind, or the one that takes longest to read. */
  readonly largest: Readonly<Record<string, Frames>>;
}

/** A mebibyte. */
export const MIB = 2 ** 20;

/** Without chance. */
export const entropy: Entropy = {
  wallMicros: () => 1,
  uuid: () => '00000000-0000-4000-8000-000000000000',
  random: () => 0.5,
};
/** Frames of texts and bytes. */
export const text = (...frames: readonly (string | Uint8Array)[]): Uint8Array[] =>
  frames.map((frame) => (typeof frame === 'string' ? fromLatin1(frame) : frame));
/** The largest body of a message. */
export const body = Buffer.alloc(64 * MIB - 4096, 7);
/** The largest number of frames. */
export const many = Array.from({ length: 1000 }, () => body.subarray(0, 65_000));
/** Repeats `unit` up to `bytes`. */
export const long = (bytes: number, unit: string): string => unit.repeat(Math.floor(bytes / unit.length));
/** JSON that takes long to read. */
export const JSON_BOMBS = [long(65_000, '['), `[${long(65_000, '1,')}1]`, `{${long(65_000, '"a":1,')}"b":1}`];
/** The id of a job. */
export const uuid = '1'.repeat(32);

/** Counts the time, lets an engine step on every message, and encodes what it sends. */
export function stepper<Effect>(
  step: (peer: Peer, frames: Frames, now: number) => readonly Effect[],
  write: (effect: Effect) => void = () => undefined,
): Step {
  let now = 0;
  return (peer, frames) => {
    now += 0.1;
    for (const effect of step(peer, frames, now)) write(effect);
  };
}
