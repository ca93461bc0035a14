/** Options of the EventMQ broker and of its pub-sub device: docs/protocols/emqp.md, section "Defaults". */
import type { RecordStore } from '@proj/transport';
import * as z from 'zod';
import { access, count, endpoints, milliseconds, registrationFields, socketFields } from '../options.js';

/** What a broker needs from a pub-sub device in its process. */
export interface EmqpPublisher {
  /** As `EmqpPubSub.publish`. */
  publish(topic: Uint8Array, body: Uint8Array): void;
}

/** Options that the broker and the device share. */
const emqpFields = {
  ...socketFields,
  /** Frames of one message. Default 64. */
  maxMessageFrames: z.int().min(9).max(1_000_000).default(64),
};

/** Schema of {@link EmqpBrokerOptions}. All fields are optional; unknown ones are rejected. */
export const emqpBrokerOptions = z
  .strictObject({
    ...emqpFields,
    /** Endpoints for clients and schedulers: one or several. Port `*` allowed. Default: EventMQ's. */
    frontend: endpoints.default('tcp://127.0.0.1:47291'),
    /** Endpoints for workers. Default: EventMQ's. */
    backend: endpoints.default('tcp://127.0.0.1:47290'),
    /** Endpoints for consoles. Any peer that reaches one may stop the broker. Default: EventMQ's. */
    admin: endpoints.default('tcp://127.0.0.1:47293'),
    /** Milliseconds between two heartbeats to a worker or scheduler. 10 ms to a day, default 3000 (EventMQ). */
    heartbeatIntervalMs: milliseconds(10).default(3000),
    /** Silence after which a worker or scheduler is dead, in milliseconds. Default 9000: three intervals; EventMQ waits 5 to 15 s. */
    expiryMs: milliseconds(10).default(9000),
    /** Queues of a worker that names none, as `[weight, name]`. 1 to 1000, default `[[10, "default"]]` (EventMQ). */
    defaultQueues: z
      .array(z.tuple([z.number(), z.string().min(1).max(85)]))
      .min(1)
      .max(1000)
      .default([[10, 'default']]),
    /** What to do with a request for a queue that no worker serves: put it into queue `default` at once, or let it `wait` for `requestTtlMs`. Default `default` (EventMQ). */
    unknownQueue: z.enum(['default', 'wait']).default('default'),
    /** How long a request waits in a queue without workers before it moves to queue `default`, in milliseconds. Up to a day, default 30000. */
    requestTtlMs: milliseconds(1).default(30_000),
    /** Requests that may wait in a queue. Default 10000 (EventMQ). */
    queueMax: count(10_000_000).default(10_000),
    /** Requests that may wait in queue `default`. Default 1000000. */
    defaultQueueMax: count(10_000_000).default(1_000_000),
    /** Bytes of all waiting or guaranteed requests, including bookkeeping; of one client, a 32nd where no worker serves. Default 512 MiB. */
    queueMaxBytes: count(Number.MAX_SAFE_INTEGER).default(536_870_912),
    /**
     * Queue names with workers, not counting `default`, and as many again that clients only ask for. A client that was the first to ask for a
     * tenth of what is left of the latter, at least 16, may not ask for further names meanwhile: its requests go to `default`. All sockets with
     * one CURVE key, or on one connection, count as one client. Default 10000.
     */
    queuesMax: count(1_000_000).default(10_000),
    /** Workers and schedulers that may be registered at once. Default 100000. */
    peersMax: count(1_000_000).default(100_000),
    /** See {@link registrationFields}. */
    registrationsPerSecondMax: registrationFields.registrationsPerSecondMax,
    /** How long the result of a job is forwarded to its client, in milliseconds. Up to a day, default 3600000. */
    resultRouteTtlMs: milliseconds(1).default(3_600_000),
    /** Jobs with awaited results; beyond that the oldest is given up. Default 1000000. */
    resultRouteMax: count(10_000_000).default(1_000_000),
    /** Number of workers that a guaranteed job may be given to before it is given up. 1 to 100, default 10. */
    guaranteeAttempts: count(100).default(10),
    /** Silence after which a worker that has left loses its unfinished jobs, in milliseconds. Default 5000. */
    leaveGraceMs: milliseconds(10).default(5000),
    /**
     * The store for guaranteed jobs. Default: memory, so they end with this process. With a store, such as `lmdbRecords` or `postgresRecords` of
     * `@proj/store`, a job is accepted once it is on disk, and the next broker with that store takes it over. The broker opens and closes the
     * store, and must be its only user. Rule 35.
     */
    store: z.custom<RecordStore>(isStore, 'expected a RecordStore, such as lmdbRecords({ folder })').optional(),
    /** How to accept a client's request: with the product's REPLY, with ACK, or both. Default `reply` (EventMQ). */
    acceptance: z.enum(['reply', 'ack', 'both']).default('reply'),
    /** The farewell: the text's KBAI, the product's KBYE, or both. Default `both`. */
    byes: z.enum(['both', 'kbai', 'kbye']).default('both'),
    /** Obey DISCONNECT on frontend and backend, as EventMQ does. Default false, because otherwise any client could stop the broker. */
    allowClientDisconnect: z.boolean().default(false),
    /** An `EmqpPubSub` of this process that publishes messages from frontend or backend. Default none: they are dropped. */
    pubSub: z.custom<EmqpPublisher>(isPublisher, 'must be an EmqpPubSub').optional(),
    /** Milliseconds that running jobs may take to finish when the broker stops. Default 10000. */
    drainMs: milliseconds(0).default(10_000),
    /** Who may request and who may serve which queue: rule 33. Rules for single keys need `curve` and `zmtpTransport()`. Default: no restrictions. */
    access: access.optional(),
  })
  .refine((o) => o.expiryMs > o.heartbeatIntervalMs, {
    path: ['expiryMs'],
    error: 'must be greater than heartbeatIntervalMs, because otherwise every peer is dead before its first heartbeat',
  })
  .refine((o) => o.queueMaxBytes >= o.maxMessageBytes, {
    path: ['queueMaxBytes'],
    error: 'must be at least maxMessageBytes, because otherwise some legal messages could never be queued',
  });

