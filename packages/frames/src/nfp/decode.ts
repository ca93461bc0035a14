/**
 * NFP, receiving: one decoder per role. Each is total (any array of frames yields a value), keeps nothing of its input except the frames it
 * returns, and copies no body. `wire.ts` holds the grammar.
 */
import type {
  NfpAnswer,
  NfpBody,
  NfpBrokerOpen,
  NfpCall,
  NfpClientAnswer,
  NfpHeader,
  NfpMalformed,
  NfpMalformedReason,
  NfpToBroker,
  NfpToClient,
  NfpToWorker,
} from './commands.js';
import { describeCommand, NAME_MAX_BYTES, readName, readNameLoosely, readTarget } from './text.js';
import { type Command, readCommand, readHeader, readStatus } from './wire.js';

type Frames = readonly Uint8Array[];

/** The broker's own services, which no worker may serve. */
const OWN_SERVICES: ReadonlySet<string> = new Set(['mmi.service.broker', 'sid.service.broker', 'fss.service.broker']);

/** Index of the first frame after the command. */
const REST = 3;

/** Decodes a message received by a broker's ROUTER, without the identity frame. Never throws. */
export function decodeNfpAtBroker(frames: Frames): NfpToBroker {
  const header = readOpening(frames);
  if (header === 'NFPC01') return clientToBroker(frames);
  if (header === 'NFPW01') return workerToBroker(frames);
  return malformed('header', 'unknown');
}

/**
 * Decodes a message received by a worker's DEALER, under any of the three headers: calls, and answers to its own questions as a client. Never
 * throws.
 */
export function decodeNfpAtWorker(frames: Frames): NfpToWorker {
  const header = readOpening(frames);
  if (header === undefined) return malformed('header', 'unknown');
  const command = readCommand(frames[2]);
  if (command === undefined) return swappedDisconnect(header, frames);
  const { name, form } = command;
  switch (name) {
    case 'open':
      return open(header, command, frames);
    case 'keepalive': {
      const service = onlyService(frames, 'unknown');
      return typeof service === 'string' ? { kind: 'broker-keepalive', form, header, service } : service;
    }
    case 'disconnect':
      return disconnect(header, command, frames);
    case 'mmi':
      // A call is for a worker, so the name of a broker service is the beginning of an answer.
      if (isOwnService(frames)) return answerToClient(name, header, command, frames);
      return callToWorker(name, header, command, frames);
    case 'post':
    case 'get':
    case 'delete':
    case 'put':
      return callToWorker(name, header, command, frames);
    case 'response':
    case 'event':
    case 'stream':
      return answerToClient(name, header, command, frames);
    default:
      return malformed('direction', 'unknown');
  }
}

/** Decodes a message received by a client's DEALER, under any of the three headers. Never throws. */
export function decodeNfpAtClient(frames: Frames): NfpToClient {
  const header = readOpening(frames);
  if (header === undefined) return malformed('header', 'unknown');
  const command = readCommand(frames[2]);
  if (command === undefined) return malformed('command', 'unknown');
  const { name } = command;
  switch (name) {
    case 'open':
      return open(header, command, frames);
    case 'response':
    case 'event':
    case 'stream':
    case 'mmi':
      return answerToClient(name, header, command, frames);
    default:
      return malformed('direction', 'unknown');
  }
}

function clientToBroker(frames: Frames): NfpToBroker {
  const command = readCommand(frames[2]);
  // A frame of one byte is meant as a command in that form.
  if (command === undefined) return refused('command', frames[2]?.length === 1 ? 'byte' : 'ascii', frames);
  const { name, form } = command;
  switch (name) {
    case 'open':
      if (frames.length <= REST) return malformed('short', 'client');
      return { kind: 'client-open', form, body: frames.slice(REST) };
    case 'post':
    case 'get':
    case 'delete':
    case 'put':
    case 'mmi': {
      if (frames.length <= REST + 3) return refused('short', form, frames);
      const service = readName(frames[REST] as Uint8Array);
      if (service === undefined) return refused('service', form, frames);
      const target = readTarget(frames[REST + 1] as Uint8Array);
      if (target === undefined) return refused('target', form, frames);
      const uuid = readName(frames[REST + 2] as Uint8Array);
      if (uuid === undefined) return refused('uuid', form, frames);
      return { kind: 'client-call', form, command: name, service, target, uuid, body: bodyFrom(frames, REST + 3) };
    }
    default:
      return refused('direction', form, frames);
  }
}

