/** eMQP/1.0, sending: the frames of every command as EventMQ 0.3.13 writes them. `wire.ts` holds the grammar. */
import { EMPTY_FRAME, fromLatin1 } from '../bytes.js';
import { writeUtf8 } from '../slab.js';
import type { EmqpCommand } from './commands.js';
import { describeBadName, writeQueues } from './queues.js';
import { writeName } from './text.js';
import {
  COMMAND_FRAME,
  CRON_MAX_BYTES,
  INTERVAL_MAX_BYTES,
  TOPIC_MAX_BYTES,
  VERSION_FRAME,
  type Word,
  writeId,
} from './wire.js';

const TYPE_FRAME = { worker: fromLatin1('worker'), scheduler: fromLatin1('scheduler') } as const;

const ADMIN_WORD = {
  status: 'STATUS',
  'show-workers': 'ROUTER_SHOW_WORKERS',
  'show-schedulers': 'ROUTER_SHOW_SCHEDULERS',
  hello: 'HELLO',
} as const;

/**
 * The frames of a command, without the router's identity frame. The caller owns the array; body frames are passed on unchanged and constant
 * frames are shared, so do not modify any frame.
 *
 * Throws a `RangeError` for what no decoder would accept and no peer can cause: an id with no bytes or more than 255, an invalid queue, a topic
 * with no bytes or more than 4096, an interval or cron expression that is too long.
 */
export function encodeEmqp(command: EmqpCommand): Uint8Array[] {
  switch (command.kind) {
    case 'request':
      return opened('REQUEST', command.id, queueFrame(command.queue), command.headers, command.body);
    case 'accepted':
      return opened('REPLY', command.id, writeId(command.of));
    case 'result':
      return command.of === undefined
        ? opened('REPLY', command.id, command.result)
        : opened('REPLY', command.id, command.result, writeId(command.of));
    case 'ready':
      return opened('READY', command.id);
    case 'heartbeat':
      return opened('HEARTBEAT', command.id, fromLatin1(command.time));
    case 'inform-worker': {
      const queues = command.queues === undefined ? EMPTY_FRAME : fromLatin1(writeQueues(command.queues));
      return opened('INFORM', command.id, queues, TYPE_FRAME.worker);
    }
    case 'inform-scheduler':
      return opened('INFORM', command.id, EMPTY_FRAME, TYPE_FRAME.scheduler);
    case 'ack':
      return opened('ACK', command.id, writeId(command.of));
    case 'schedule':
    case 'unschedule': {
      const { id, headers, interval, body, cron } = command;
      const queue = command.kind === 'unschedule' && command.queue === '' ? EMPTY_FRAME : queueFrame(command.queue);
      const word = command.kind === 'schedule' ? 'SCHEDULE' : 'UNSCHEDULE';
      return opened(
        word,
        id,
        queue,
        headers,
        field('interval', interval, INTERVAL_MAX_BYTES),
        body,
        field('cron', cron, CRON_MAX_BYTES),
      );
    }
    case 'publish':
      return opened('PUBLISH', command.id, topicFrame(command.topic), command.body);
    case 'published':
      return [topicFrame(command.topic), command.body];
    case 'disconnect':
      return opened('DISCONNECT', command.id);
    case 'bye':
      return opened(command.word, command.id);
    case 'status':
    case 'show-workers':
    case 'show-schedulers':
    case 'hello':
      return opened(ADMIN_WORD[command.kind], command.id);
    case 'admin-reply':
      return opened('REPLY', command.id, command.encoded ?? writeUtf8(command.json));
  }
}

/** The time of a HEARTBEAT as Python prints it: seconds since 1970 with a fraction. `wallMicros` is an integer. */
export function emqpTime(wallMicros: number): string {
  const fraction = String(wallMicros % 1_000_000).padStart(6, '0');
  return `${Math.floor(wallMicros / 1_000_000)}.${fraction}`;
}

function opened(word: Word, id: string, ...fields: Uint8Array[]): Uint8Array[] {
  return [EMPTY_FRAME, VERSION_FRAME, COMMAND_FRAME[word], writeId(id), ...fields];
}

function queueFrame(name: string): Uint8Array {
  const frame = writeName(name);
  if (frame === undefined) throw new RangeError(describeBadName(name));
  return frame;
}

function topicFrame(topic: Uint8Array): Uint8Array {
  if (topic.length === 0) throw new RangeError('the topic of a PUBLISH is empty: subscribers could not tell it apart');
  if (topic.length > TOPIC_MAX_BYTES)
    throw new RangeError(`topic of ${topic.length} bytes: must be 1 to ${TOPIC_MAX_BYTES}`);
  return topic;
}

function field(what: string, text: string, maxBytes: number): Uint8Array {
  if (text.length > maxBytes) throw new RangeError(`${what} of ${text.length} bytes: the limit is ${maxBytes}`);
  return fromLatin1(text);
}
