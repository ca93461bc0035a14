/** What the engines of all protocols are measured with: as many workers for each, the same body, and a client. */
import type { Entropy, Peer } from '@proj/transport';

/** Takes one request through an engine and back, or a few. Returns the number of answers, one for each worker that was asked. */
export type Round = () => number;

/** A message that an engine sends. */
export interface Sent {
  readonly peer: Peer;
  readonly frames: Uint8Array[];
}

const WORKERS = 64;
const STEP_MS = 0.0005;
let ids = 0;

/** Asks. */
export const client = peer(0);
/** Answer. */
export const workers = Array.from({ length: WORKERS }, (_, index) => peer(index + 1));
/** Of requests and of answers. */
export const body = Buffer.alloc(64, 7);

/** A peer with an automatic routing id: a zero byte and four more. */
function peer(number: number): Peer {
  const id = Buffer.from([0, 1, number >>> 16, number >>> 8, number]);
  return { key: id.toString('latin1'), id };
}

/** An id of 32 characters that no request has had. */
export function newId(): Buffer {
  return Buffer.from((ids++).toString(16).padStart(32, '0'));
}

/** Without chance, except that ids are unique. */
export const entropy: Entropy = { wallMicros: () => 1, uuid: () => newId().toString(), random: () => 0.5 };

/** Frames of texts. */
export function text(...frames: readonly string[]): Uint8Array[] {
  return frames.map((frame) => Buffer.from(frame));
}

/** Time passes with each look at this clock. */
export function clock(): () => number {
  let now = 0;
  return () => (now += STEP_MS);
}

/** What a step sends, encoded. */
export function sentBy<Effect>(effects: readonly Effect[], encode: (effect: Effect) => Sent | undefined): Sent[] {
  const all: Sent[] = [];
  for (const effect of effects) {
    const sent = encode(effect);
    if (sent !== undefined) all.push(sent);
  }
  return all;
}