function workerToBroker(frames: Frames): NfpToBroker {
  const command = readCommand(frames[2]);
  if (command === undefined) return malformed('command', 'worker');
  const { name, form } = command;
  switch (name) {
    case 'open':
      if (frames.length <= REST) return malformed('short', 'worker');
      return { kind: 'worker-open', form, body: frames.slice(REST) };
    case 'ready':
    case 'keepalive': {
      const service = onlyService(frames, 'worker');
      return typeof service === 'string' ? { kind: `worker-${name}`, form, service } : service;
    }
    case 'disconnect': {
      if (frames.length <= REST) return malformed('short', 'worker');
      const service = readName(frames[REST] as Uint8Array);
      if (service === undefined) return malformed('service', 'worker');
      return { kind: 'worker-disconnect', form, service, body: frames.slice(REST + 1) };
    }
    case 'response':
    case 'event':
    case 'stream':
    case 'mmi':
      return answerToBroker(name, command, frames);
    default:
      return malformed('direction', 'worker');
  }
}

/** `client empty uuid status body`, or `service uuid status body` as in the tables. */
function answerToBroker(name: NfpAnswer, { form }: Command, frames: Frames): NfpToBroker {
  const addressed = frames[REST + 1]?.length === 0;
  const at = addressed ? REST + 2 : REST + 1;
  if (frames.length <= at + 2) return malformed('short', 'worker');
  const uuid = readName(frames[at] as Uint8Array);
  if (uuid === undefined) return malformed('uuid', 'worker');
  const status = readStatus(frames[at + 1] as Uint8Array);
  if (status === undefined) return malformed('status', 'worker');
  const { status: code, statusText } = status;
  const body = bodyFrom(frames, at + 2);
  const first = frames[REST] as Uint8Array;
  if (addressed) {
    if (!isRoutingId(first)) return malformed('shape', 'worker');
    return { kind: 'worker-answer', form, command: name, client: first, uuid, status: code, statusText, body };
  }
  const service = readName(first);
  if (service === undefined) return malformed('service', 'worker');
  return { kind: 'worker-table-answer', form, command: name, service, uuid, ...status, body };
}

/** Most bodies have one frame; `slice` would dominate the cost. */
function bodyFrom(frames: Frames, at: number): NfpBody {
  return frames.length === at + 1 ? [frames[at] as Uint8Array] : frames.slice(at);
}

/** `client empty uuid body`, or `service target uuid body` as in the tables. */
function callToWorker(name: NfpCall, header: NfpHeader, { form }: Command, frames: Frames): NfpToWorker {
  if (frames.length <= REST + 3) return malformed('short', 'unknown');
  const [first, second, third] = frames.slice(REST, REST + 3) as [Uint8Array, Uint8Array, Uint8Array];
  const uuid = readName(third);
  if (uuid === undefined) return malformed('uuid', 'unknown');
  const body = frames.slice(REST + 3);
  if (second.length === 0) {
    if (!isRoutingId(first)) return malformed('shape', 'unknown');
    return { kind: 'worker-call', form, header, command: name, client: first, uuid, body };
  }
  const service = readName(first);
  if (service === undefined) return malformed('service', 'unknown');
  const target = readTarget(second);
  if (target === undefined) return malformed('target', 'unknown');
  return { kind: 'worker-table-call', form, header, command: name, service, target, uuid, body };
}

