/**
 * NFP, what a broker publishes: the specification leaves Broker-PUB and Worker-PUB open, this is our form of them.
 *
 *     B>SUB event = topic B 08 service worker uuid status body
 *
 *     topic  = service "/" uuid        ; "sample/" is a prefix for all events of a service, "sample/" uuid those of one job
 *     worker = 1*255OCTET              ; its routing id
 *     B, 08 ("0x08") and the rest as in `wire.ts`
 */
import type { NfpBody, NfpStatus } from './commands.js';
import { readName, writeName } from './text.js';
import { COMMAND_FRAME, HEADER_FRAME, readStatus, writeStatus } from './wire.js';

/** A worker's EVENT, as its subscribers receive it. */
export interface NfpPublishedEvent extends NfpStatus {
  readonly service: string;
  /** The worker's routing id. */
  readonly worker: Uint8Array;
  /** The job; any topic if the worker has no job of that name. */
  readonly uuid: string;
  readonly body: NfpBody;
}

/** The frames of an event. Body frames are passed on unchanged. Throws a `RangeError` for an invalid name or status. */
export function encodeNfpPublishedEvent(event: NfpPublishedEvent): Uint8Array[] {
  const { service, worker, uuid, status, statusText, body } = event;
  const [serviceFrame, uuidFrame] = [writeName(service, 'service'), writeName(uuid, 'uuid')];
  const topic = new Uint8Array(serviceFrame.length + 1 + uuidFrame.length);
  topic.set(serviceFrame);
  topic[serviceFrame.length] = SLASH;
  topic.set(uuidFrame, serviceFrame.length + 1);
  const opening = [topic, HEADER_FRAME.NFPB01, COMMAND_FRAME.ascii.event];
  return [...opening, serviceFrame, worker, uuidFrame, writeStatus(status, statusText), ...body];
}

/** Decodes a message received by a subscriber; `undefined` unless it is an event. Never throws. */
export function decodeNfpPublishedEvent(frames: readonly Uint8Array[]): NfpPublishedEvent | undefined {
  const [topic, header, command, serviceFrame, worker, uuidFrame, statusFrame, ...body] = frames;
  if (topic === undefined || !isSame(header, HEADER_FRAME.NFPB01) || !isSame(command, COMMAND_FRAME.ascii.event))
    return undefined;
  if (serviceFrame === undefined || worker === undefined || uuidFrame === undefined || statusFrame === undefined)
    return undefined;
  const [service, uuid, status] = [readName(serviceFrame), readName(uuidFrame), readStatus(statusFrame)];
  if (service === undefined || uuid === undefined || status === undefined || body.length === 0) return undefined;
  return { service, worker, uuid, ...status, body };
}

const SLASH = 0x2f;

function isSame(frame: Uint8Array | undefined, expected: Uint8Array): boolean {
  return frame?.length === expected.length && frame.every((byte, index) => byte === expected[index]);
}
