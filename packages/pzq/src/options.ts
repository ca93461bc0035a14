/** Options of the PZQ server: docs/protocols/pzq.md, section "Defaults". */
import { accessRules, endpointOf, milliseconds, curveOfServer, transportOfServer } from '@proj/transport/schemas';
import * as z from 'zod';
import type { QueueStore } from './store/store.js';

const DAY_MS = 86_400_000;
const MIB = 2 ** 20;
const GIB = 2 ** 30;
const MANY = Number.MAX_SAFE_INTEGER;

const endpoint = endpointOf('must be a ZeroMQ endpoint such as tcp://127.0.0.1:11131 or ipc:///run/queue.sock');
const endpoints = z.union([endpoint, z.array(endpoint).min(1).max(16)], 'must be an endpoint, or a list of 1 to 16');
/** A time that may be long, such as the life of a message: up to ten years. */
const longMilliseconds = z
  .int()
  .min(0)
  .max(3650 * DAY_MS);
const count = (min: number, max: number) => z.int().min(min).max(max);

const storeAddress = z
  .string()
  .regex(/^(lmdb:.+|memory:|postgres(ql)?:\/\/.+)$/, 'must be lmdb:FOLDER, postgres://... or memory:');
const storeObject = z.custom<QueueStore>(
  (value) => typeof value === 'object' && value !== null && typeof (value as Partial<QueueStore>).commit === 'function',
  'must be a QueueStore',
);
const access = accessRules('pzq');

/** What `setAccess` takes. */
export const pzqAccessOptions = z.strictObject({
  /** The rules, all of them. */
  access,
});

