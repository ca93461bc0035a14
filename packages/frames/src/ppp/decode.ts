/**
 * 6/PPP and the frontend of a queue, receiving: one decoder per role. Each is total (any array of frames yields a value)
 * and copies neither addresses nor content. `wire.ts` holds the grammar.
 */
import type {
  PppMalformed,
  PppMalformedReason,
  PppToClient,
  PppToFrontend,
  PppToQueue,
  PppToWorker,
} from './commands.js';
import { CONTROL } from './wire.js';

type Frames = readonly Uint8Array[];

/** Decodes a message received from a worker, without the identity frame: by a queue or by a dispatcher. Never throws. */
export function decodePppAtQueue(frames: Frames): PppToQueue {
  const [first] = frames;
  if (first === undefined) return malformed('no-frames');
  if (frames.length === 1) {
    const fault = controlFault(first);
    if (fault !== undefined) return malformed(fault);
    return { kind: first[0] === CONTROL.ready ? 'ready' : 'heartbeat' };
  }
  const end = firstEmpty(frames);
  if (end < 1 || frames.length === end + 1) return malformed('reply-malformed');
  return { kind: 'reply', addresses: part(frames, 0, end), content: part(frames, end + 1, frames.length) };
}

/** Decodes a message received by a worker's DEALER. One frame that is not control is content. Never throws. */
export function decodePppAtWorker(frames: Frames): PppToWorker {
  const [first] = frames;
  if (first === undefined) return malformed('no-frames');
  if (frames.length === 1 && first.length === 0) return malformed('control-empty');
  if (frames.length === 1 && controlFault(first) === undefined)
    return first[0] === CONTROL.heartbeat ? { kind: 'heartbeat' } : malformed('control-unexpected');
  const end = firstEmpty(frames);
  if (end === -1) return { kind: 'request', addresses: undefined, content: frames };
  if (frames.length === end + 1) return malformed('request-malformed');
  return { kind: 'request', addresses: part(frames, 0, end), content: part(frames, end + 1, frames.length) };
}

/**
 * Decodes a message received by a queue's frontend ROUTER, without the identity frame. Control is not a request: a worker used the wrong socket.
 * Never throws.
 */
export function decodePppAtFrontend(frames: Frames): PppToFrontend {
  const [first] = frames;
  if (first === undefined) return malformed('no-frames');
  if (frames.length === 1 && controlFault(first) === undefined) return malformed('control-unexpected');
  const end = firstEmpty(frames);
  if (end === -1) return { kind: 'client-request', hops: undefined, content: frames };
  if (frames.length === end + 1) return malformed('request-no-content');
  return { kind: 'client-request', hops: part(frames, 0, end), content: part(frames, end + 1, frames.length) };
}

/**
 * Decodes a message received by a client that reads the empty frame itself (a DEALER). `hops` are the ones it sent, so a client that sends none
 * must reject a reply that has some. Never throws.
 */
export function decodePppAtClient(frames: Frames): PppToClient {
  const end = firstEmpty(frames);
  if (end === -1 || frames.length === end + 1) return malformed('reply-malformed');
  return { kind: 'client-reply', hops: part(frames, 0, end), content: part(frames, end + 1, frames.length) };
}

function controlFault(frame: Uint8Array): PppMalformedReason | undefined {
  if (frame.length === 0) return 'control-empty';
  if (frame.length > 1) return 'control-length';
  return frame[0] === CONTROL.ready || frame[0] === CONTROL.heartbeat ? undefined : 'control-unknown';
}

/** The index of the first empty frame, or -1. */
function firstEmpty(frames: Frames): number {
  for (let index = 0; index < frames.length; index++) if (frames[index]?.length === 0) return index;
  return -1;
}

/** The frames from `from` up to `to`. Most parts have one or none; `slice` would dominate the cost. */
function part(frames: Frames, from: number, to: number): Frames {
  if (to === from) return [];
  return to === from + 1 ? [frames[from] as Uint8Array] : frames.slice(from, to);
}

function malformed(reason: PppMalformedReason): PppMalformed {
  return { kind: 'malformed', reason };
}
