/**
 * eMQP/1.0, receiving: one decoder per role. Each is total (any array of frames yields a value), keeps nothing of its input except the frames it
 * returns, and copies no body. `wire.ts` holds the grammar and accepted variants.
 */
import { EMPTY_FRAME, latin1 } from '../bytes.js';
import type {
  EmqpAccepted,
  EmqpAck,
  EmqpBye,
  EmqpDisconnect,
  EmqpHeartbeat,
  EmqpInformScheduler,
  EmqpInformWorker,
  EmqpMalformed,
  EmqpMalformedReason,
  EmqpPublish,
  EmqpRequest,
  EmqpResult,
  EmqpScheduling,
  EmqpToAdmin,
  EmqpToAdminPort,
  EmqpToBroker,
  EmqpToClient,
  EmqpToPubSub,
  EmqpToScheduler,
  EmqpToSubscriber,
  EmqpToWorker,
} from './commands.js';
import { takeInterval } from './headers.js';
import { QUEUES_MAX_BYTES, readQueues } from './queues.js';
import { readName, readText } from './text.js';
import {
  CRON_MAX_BYTES,
  HEADERS_MAX_BYTES,
  INTERVAL_MAX_BYTES,
  isVersion,
  readId,
  readWord,
  TOPIC_MAX_BYTES,
  type Word,
} from './wire.js';

type Frames = readonly Uint8Array[];

/** What every message begins with. */
interface Opening {
  readonly word: Word;
  readonly id: string;
}

const TIME_MAX_BYTES = 64;

/** Longest of the types of INFORM, `scheduler`. */
const TYPE_MAX_BYTES = 9;

/** Longest answer to an admin: a row for every peer. */
const ADMIN_REPLY_MAX_BYTES = 67_108_864;

/** Reads what follows an opening with one of these words. */
type Readers<Command> = Readonly<
  Partial<Record<Word, (id: string, frames: Frames, word: Word) => Command | EmqpMalformed>>
>;

const farewells = { DISCONNECT: farewell, KBYE: farewell, KBAI: farewell };
const schedulings: Readers<EmqpScheduling> = {
  SCHEDULE: (id, frames) => scheduling('schedule', id, frames),
  UNSCHEDULE: (id, frames) => scheduling('unschedule', id, frames),
};

const atBroker: Readers<EmqpToBroker> = {
  REQUEST: request,
  READY: (id) => ({ kind: 'ready', id }),
  REPLY: fromWorker,
  HEARTBEAT: heartbeat,
  INFORM: inform,
  PUBLISH: publish,
  ...schedulings,
  ...farewells,
};
const atAdminPort: Readers<EmqpToAdminPort> = {
  STATUS: (id) => ({ kind: 'status', id }),
  ROUTER_SHOW_WORKERS: (id) => ({ kind: 'show-workers', id }),
  ROUTER_SHOW_SCHEDULERS: (id) => ({ kind: 'show-schedulers', id }),
  HELLO: (id) => ({ kind: 'hello', id }),
  DISCONNECT: (id) => ({ kind: 'disconnect', id }),
};
const atWorker: Readers<EmqpToWorker> = { REQUEST: request, HEARTBEAT: heartbeat, ACK: acknowledged, ...farewells };
const atScheduler: Readers<EmqpToScheduler> = {
  REPLY: toAsker,
  HEARTBEAT: heartbeat,
  ACK: acknowledged,
  ...schedulings,
  ...farewells,
};
const atClient: Readers<EmqpToClient> = { REPLY: toAsker, ACK: acknowledged, ...farewells };

/** Decodes a message received by a broker's frontend or backend ROUTER, without the identity frame. Never throws. */
export function decodeEmqpAtBroker(frames: Frames): EmqpToBroker {
  return read(frames, atBroker);
}

/** Decodes a message received by a broker's admin ROUTER, without the identity frame. Never throws. */
export function decodeEmqpAtAdminPort(frames: Frames): EmqpToAdminPort {
  const opening = readOpening(frames);
  if ('kind' in opening) return opening;
  const isShort = frames.length <= 5 && (frames[4]?.length ?? 0) === 0;
  return isShort ? read(frames, atAdminPort) : malformed('frame-count');
}

