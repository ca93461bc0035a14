/** Options of the EventMQ broker and of its pub-sub device: docs/protocols/emqp.md, section "Defaults". */
import type { RecordStore } from '@proj/transport';
import * as z from 'zod';
import { access, count, curve, endpoints, milliseconds, transport } from '../options.js';

/** What a broker asks of a pub-sub device in its process. */
export interface EmqpPublisher {
  /** As `EmqpPubSub.publish`. */
  publish(topic: Uint8Array, body: Uint8Array): void;
}

/** Schema of {@link EmqpBrokerOptions}. All fields are optional; unknown ones are refused. */
export const emqpBrokerOptions = z
  .strictObject({
    /** Where clients and schedulers connect: one endpoint or several. Port `*` allowed. Default: EventMQ's. */
    frontend: endpoints.default('tcp://127.0.0.1:47291'),
    /** Where workers connect. Default: EventMQ's. */
    backend: endpoints.default('tcp://127.0.0.1:47290'),
    /** Where consoles connect: whoever reaches it may stop the broker. Default: EventMQ's. */
    admin: endpoints.default('tcp://127.0.0.1:47293'),
    /** Milliseconds between two heartbeats to a worker or scheduler. 10 ms to a day, default 3000 (EventMQ). */
    heartbeatIntervalMs: milliseconds(10).default(3000),
    /** Milliseconds of silence after which a worker or scheduler is dead. Default 9000: three intervals; EventMQ waits 5 to 15 s. */
    expiryMs: milliseconds(10).default(9000),
    /** Queues of a worker that names none, as `[weight, name]`. 1 to 1000, default `[[10, "default"]]` (EventMQ). */
    defaultQueues: z
      .array(z.tuple([z.number(), z.string().min(1).max(85)]))
      .min(1)
      .max(1000)
      .default([[10, 'default']]),
    /** A request for a queue that no worker lists: into queue `default` at once, or `wait` for `requestTtlMs`. Default `default` (EventMQ). */
    unknownQueue: z.enum(['default', 'wait']).default('default'),
    /** Milliseconds a request waits in a queue without workers before it moves to queue `default`. Up to a day, default 30000. */
    requestTtlMs: milliseconds(1).default(30_000),
    /** Requests that may wait in a queue. Default 10000 (EventMQ). */
    queueMax: count(10_000_000).default(10_000),
    /** Requests that may wait in queue `default`. Default 1000000. */
    defaultQueueMax: count(10_000_000).default(1_000_000),
    /** Bytes of all requests that wait or are guaranteed, each charged for its bookkeeping too. Default 512 MiB. */
    queueMaxBytes: count(Number.MAX_SAFE_INTEGER).default(536_870_912),
    /**
     * Queue names with workers at a time, `default` apart, and besides, as many that are only asked for; a client that was the first
     * to ask for a tenth of these, 16 at least, may ask for no further one meanwhile: its requests go to `default`. Default 10000.
     */
    queuesMax: count(1_000_000).default(10_000),
    /** Workers and schedulers that may be registered at a time. Default 100000. */
    peersMax: count(1_000_000).default(100_000),
    /** Milliseconds for which the result of a job finds its way to the client. Up to a day, default 3600000. */
    resultRouteTtlMs: milliseconds(1).default(3_600_000),
    /** Jobs whose results may be awaited at a time; beyond, the oldest is no longer. Default 1000000. */
    resultRouteMax: count(10_000_000).default(1_000_000),
    /** How many workers may be given one guaranteed job before it is given up. 1 to 100, default 10. */
    guaranteeAttempts: count(100).default(10),
    /** Milliseconds of silence after which a worker that has left loses the jobs it wanted to finish. Default 5000. */
    leaveGraceMs: milliseconds(10).default(5000),
    /**
     * Where guaranteed jobs are kept. By default in memory alone: they end with this process, whatever was promised. With a store, such as
     * `lmdbRecords` or `postgresRecords` of `@proj/store`, one is accepted when it is on the disk, and the next broker with that store goes on with it. Opened and closed by the
     * broker, which is its only owner. Rule 35.
     */
    store: z.custom<RecordStore>(isStore, 'expected a RecordStore, such as lmdbRecords({ folder })').optional(),
    /** What tells a client that its request is taken: the product's REPLY, ACK, or both. Default `reply` (EventMQ). */
    acceptance: z.enum(['reply', 'ack', 'both']).default('reply'),
    /** What is said at the end: the text's KBAI, the product's KBYE, or both. Default `both`. */
    byes: z.enum(['both', 'kbai', 'kbye']).default('both'),
    /** Obey DISCONNECT on frontend and backend as EventMQ does. Default false: any client could stop the broker. */
    allowClientDisconnect: z.boolean().default(false),
    /** Where PUBLISHes go that come to frontend or backend: an `EmqpPubSub` of this process. Default none, then they are dropped. */
    pubSub: z.custom<EmqpPublisher>(isPublisher, 'must be an EmqpPubSub').optional(),
    /** Frames of one message. Default 64. */
    maxMessageFrames: z.int().min(9).max(1_000_000).default(64),
    /** Bytes of one message. Default 64 MiB. */
    maxMessageBytes: z.int().min(1024).max(Number.MAX_SAFE_INTEGER).default(67_108_864),
    /** Milliseconds that running jobs get when the broker stops. Default 10000. */
    drainMs: milliseconds(0).default(10_000),
    /** Milliseconds that closing may take to hand over what is pending. Default 1000. */
    lingerMs: milliseconds(0).default(1000),
    /** CURVE: encrypts, and lets in by key. Default: neither. */
    curve: curve.optional(),
    /** Who may ask for and who may serve which queue: rule 33. Rules for single keys need `curve` and `zmtpTransport()`. Default: everybody everything. */
    access: access.optional(),
    /** Sockets and time to run on. Default: ZeroMQ and the system clock. */
    transport: transport.optional(),
  })
  .refine((o) => o.expiryMs > o.heartbeatIntervalMs, {
    path: ['expiryMs'],
    error: 'must be greater than heartbeatIntervalMs, or every peer is dead before its first heartbeat',
  })
  .refine((o) => o.queueMaxBytes >= o.maxMessageBytes, {
    path: ['queueMaxBytes'],
    error: 'must be at least maxMessageBytes, or a legal message could never be queued',
  });

