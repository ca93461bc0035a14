/**
 * 6/PPP and the frontend of a queue, receiving: one decoder per role. Each is total (any array of frames yields a value)
 * and copies neither addresses nor content. `wire.ts` holds the grammar.
 */
import type {
  PppAddresses,
  PppContent,
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
  if (frames.length > 1) return enveloped('reply', frames, 'reply-malformed');
  const fault = controlFault(first);
  if (fault !== undefined) return malformed(fault);
  return { kind: first[0] === CONTROL.ready ? 'ready' : 'heartbeat' };
}

/** Decodes a message received by a worker's DEALER. Never throws. */
export function decodePppAtWorker(frames: Frames): PppToWorker {
  const [first] = frames;
  if (first === undefined) return malformed('no-frames');
  if (frames.length > 1) return enveloped('request', frames, 'request-malformed');
  const fault = controlFault(first);
  if (fault !== undefined) return malformed(fault);
  return first[0] === CONTROL.heartbeat ? { kind: 'heartbeat' } : malformed('control-unexpected');
}

/** Decodes a message received by a queue's frontend ROUTER, without the identity frame. Never throws. */
export function decodePppAtFrontend(frames: Frames): PppToFrontend {
  const end = frames.findIndex(isEmpty);
  if (end === -1) return malformed('request-no-delimiter');
  if (frames.length === end + 1) return malformed('request-no-content');
  return { kind: 'client-request', hops: frames.slice(0, end), content: frames.slice(end + 1) };
}

/**
 * Decodes a message received by a client that reads the empty frame itself (a DEALER). `hops` are the ones it sent, so a
 * client that sends none must refuse a reply that has some. Never throws.
 */
export function decodePppAtClient(frames: Frames): PppToClient {
  const end = frames.findIndex(isEmpty);
  if (end === -1 || frames.length === end + 1) return malformed('reply-malformed');
  return { kind: 'client-reply', hops: frames.slice(0, end), content: frames.slice(end + 1) };
}

function controlFault(frame: Uint8Array): PppMalformedReason | undefined {
  if (frame.length === 0) return 'control-empty';
  if (frame.length > 1) return 'control-length';
  return frame[0] === CONTROL.ready || frame[0] === CONTROL.heartbeat ? undefined : 'control-unknown';
}

/** `1*address empty content` */
function enveloped<Kind extends 'request' | 'reply'>(
  kind: Kind,
  frames: Frames,
  otherwise: PppMalformedReason,
): { kind: Kind; addresses: PppAddresses; content: PppContent } | PppMalformed {
  const end = frames.findIndex(isEmpty);
  if (end < 1 || frames.length === end + 1) return malformed(otherwise);
  return { kind, addresses: frames.slice(0, end), content: frames.slice(end + 1) };
}

function isEmpty(frame: Uint8Array): boolean {
  return frame.length === 0;
}

function malformed(reason: PppMalformedReason): PppMalformed {
  return { kind: 'malformed', reason };
}