/** Decodes a message received by a worker's DEALER. Never throws. */
export function decodeEmqpAtWorker(frames: Frames): EmqpToWorker {
  return read(frames, atWorker);
}

/** Decodes a message received by a scheduler's DEALER. Never throws. */
export function decodeEmqpAtScheduler(frames: Frames): EmqpToScheduler {
  return read(frames, atScheduler);
}

/** Decodes a message received by a client's DEALER: an acceptance of five frames, a result of six, ACK, or the end. Never throws. */
export function decodeEmqpAtClient(frames: Frames): EmqpToClient {
  return read(frames, atClient);
}

/** Decodes a message received by an admin's DEALER. Never throws. */
export function decodeEmqpAtAdmin(frames: Frames): EmqpToAdmin {
  const opening = readOpening(frames);
  if ('kind' in opening) return opening;
  const { word, id } = opening;
  if (word === 'ACK') return acknowledged(id, frames);
  if (word !== 'REPLY') return malformed('wrong-direction');
  const frame = frames[4];
  if (frame === undefined || frames.length > 5) return malformed('frame-count');
  const json = readText(frame, ADMIN_REPLY_MAX_BYTES);
  return json === undefined ? malformed('text-invalid') : { kind: 'admin-reply', id, json };
}

/** Decodes a message received by a pub-sub device's ROUTER, without the identity frame. Never throws. */
export function decodeEmqpAtPubSub(frames: Frames): EmqpToPubSub {
  const opening = readOpening(frames);
  if ('kind' in opening) return opening;
  return opening.word === 'PUBLISH' ? publish(opening.id, frames) : malformed('wrong-direction');
}

/** Decodes a message received by a subscriber. Never throws. */
export function decodeEmqpAtSubscriber(frames: Frames): EmqpToSubscriber {
  const [topic, body] = frames;
  if (topic === undefined || body === undefined) return malformed('too-few-frames');
  if (frames.length > 2) return malformed('frame-count');
  return topic.length === 0 ? malformed('topic-empty') : { kind: 'published', topic, body };
}

/** Reads a message, which must begin with a word that has a reader. */
function read<Command>(frames: Frames, readers: Readers<Command>): Command | EmqpMalformed {
  const opening = readOpening(frames);
  if ('kind' in opening) return opening;
  const { word, id } = opening;
  return readers[word]?.(id, frames, word) ?? malformed('wrong-direction');
}

/** `empty version command id` */
function readOpening(frames: Frames): Opening | EmqpMalformed {
  const [empty, version, command, idFrame] = frames;
  if (empty === undefined || version === undefined || command === undefined || idFrame === undefined) {
    return malformed('too-few-frames');
  }
  if (empty.length > 0) return malformed('no-empty-frame');
  if (!isVersion(version)) return malformed('version');
  const word = readWord(command);
  if (word === undefined) return malformed('unknown-command');
  const id = readId(idFrame);
  return id === undefined ? malformed('id-invalid') : { word, id };
}

/** `queues type`; a scheduler's queues have no meaning */
function inform(id: string, frames: Frames): EmqpInformWorker | EmqpInformScheduler | EmqpMalformed {
  const [queuesFrame, typeFrame] = [frames[4], frames[5]];
  if (queuesFrame === undefined || typeFrame === undefined) return malformed('frame-count');
  const type = readText(typeFrame, TYPE_MAX_BYTES);
  if (type === 'scheduler') return { kind: 'inform-scheduler', id };
  if (type !== 'worker') return malformed('inform-type');
  if (queuesFrame.length === 0) return { kind: 'inform-worker', id, queues: undefined };
  const text = readText(queuesFrame, QUEUES_MAX_BYTES);
  const queues = text === undefined ? undefined : readQueues(text);
  return queues === undefined ? malformed('queues-invalid') : { kind: 'inform-worker', id, queues };
}

/** `time`, or anything else there */
function heartbeat(id: string, frames: Frames): EmqpHeartbeat {
  const frame = frames[4];
  return { kind: 'heartbeat', id, time: frame === undefined || frame.length > TIME_MAX_BYTES ? '' : latin1(frame) };
}