/** Schema of {@link PzqServerOptions}. All fields are optional; unknown ones are refused. */
export const pzqServerOptions = z
  .strictObject({
    /** Where producers come to: one endpoint, or up to 16. Port `*` allowed, here and below. Default: the original's port. */
    receive: endpoints.default('tcp://127.0.0.1:11131'),
    /** Where consumers come to. Default: the original's port. */
    send: endpoints.default('tcp://127.0.0.1:11132'),
    /** Where the queue tells how it is. Default: the port after (the original has ipc:///tmp/pzq-monitor). */
    monitor: endpoints.default('tcp://127.0.0.1:11133'),
    /** Where consumers of dead letters come to. Default: nowhere. */
    deadLetterSend: endpoints.optional(),
    /**
     * Where messages are kept: `lmdb:FOLDER`, `postgres://...` (shared by several servers; needs the package `pg`), `memory:`
     * (for what may be lost), or a {@link QueueStore}. Default `lmdb:./pzq-data`.
     */
    store: z
      .union([storeAddress, storeObject], 'must be lmdb:FOLDER, postgres://..., memory: or a QueueStore')
      .default('lmdb:./pzq-data'),
    /** Milliseconds that a consumer has to acknowledge. 10 ms to a day, default 5000 (original). */
    ackTimeoutMs: milliseconds(10).default(5000),
    /** Messages in the queue, in flight included. 0 sets no limit; default 10,000,000. */
    maxMessages: count(0, MANY).default(10_000_000),
    /** Bytes of their bodies. 0 sets no limit; default 8 GiB. */
    maxBytes: count(0, MANY).default(8 * GIB),
    /** Bytes of one body. 1 KiB to 1 GiB, default 64 MiB. */
    maxMessageBytes: count(1024, GIB).default(64 * MIB),
    /** Frames of one body. Up to 100,000, default 1024. */
    maxParts: count(1, 100_000).default(1024),
    /** Messages delivered and not yet acknowledged, over all consumers. Default 10,000. */
    maxInFlight: count(1, 10_000_000).default(10_000),
    /** Bytes of them; one message may be larger. Default 64 MiB (original: 30 MiB). */
    maxInFlightBytes: count(1, MANY).default(64 * MIB),
    /** Messages of one group commit. Default 512: beyond it the store is hardly faster. */
    batchMax: count(1, 100_000).default(512),
    /** Bytes of one group commit; one message may be larger. Default 8 MiB. */
    batchMaxBytes: count(1, MANY).default(8 * MIB),
    /** Messages that may wait for a commit before producers are refused, one of them when it has as many as there is room left. Default 100,000. */
    intakeMax: count(1, 10_000_000).default(100_000),
    /** Bytes of them, shared likewise. Default 256 MiB. */
    intakeMaxBytes: count(1024, MANY).default(256 * MIB),
    /** Acknowledgements that one producer may leave unread before its messages are dropped. Default 100,000. */
    producerAckMax: count(1, 10_000_000).default(100_000),
    /** Bytes of the ids in them. Default 16 MiB. */
    producerAckMaxBytes: count(1024, 2 ** 40).default(16 * MIB),
    /** Messages held in memory before their turn; the rest waits in the store. Default 10,000. */
    windowMax: count(1, 1_000_000).default(10_000),
    /** Bytes of them; one message may be larger. Default 64 MiB. */
    windowMaxBytes: count(1, MANY).default(64 * MIB),
    /** Milliseconds after which a store that failed is tried again. Default 1000. */
    probeIntervalMs: milliseconds(1).default(1000),
    /** Milliseconds that consumers get to acknowledge, and producers to read their answers, when the queue drains. Default 5000. */
    drainMs: milliseconds(0).default(5000),
    /** Milliseconds in which a producer's id that comes again is acknowledged without a second copy. 0, the default: never (original). */
    dedupeWindowMs: longMilliseconds.default(0),
    /** Deliveries after which a message goes to the dead letters instead. 0, the default: never. */
    maxDeliveries: count(0, 2 ** 31 - 1).default(0),
    /** Dead letters that may exist; beyond it messages stay in the queue, and what expires is removed. Default 100,000. */
    deadLettersMax: count(0, MANY).default(100_000),
    /** Keep what expires among the dead letters instead of removing it. Default false. */
    deadLetterExpired: z.boolean().default(false),
    /** Milliseconds between storing a message and its first delivery. 0, the default: at once. */
    delayMs: longMilliseconds.default(0),
    /** Milliseconds that a negatively acknowledged message rests. 0, the default: none (original). */
    nackDelayMs: milliseconds(0).default(0),
    /** That rest doubles with each delivery up to this. Default: `nackDelayMs`, so it does not. */
    nackDelayMaxMs: milliseconds(0).optional(),
    /** Milliseconds after which a message is not delivered any more. 0, the default: never. */
    ttlMs: longMilliseconds.default(0),
    /** A consumer may send a key alone to start its lease anew, which the original ignores. Default false. */
    extendLease: z.boolean().default(false),
    /** Read the producers' header frames `PZQ-DELAY-MS:` and `PZQ-TTL-MS:`, which the original drops. Default false. */
    headers: z.boolean().default(false),
    /** Messages taken from a store that several servers share, at a time. Default 256. */
    takeMax: count(1, 10_000).default(256),
    /** Sockets and time to run on. Default: ZeroMQ and the system clock. */
    transport: transportOfServer.optional(),
    /** CURVE: encrypts, and lets in by key. Default: neither. */
    curve: curveOfServer.optional(),
    /** What rules of access call the queue; its figures are `NAME.monitor`, its dead letters `NAME.dead`. 1 to 200 characters, default `pzq`. */
    name: z.string().min(1).max(200).default('pzq'),
    /** Who may push (`request`) and who may consume (`serve`): rule 39. Rules for single keys need a transport that tells keys, as `zmtpTransport()` of `@proj/zmtp`, and `curve`. Default: everybody may everything. */
    access: access.optional(),
  })
  .refine((o) => o.maxBytes === 0 || o.maxBytes >= o.maxMessageBytes, {
    path: ['maxBytes'],
    error: 'must be 0 or at least maxMessageBytes, or a legal message could never be stored',
  })
  .refine((o) => o.intakeMaxBytes >= o.maxMessageBytes, {
    path: ['intakeMaxBytes'],
    error: 'must be at least maxMessageBytes, or a legal message could never be stored',
  })
  .refine((o) => o.nackDelayMaxMs === undefined || o.nackDelayMaxMs >= o.nackDelayMs, {
    path: ['nackDelayMaxMs'],
    error: 'must be at least nackDelayMs, with which the rest begins',
  })
  .refine((o) => o.ttlMs === 0 || o.ttlMs > o.delayMs, {
    path: ['ttlMs'],
    error: 'must be 0 or more than delayMs, or nothing would ever be delivered',
  })
  .transform((o) => ({ ...o, nackDelayMaxMs: o.nackDelayMaxMs ?? o.nackDelayMs }));

/** What a user passes to the server; see the fields of {@link pzqServerOptions}. */
export type PzqServerOptions = z.input<typeof pzqServerOptions>;

/** Validated options with every default filled in. */
export type PzqServerSettings = z.output<typeof pzqServerOptions>;