/** `service uuid status body`; service and uuid may be empty in an answer to a call without them. */
function answerToClient(
  name: NfpAnswer,
  header: NfpHeader,
  { form }: Command,
  frames: Frames,
): NfpClientAnswer | NfpMalformed {
  if (frames.length <= REST + 3) return malformed('short', 'unknown');
  const service = readNameOrEmpty(frames[REST] as Uint8Array);
  if (service === undefined) return malformed('service', 'unknown');
  const uuid = readNameOrEmpty(frames[REST + 1] as Uint8Array);
  if (uuid === undefined) return malformed('uuid', 'unknown');
  const status = readStatus(frames[REST + 2] as Uint8Array);
  if (status === undefined) return malformed('status', 'unknown');
  return { kind: 'client-answer', form, header, command: name, service, uuid, ...status, body: frames.slice(REST + 3) };
}

/** Whether a broker service is in the place of a client or a worker's service. */
function isOwnService(frames: Frames): boolean {
  return OWN_SERVICES.has(readNameLoosely(frames[REST])) && frames[REST + 1]?.length !== 0;
}

/** `body` of one frame or more */
function open(header: NfpHeader, { form }: Command, frames: Frames): NfpBrokerOpen | NfpMalformed {
  if (frames.length <= REST) return malformed('short', 'unknown');
  return { kind: 'broker-open', form, header, body: frames.slice(REST) };
}

/** `service [body]`; empty if the broker does not know the service. */
function disconnect(header: NfpHeader, { form }: Command, frames: Frames): NfpToWorker {
  if (frames.length <= REST) return malformed('short', 'unknown');
  const service = readNameOrEmpty(frames[REST] as Uint8Array);
  if (service === undefined) return malformed('service', 'unknown');
  return { kind: 'broker-disconnect', form, header, service, body: frames.slice(REST + 1) };
}

/** Every release of the broker swaps service and command in DISCONNECT, and in nothing else. */
function swappedDisconnect(header: NfpHeader, frames: Frames): NfpToWorker {
  const command = readCommand(frames[3]);
  const service = frames.length === 4 ? readNameOrEmpty(frames[2] as Uint8Array) : undefined;
  if (command?.name !== 'disconnect' || service === undefined) return malformed('command', 'unknown');
  return { kind: 'broker-disconnect', form: command.form, header, service, body: [] };
}

/** `empty header`, and more. */
function readOpening(frames: Frames): NfpHeader | undefined {
  return frames.length > 2 && frames[0]?.length === 0 ? readHeader(frames[1]) : undefined;
}

/** `service` only */
function onlyService(frames: Frames, side: NfpMalformed['side']): string | NfpMalformed {
  if (frames.length !== REST + 1) return malformed(frames.length < REST + 1 ? 'short' : 'shape', side);
  const service = readName(frames[REST] as Uint8Array);
  return service ?? malformed('service', side);
}

/** ZeroMQ's maximum. */
function isRoutingId(frame: Uint8Array): boolean {
  return frame.length > 0 && frame.length <= NAME_MAX_BYTES;
}

function readNameOrEmpty(frame: Uint8Array): string | undefined {
  return frame.length === 0 ? '' : readName(frame);
}

function malformed(reason: NfpMalformedReason, side: NfpMalformed['side']): NfpMalformed {
  return { kind: 'malformed', reason, side };
}

/** A client's message: it can be answered if there is a frame in the place of the uuid. */
function refused(reason: NfpMalformedReason, form: Command['form'], frames: Frames): NfpMalformed {
  if (frames.length <= REST + 2) return malformed(reason, 'client');
  const command = describeCommand(frames[2] as Uint8Array);
  const target = readTarget(frames[REST + 1] as Uint8Array) ?? '';
  const service = readNameLoosely(frames[REST]);
  const answer = { form, command, service, target, uuid: readNameLoosely(frames[REST + 2]) };
  return { kind: 'malformed', reason, side: 'client', answer };
}
