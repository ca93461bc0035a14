/** The options of proj-queue: those of `PzqServer`, as flags. */
import {
  accessOption,
  bindEndpoint,
  bytes,
  httpOptions,
  hubOptions,
  milliseconds,
  onOff,
  text,
  wholeNumber,
  withinADay,
} from '@proj/appkit';
import * as z from 'zod';

const DAY_MS = 86_400_000;
const YEARS_MS = 3650 * DAY_MS;
const MIB = 1_048_576;
const MANY = 10_000_000;

/** Schema of all options. The defaults are those of `PzqServer`, which also refuses inconsistent values. */
export const queueOptions = z.strictObject({
  receive: bindEndpoint().default('tcp://127.0.0.1:11131').describe('ROUTER that producers push to'),
  send: bindEndpoint().default('tcp://127.0.0.1:11132').describe('DEALER that consumers connect their ROUTER to'),
  monitor: bindEndpoint().default('tcp://127.0.0.1:11133').describe('ROUTER that answers MONITOR with statistics'),
  store: text('STORE', 'lmdb:FOLDER, postgres://... or memory:')
    .default('lmdb:./pzq-data')
    .describe(
      'where to keep messages: lmdb:FOLDER, postgres://... for several servers, or memory: for messages that may be lost',
    ),
  ackTimeoutMs: withinADay(10)
    .default(5000)
    .describe('how long a consumer may take to acknowledge before the message is delivered again'),
  maxMessages: wholeNumber({ min: 0 }).default(MANY).describe('messages that the queue may hold; 0 is no limit'),
  maxBytes: bytes({ min: 0 }).default(8_589_934_592).describe('bytes that their bodies may take; 0 is no limit'),
  maxMessageBytes: bytes({ min: 1024, max: 1_073_741_824 })
    .default(64 * MIB)
    .describe('largest body'),
  maxParts: wholeNumber({ min: 1, max: 100_000 }).default(1024).describe('most frames in a body'),
  maxInFlight: wholeNumber({ min: 1, max: MANY })
    .default(10_000)
    .describe('unacknowledged messages at all consumers together'),
  maxInFlightBytes: bytes({ min: 1 })
    .default(64 * MIB)
    .describe('bytes of these messages'),
  batchMax: wholeNumber({ min: 1, max: 100_000 }).default(512).describe('most messages in one flush'),
  batchMaxBytes: bytes({ min: 1 })
    .default(8 * MIB)
    .describe('most bytes in one flush'),
  producerAckMax: wholeNumber({ min: 1, max: MANY })
    .default(100_000)
    .describe('answers that a producer may leave unread before its messages are dropped'),
  dedupeWindowMs: milliseconds({ min: 0, max: YEARS_MS })
    .default(0)
    .describe('how long an id is remembered: a message that repeats it is not stored again; 0 is never'),
  maxDeliveries: wholeNumber({ min: 0, max: 2_147_483_647 })
    .default(0)
    .describe('deliveries after which a message goes to the dead letters; 0 is never'),
  deadLetterSend: bindEndpoint().optional().describe('DEALER that delivers the dead letters (default: none)'),
  deadLettersMax: wholeNumber({ min: 0 })
    .default(100_000)
    .describe('dead letters to keep; beyond that, messages stay in the queue'),
  deadLetterExpired: onOff().default(false).describe('keep expired messages as dead letters'),
  delayMs: milliseconds({ min: 0, max: YEARS_MS }).default(0).describe('pause before the first delivery'),
  nackDelayMs: withinADay(0).default(0).describe('pause after a negative acknowledgement'),
  nackDelayMaxMs: withinADay(0)
    .optional()
    .describe('the pause doubles with each delivery, up to this (default: --nack-delay-ms)'),
  ttlMs: milliseconds({ min: 0, max: YEARS_MS })
    .default(0)
    .describe('age at which a message is no longer delivered; 0 is never'),
  extendLease: onOff()
    .default(false)
    .describe('give a consumer more time if it sends a key alone; the original ignores that'),
  headers: onOff().default(false).describe('accept the header frames PZQ-DELAY-MS: and PZQ-TTL-MS: from producers'),
  probeIntervalMs: withinADay().default(1000).describe('how often a failed store is retried'),
  drainMs: withinADay(0).default(5000).describe('how long consumers may still acknowledge after SIGTERM'),
  name: text('NAME', '1 to 200 characters').default('pzq').describe('name of the queue in the rules of --access'),
  access: accessOption(),
  ...hubOptions,
  ...httpOptions,
  statsMs: milliseconds({ min: 1 }).default(10_000).describe('how often counters are logged, at level debug'),
});

/** Values of the {@link queueOptions}. */
export type QueueSettings = z.output<typeof queueOptions>;
