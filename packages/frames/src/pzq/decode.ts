/**
 * PZQ, receiving: one decoder per role. Each is total (any array of frames yields a value) and copies neither ids, keys nor
 * bodies. `wire.ts` holds the grammar.
 */
import { equalBytes, latin1 } from '../bytes.js';
import type {
  PzqFromConsumer,
  PzqFromMonitor,
  PzqFromProducer,
  PzqMalformed,
  PzqMalformedReason,
  PzqToConsumer,
  PzqToMonitor,
  PzqToProducer,
} from './commands.js';
import { readDecimal } from './decimal.js';
import { MONITOR_FRAME, REASON_MAX, YES } from './wire.js';

type Frames = readonly Uint8Array[];

/** Decodes a message received by a queue's receive socket, without the identity frame. Never throws. */
export function decodePzqAtReceive(frames: Frames): PzqFromProducer {
  const [id] = frames;
  if (id === undefined) return malformed('no-frames');
  if (frames.length === 1) return malformed('produce-one-frame');
  const end = blankAt(frames, 1);
  if (end === -1) return { kind: 'unusable', id, reason: 'no-delimiter' };
  if (frames.length === end + 1) return { kind: 'unusable', id, reason: 'no-body' };
  return { kind: 'produce', id, headers: frames.slice(1, end), body: frames.slice(end + 1) };
}

/** Decodes a message received by a producer's DEALER. Never throws. */
export function decodePzqAtProducer(frames: Frames): PzqToProducer {
  const [id, status] = frames;
  if (id === undefined) return malformed('no-frames');
  const end = blankAt(frames, 2);
  if (status === undefined || end === -1) return malformed('producer-ack-malformed');
  const text = frames[end + 1];
  return {
    kind: 'producer-ack',
    id,
    stored: isYes(status),
    reason: text === undefined ? '' : latin1(text.subarray(0, REASON_MAX)),
  };
}

/** Decodes a message received by a queue's send socket. Never throws. */
export function decodePzqAtSend(frames: Frames): PzqFromConsumer {
  const [key, status] = frames;
  if (key === undefined) return malformed('no-frames');
  return status === undefined
    ? { kind: 'lease-extension', key }
    : { kind: 'consumer-ack', key, positive: isYes(status) };
}

/** Decodes a message received by a consumer's ROUTER, without the identity frame. Never throws. */
export function decodePzqAtConsumer(frames: Frames): PzqToConsumer {
  const [key, sent, timeout] = frames;
  if (key === undefined) return malformed('no-frames');
  const end = blankAt(frames, 3);
  if (sent === undefined || timeout === undefined || key.length === 0 || end === -1 || frames.length === end + 1)
    return malformed('delivery-malformed');
  const sentMicros = readDecimal(sent, 0, sent.length);
  const ackTimeoutMicros = readDecimal(timeout, 0, timeout.length);
  if (sentMicros === undefined || ackTimeoutMicros === undefined) return malformed('delivery-malformed');
  return { kind: 'delivery', key, sentMicros, ackTimeoutMicros, body: frames.slice(end + 1) };
}

/** Decodes a message received by a queue's monitor socket, without the identity frame: its last frame counts. Never throws. */
export function decodePzqAtMonitor(frames: Frames): PzqFromMonitor {
  const last = frames.at(-1);
  if (last === undefined) return malformed('no-frames');
  return equalBytes(last, MONITOR_FRAME) ? { kind: 'monitor-request' } : malformed('monitor-unknown');
}

/** Decodes a message received by a DEALER or REQ that asked a monitor socket: its last frame counts. Never throws. */
export function decodePzqMonitorReply(frames: Frames): PzqToMonitor {
  const last = frames.at(-1);
  if (last === undefined) return malformed('no-frames');
  return last.length === 0 ? malformed('monitor-reply-malformed') : { kind: 'monitor-reply', text: latin1(last) };
}

function blankAt(frames: Frames, from: number): number {
  for (let i = from; i < frames.length; i++) if (frames[i]?.length === 0) return i;
  return -1;
}

function isYes(status: Uint8Array): boolean {
  return status.length === 1 && status[0] === YES;
}

function malformed(reason: PzqMalformedReason): PzqMalformed {
  return { kind: 'malformed', reason };
}