/** What a user passes to the broker; see the fields of {@link emqpBrokerOptions}. */
export type EmqpBrokerOptions = z.input<typeof emqpBrokerOptions>;

/** Validated options with every default filled in. */
export type EmqpBrokerSettings = z.output<typeof emqpBrokerOptions>;

/** Schema of {@link EmqpPubSubOptions}. All fields are optional; unknown ones are refused. */
export const emqpPubSubOptions = z.strictObject({
  /** Where publishers connect: one endpoint or several. Port `*` allowed. Default: EventMQ's. */
  publish: endpoints.default('tcp://127.0.0.1:47298'),
  /** Where subscribers connect. Default: EventMQ's. */
  subscribe: endpoints.default('tcp://127.0.0.1:47299'),
  /** Bind an XPUB there instead of a PUB: events tell what somebody listens to. Subscribers notice nothing. Default false. */
  xpub: z.boolean().default(false),
  /** Messages that may wait for one subscriber; it misses what comes beyond. Up to 10000000, default 1000. */
  subscriberQueueMax: count(10_000_000).default(1000),
  /** Frames of one message. Default 64. */
  maxMessageFrames: z.int().min(9).max(1_000_000).default(64),
  /** Bytes of one message. Default 64 MiB. */
  maxMessageBytes: z.int().min(1024).max(Number.MAX_SAFE_INTEGER).default(67_108_864),
  /** Milliseconds that closing may take to hand over what is pending. Default 1000. */
  lingerMs: milliseconds(0).default(1000),
  /** CURVE: encrypts, and lets in by key. Default: neither. */
  curve: curve.optional(),
  /** Who may publish (`request`) and hear (`serve`) which topics: rule 34. Rules for single keys need a transport that tells keys, as `zmtpTransport()` of `@proj/zmtp`. Default: everybody may everything. */
  access: access.optional(),
  /** Sockets and time to run on. Default: ZeroMQ and the system clock. */
  transport: transport.optional(),
});

/** What a user passes to the device; see the fields of {@link emqpPubSubOptions}. */
export type EmqpPubSubOptions = z.input<typeof emqpPubSubOptions>;

/** Validated options with every default filled in. */
export type EmqpPubSubSettings = z.output<typeof emqpPubSubOptions>;

function isPublisher(value: unknown): boolean {
  return typeof value === 'object' && value !== null && typeof (value as Partial<EmqpPublisher>).publish === 'function';
}

function isStore(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && ['open', 'commit', 'entries', 'close'].every((each) => each in value)
  );
}