/** `queue headers body` */
function request(id: string, frames: Frames): EmqpRequest | EmqpMalformed {
  const [nameFrame, headers, body] = [frames[4], frames[5], frames[6]];
  if (nameFrame === undefined || headers === undefined || body === undefined || frames.length > 7) {
    return malformed('frame-count');
  }
  const queue = readName(nameFrame);
  if (queue === undefined || queue === '') return malformed('queue-invalid');
  if (headers.length > HEADERS_MAX_BYTES) return malformed('headers-too-long');
  return { kind: 'request', id, queue, headers, body };
}

/** `result id`, or `result` alone */
function fromWorker(id: string, frames: Frames): EmqpResult | EmqpMalformed {
  const [result, ofFrame] = [frames[4], frames[5]];
  if (result === undefined || frames.length > 6) return malformed('frame-count');
  if (ofFrame === undefined) return { kind: 'result', id, result, of: undefined };
  const of = readId(ofFrame);
  return of === undefined ? malformed('id-invalid') : { kind: 'result', id, result, of };
}

/** `id`, or `result id` */
function toAsker(id: string, frames: Frames): EmqpAccepted | EmqpResult | EmqpMalformed {
  return frames.length === 5 ? acknowledgement('accepted', id, frames) : fromWorker(id, frames);
}

/** `id` */
function acknowledgement<Kind extends 'ack' | 'accepted'>(
  kind: Kind,
  id: string,
  frames: Frames,
): { kind: Kind; id: string; of: string } | EmqpMalformed {
  const frame = frames[4];
  if (frame === undefined || frames.length > 5) return malformed('frame-count');
  const of = readId(frame);
  return of === undefined ? malformed('id-invalid') : { kind, id, of };
}

function acknowledged(id: string, frames: Frames): EmqpAck | EmqpMalformed {
  return acknowledgement('ack', id, frames);
}

/** `queue headers interval body cron`, or `queue headers body` with the interval among the headers */
function scheduling(kind: EmqpScheduling['kind'], id: string, frames: Frames): EmqpScheduling | EmqpMalformed {
  if (frames.length !== 7 && frames.length !== 9) return malformed('frame-count');
  const [nameFrame, headers] = [frames[4], frames[5]] as [Uint8Array, Uint8Array];
  const queue = readName(nameFrame);
  if (queue === undefined || (queue === '' && kind === 'schedule')) return malformed('queue-invalid');
  if (headers.length > HEADERS_MAX_BYTES) return malformed('headers-too-long');
  if (frames.length === 9) {
    const [interval, body, cron] = [frames[6], frames[7], frames[8]] as [Uint8Array, Uint8Array, Uint8Array];
    if (interval.length > INTERVAL_MAX_BYTES) return malformed('interval-too-long');
    if (cron.length > CRON_MAX_BYTES) return malformed('cron-too-long');
    return { kind, id, queue, headers, interval: latin1(interval), body, cron: latin1(cron) };
  }
  const taken = takeInterval(headers);
  const interval = kind === 'schedule' ? taken.interval : '-1';
  if (interval === undefined) return malformed('no-interval');
  return { kind, id, queue, headers: taken.headers, interval, body: frames[6] ?? EMPTY_FRAME, cron: '' };
}

/** `topic body`, or `topic headers body` */
function publish(id: string, frames: Frames): EmqpPublish | EmqpMalformed {
  const [topic, body] = [frames[4], frames[frames.length - 1]];
  if (topic === undefined || body === undefined || frames.length < 6 || frames.length > 7) {
    return malformed('frame-count');
  }
  if (topic.length > TOPIC_MAX_BYTES) return malformed('topic-too-long');
  return topic.length === 0 ? malformed('topic-empty') : { kind: 'publish', id, topic, body };
}

function farewell(id: string, _frames: Frames, word: Word): EmqpDisconnect | EmqpBye {
  return word === 'KBYE' || word === 'KBAI' ? { kind: 'bye', id, word } : { kind: 'disconnect', id };
}

function malformed(reason: EmqpMalformedReason): EmqpMalformed {
  return { kind: 'malformed', reason };
}