/** Options of `EmqpBroker`; see {@link emqpBrokerOptions}. */
export type EmqpBrokerOptions = z.input<typeof emqpBrokerOptions>;

/** Validated options with all defaults. */
export type EmqpBrokerSettings = z.output<typeof emqpBrokerOptions>;

/** Schema of {@link EmqpPubSubOptions}. All fields are optional; unknown ones are rejected. */
export const emqpPubSubOptions = z.strictObject({
  ...emqpFields,
  /** Endpoints for publishers: one or several. Port `*` allowed. Default: EventMQ's. */
  publish: endpoints.default('tcp://127.0.0.1:47298'),
  /** Endpoints for subscribers. Default: EventMQ's. */
  subscribe: endpoints.default('tcp://127.0.0.1:47299'),
  /** Bind an XPUB instead of a PUB, so that events report which prefixes have subscribers. Makes no difference to subscribers. Default false. */
  xpub: z.boolean().default(false),
  /** Messages that may wait for one subscriber; it misses further ones. Up to 10000000, default 1000. */
  subscriberQueueMax: count(10_000_000).default(1000),
  /**
   * Who may publish (`request`) and subscribe to (`serve`) which topics: rule 34. Rules for single keys need `curve` and `zmtpTransport()`.
   * Default: no restrictions.
   */
  access: access.optional(),
});

/** Options of `EmqpPubSub`; see {@link emqpPubSubOptions}. */
export type EmqpPubSubOptions = z.input<typeof emqpPubSubOptions>;

/** Validated options with all defaults. */
export type EmqpPubSubSettings = z.output<typeof emqpPubSubOptions>;

function isPublisher(value: unknown): boolean {
  return typeof value === 'object' && value !== null && typeof (value as Partial<EmqpPublisher>).publish === 'function';
}

function isStore(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && ['open', 'commit', 'entries', 'close'].every((each) => each in value)
  );
}
