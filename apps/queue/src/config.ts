/** The options of proj-queue: those of `PzqServer`, as flags. */
import {
  accessOption,
  bindEndpoint,
  bytes,
  endpointFromSchema,
  fromSchema,
  httpOptions,
  hubOptions,
  milliseconds,
  onOff,
  processServerCurve,
  text,
  wholeNumber,
} from '@proj/appkit';
import { pzqServerOptions } from '@proj/pzq';
import type { PzqServerOptions } from '@proj/pzq';
import * as z from 'zod';

/** The bounds and defaults of the server, which also refuses inconsistent values. */
const { shape } = pzqServerOptions.in;

/** The options of the server. */
const own = z.object({
  receive: endpointFromSchema(shape.receive).describe('ROUTER that producers push to'),
  send: endpointFromSchema(shape.send).describe('DEALER that consumers connect their ROUTER to'),
  monitor: endpointFromSchema(shape.monitor).describe('ROUTER that answers MONITOR with statistics'),
  store: text('STORE', 'lmdb:FOLDER, postgres://... or memory:')
    .default('lmdb:./pzq-data')
    .describe(
      'where to keep messages: lmdb:FOLDER, postgres://... for several servers, or memory: for messages that may be lost',
    ),
  ackTimeoutMs: fromSchema(shape.ackTimeoutMs, milliseconds).describe(
    'how long a consumer may take to acknowledge before the message is delivered again',
  ),
  maxMessages: fromSchema(shape.maxMessages, wholeNumber).describe('messages that the queue may hold; 0 is no limit'),
  maxBytes: fromSchema(shape.maxBytes, bytes).describe('bytes that their bodies may take; 0 is no limit'),
  maxMessageBytes: fromSchema(shape.maxMessageBytes, bytes).describe('largest body'),
  maxParts: fromSchema(shape.maxParts, wholeNumber).describe('most frames in a body'),
  maxInFlight: fromSchema(shape.maxInFlight, wholeNumber).describe('unacknowledged messages at all consumers together'),
  maxInFlightBytes: fromSchema(shape.maxInFlightBytes, bytes).describe('bytes of these messages'),
  batchMax: fromSchema(shape.batchMax, wholeNumber).describe('most messages in one flush'),
  batchMaxBytes: fromSchema(shape.batchMaxBytes, bytes).describe('most bytes in one flush'),
  producerAckMax: fromSchema(shape.producerAckMax, wholeNumber).describe(
    'answers that a producer may leave unread before its messages are dropped',
  ),
  dedupeWindowMs: fromSchema(shape.dedupeWindowMs, milliseconds).describe(
    'how long an id is remembered: a message that repeats it is not stored again; 0 is never',
  ),
  maxDeliveries: fromSchema(shape.maxDeliveries, wholeNumber).describe(
    'deliveries after which a message goes to the dead letters; 0 is never',
  ),
  deadLetterSend: bindEndpoint().optional().describe('DEALER that delivers the dead letters (default: none)'),
  deadLettersMax: fromSchema(shape.deadLettersMax, wholeNumber).describe(
    'dead letters to keep; beyond that, messages stay in the queue',
  ),
  deadLetterExpired: fromSchema(shape.deadLetterExpired, onOff).describe('keep expired messages as dead letters'),
  delayMs: fromSchema(shape.delayMs, milliseconds).describe('pause before the first delivery'),
  nackDelayMs: fromSchema(shape.nackDelayMs, milliseconds).describe('pause after a negative acknowledgement'),
  nackDelayMaxMs: fromSchema(shape.nackDelayMaxMs, milliseconds).describe(
    'the pause doubles with each delivery, up to this (default: --nack-delay-ms)',
  ),
  ttlMs: fromSchema(shape.ttlMs, milliseconds).describe('age at which a message is no longer delivered; 0 is never'),
  extendLease: fromSchema(shape.extendLease, onOff).describe(
    'give a consumer more time if it sends a key alone; the original ignores that',
  ),
  headers: fromSchema(shape.headers, onOff).describe(
    'accept the header frames PZQ-DELAY-MS: and PZQ-TTL-MS: from producers',
  ),
  probeIntervalMs: fromSchema(shape.probeIntervalMs, milliseconds).describe('how often a failed store is retried'),
  drainMs: fromSchema(shape.drainMs, milliseconds).describe('how long consumers may still acknowledge after SIGTERM'),
  name: text('NAME', '1 to 200 characters').default('pzq').describe('name of the queue in the rules of --access'),
});

/** Schema of all options. */
export const queueOptions = z.strictObject({
  ...own.shape,
  access: accessOption(),
  ...hubOptions,
  ...httpOptions,
  statsMs: milliseconds({ min: 1 }).default(10_000).describe('how often counters are logged, at level debug'),
});

/** Values of the {@link queueOptions}. */
export type QueueSettings = z.output<typeof queueOptions>;

/** What the server takes of these settings. */
export function serverOptions(settings: QueueSettings): PzqServerOptions {
  const curve = processServerCurve();
  return {
    ...own.parse(settings),
    // A legal message must always fit into the write buffer, whatever its limit.
    intakeMaxBytes: Math.max(shape.intakeMaxBytes.def.defaultValue, settings.maxMessageBytes),
    // The right to consume is checked in the handshake, so the server must know it from the start.
    ...(curve === undefined ? {} : { curve }),
  };
}
