/** Options of the PZQ producer and consumer: what may be set, defaults, bounds. Rules 23 and 24 of docs/protocols/pzq.md. */
import { endpoints, flag, integer, oneOf, withDefault } from '@proj/transport/peer-schemas';
import * as z from 'zod/mini';
import { clientFields, count, milliseconds, requestFields, socketFields } from '../options.js';

/** The longest `delayMs` and `ttlMs` of a message. */
const LONGEST_MS = 4_000_000_000_000;

const sharedFields = {
  ...socketFields,
  /** Largest message, in frames, sent or received. 8 to 65,536; default 1024. */
  maxMessageFrames: withDefault(integer(8, 65_536), 1024),
  /** How long `drain` may take. 1 ms to a day, default 10,000. */
  drainMs: withDefault(milliseconds, 10_000),
};

/** Schema of {@link PzqProducerOptions}. */
export const pzqProducerOptions = z.strictObject({
  ...sharedFields,
  /**
   * Receive sockets of queues, in order of preference; after silence or a lost connection the next one is used. 1 to 64; default
   * `tcp://127.0.0.1:11131`.
   */
  endpoints: withDefault(endpoints(), ['tcp://127.0.0.1:11131']),
  /** Messages sent and not acknowledged. 1 to 100,000; default 1000. A queue refuses what exceeds its `producerIntakeMax`, 10,000 by default. */
  window: withDefault(integer(1, 100_000), 1000),
  /** Their bytes: at the limit, no further message is sent. At least 1; default 67,108,864. */
  windowBytes: withDefault(count, 67_108_864),
  /** Calls waiting for a full window; more fail with `QUEUE_FULL`. 0 to 10,000,000; default 100,000. */
  waitingMax: clientFields.waitingMax,
  /** Silence after which a message is sent again. 1 ms to a day, default 5000 (the original's PHP client). */
  ackTimeoutMs: withDefault(milliseconds, 5000),
  /** Total time a message may stay unacknowledged, including waiting. 1 ms to a day; default: no limit. */
  timeoutMs: z.optional(milliseconds),
});

/** What `new PzqProducer()` takes; everything has a default. */
export type PzqProducerOptions = z.input<typeof pzqProducerOptions>;

/** {@link PzqProducerOptions} with the defaults filled in. */
export type PzqProducerSettings = z.output<typeof pzqProducerOptions>;

const wish = z.optional(integer(0, LONGEST_MS));

/** Schema of {@link PzqSendOptions}. */
export const pzqSendOptions = z.strictObject({
  /** Delay between storing and delivery, in milliseconds. 0 to 4,000,000,000,000; default 0. Requires a queue of ours that reads headers. */
  delayMs: wish,
  /** Time to live from storing on, in milliseconds. 0 to 4,000,000,000,000; default: no limit. Requires a queue of ours that reads headers. */
  ttlMs: wish,
  /**
   * The message's id, 1 to 255 bytes. A queue with a dedupe window stores messages with the same id once, even when the sender
   * has restarted in between. Default: a new UUID.
   */
  id: z.optional(
    z
      .union([z.string(), z.instanceof(Uint8Array)], 'expected text or bytes')
      .check(z.refine((id) => id.length > 0 && Buffer.byteLength(id) <= 255, 'must be 1 to 255 bytes')),
  ),
  /** Ends the call with the signal's reason. The message may still be stored. */
  signal: requestFields.signal,
});

/** The options of a single message. */
export type PzqSendOptions = z.input<typeof pzqSendOptions>;

/** Schema of {@link PzqConsumerOptions}. */
export const pzqConsumerOptions = z.strictObject({
  ...sharedFields,
  /** Send sockets of queues; messages come from all of them. 1 to 64; default `tcp://127.0.0.1:11132`. */
  endpoints: withDefault(endpoints(), ['tcp://127.0.0.1:11132']),
  /** Messages taken from the socket and not settled, including those waiting here. 1 to 100,000; default 32. */
  prefetch: withDefault(integer(1, 100_000), 32),
  /** Drop a delivery whose acknowledgement timeout is over when its turn comes; the queue sends it again anyway. Default true. */
  dropExpired: withDefault(flag(), true),
  /** Keys of acknowledged messages to remember, so that they are not handled again. 0 to 1,000,000; default 10,000. */
  dedupeMax: withDefault(integer(0, 1_000_000), 10_000),
});

/** What `new PzqConsumer()` takes; everything has a default. */
export type PzqConsumerOptions = z.input<typeof pzqConsumerOptions>;

/** {@link PzqConsumerOptions} with the defaults filled in. */
export type PzqConsumerSettings = z.output<typeof pzqConsumerOptions>;

/** Schema of {@link PzqReceiveOptions}. */
export const pzqReceiveOptions = z.strictObject({
  /** Ends the wait with the signal's reason. */
  signal: requestFields.signal,
});

/** What `consumer.receive()` takes. */
export type PzqReceiveOptions = z.input<typeof pzqReceiveOptions>;

/** Schema of {@link PzqRunOptions}. */
export const pzqRunOptions = z.strictObject({
  /** Number of concurrent handlers. 1 to 100,000, at most `prefetch`; default 1. */
  concurrency: withDefault(integer(1, 100_000), 1),
  /** If a handler rejects: return the message at once (`nack`) or leave it until its lease ends (`leave`). Default `nack`. */
  onError: withDefault(oneOf('nack', 'leave'), 'nack'),
  /** Stops taking messages; running handlers may finish. */
  signal: requestFields.signal,
});

/** What `consumer.run()` takes besides the handler. */
export type PzqRunOptions = z.input<typeof pzqRunOptions>;
