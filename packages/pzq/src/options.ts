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
/** A time that may be long, such as the lifetime of a message: up to ten years. */
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

/** The argument of `setAccess`. */
export const pzqAccessOptions = z.strictObject({
  /** All rules. */
  access,
});

/** Schema of {@link PzqServerOptions}. All fields are optional; unknown ones are rejected. */
export const pzqServerOptions = z
  .strictObject({
    /** Endpoints for producers, 1 to 16. Port `*` is allowed, here and below. Default: the original's port. */
    receive: endpoints.default('tcp://127.0.0.1:11131'),
    /** Endpoints for consumers. Default: the original's port. */
    send: endpoints.default('tcp://127.0.0.1:11132'),
    /** Where the queue answers `MONITOR`. Default: the next port (the original has ipc:///tmp/pzq-monitor). */
    monitor: endpoints.default('tcp://127.0.0.1:11133'),
    /** Endpoints for consumers of dead letters. Default: none. */
    deadLetterSend: endpoints.optional(),
    /**
     * The store: `lmdb:FOLDER`, `postgres://...` (several servers may share it; requires the package `pg`), `memory:` (for messages that may be
     * lost), or a {@link QueueStore}. Default `lmdb:./pzq-data`.
     */
    store: z
      .union([storeAddress, storeObject], 'must be lmdb:FOLDER, postgres://..., memory: or a QueueStore')
      .default('lmdb:./pzq-data'),
    /** Time limit for a consumer to acknowledge a message, in milliseconds. 10 ms to a day, default 5000 (original). */
    ackTimeoutMs: milliseconds(10).default(5000),
    /** Maximum number of messages in the queue, including those in flight. 0 for no limit; default 10,000,000. Rule 18. */
    maxMessages: count(0, MANY).default(10_000_000),
    /** Maximum bytes of their bodies. 0 for no limit; default 8 GiB. */
    maxBytes: count(0, MANY).default(8 * GIB),
    /** Largest body, in bytes. 1 KiB to 1 GiB, default 64 MiB. */
    maxMessageBytes: count(1024, GIB).default(64 * MIB),
    /** Maximum number of frames in a body. Up to 100,000, default 1024. */
    maxParts: count(1, 100_000).default(1024),
    /** Maximum number of messages delivered and not yet acknowledged, over all consumers. Default 10,000. Rule 16. */
    maxInFlight: count(1, 10_000_000).default(10_000),
    /**
     * Maximum bytes of them; a single message may be larger. Each frame of a body beyond the eighth counts 128 bytes more, here and for
     * `intakeMaxBytes`, `batchMaxBytes` and `windowMaxBytes`. Default 64 MiB (original: 30 MiB).
     */
    maxInFlightBytes: count(1, MANY).default(64 * MIB),
    /**
     * Maximum number of messages in a group commit. Default 256: larger commits are hardly faster, and keep others waiting. While
     * several producers send, each has at most a quarter of it. Rule 7.
     */
    batchMax: count(1, 100_000).default(256),
    /** Maximum bytes in a group commit; a single message may be larger. Default 8 MiB. */
    batchMaxBytes: count(1, MANY).default(8 * MIB),
    /**
     * Maximum number of messages waiting for a commit. Beyond it all producers are rejected, and a single producer once it has as many as are
     * left for the others. Default 100,000.
     */
    intakeMax: count(1, 10_000_000).default(100_000),
    /** Maximum bytes of them, shared likewise. At least `maxMessageBytes`; default 256 MiB. */
    intakeMaxBytes: count(1024, MANY).default(256 * MIB),
    /**
     * Maximum number of messages of one producer waiting for a commit; beyond it, the producer is rejected. Default 10,000: the garbage collector
     * copies what waits.
     */
    producerIntakeMax: count(1, 10_000_000).default(10_000),
    /** Unread acknowledgements of one producer before its messages are dropped. Default 100,000. Rule 4. */
    producerAckMax: count(1, 10_000_000).default(100_000),
    /** Maximum bytes of the ids in them. Default 16 MiB. */
    producerAckMaxBytes: count(1024, 2 ** 40).default(16 * MIB),
    /** Maximum number of messages held in memory ahead of their turn; the rest stays in the store. Default 10,000. */
    windowMax: count(1, 1_000_000).default(10_000),
    /** Maximum bytes of them; a single message may be larger. Default 64 MiB. */
    windowMaxBytes: count(1, MANY).default(64 * MIB),
    /** Milliseconds between probes of a failed store. Default 1000. Rule 9. */
    probeIntervalMs: milliseconds(1).default(1000),
    /** Time that a drain gives consumers to acknowledge and producers to read their answers, in milliseconds. Default 5000. Rule 19. */
    drainMs: milliseconds(0).default(5000),
    /**
     * Time during which a producer's repeated id is acknowledged without storing a second copy, in milliseconds. Default 0: never (original).
     * Rule 6.
     */
    dedupeWindowMs: longMilliseconds.default(0),
    /** Number of deliveries after which a message becomes a dead letter. Default 0: never. Rule 34. */
    maxDeliveries: count(0, 2 ** 31 - 1).default(0),
    /** Maximum number of dead letters; beyond it messages stay in the queue, and expired ones are removed. Default 100,000. */
    deadLettersMax: count(0, MANY).default(100_000),
    /** Make expired messages dead letters instead of removing them. Default false. */
    deadLetterExpired: z.boolean().default(false),
    /** Minimum time between storing a message and its first delivery, in milliseconds. Default 0. Rule 32. */
    delayMs: longMilliseconds.default(0),
    /** How long a negatively acknowledged message rests, in milliseconds; it counts as in flight. Default 0 (original). Rule 36. */
    nackDelayMs: milliseconds(0).default(0),
    /** The rest doubles with each delivery up to this. Default: `nackDelayMs`, no doubling. */
    nackDelayMaxMs: milliseconds(0).optional(),
    /** Milliseconds after which a message is no longer delivered. Default 0: no limit. Rule 33. */
    ttlMs: longMilliseconds.default(0),
    /** Let consumers extend a lease by sending only the key, which the original ignores. Default false. Rule 37. */
    extendLease: z.boolean().default(false),
    /** Read producers' header frames `PZQ-DELAY-MS:` and `PZQ-TTL-MS:`, which the original drops. Default false. Rule 38. */
    headers: z.boolean().default(false),
    /** Maximum number of messages taken at a time from a store that several servers share. Default 256. Rule 30. */
    takeMax: count(1, 10_000).default(256),
    /** Sockets and clock. Default: ZMTP in TypeScript, and the system clock. */
    transport: transportOfServer.optional(),
    /** CURVE: encryption, and authorization by key. Default: neither. */
    curve: curveOfServer.optional(),
    /** The queue's name in access rules; its monitor is `NAME.monitor`, its dead letters are `NAME.dead`. 1 to 200 characters, default `pzq`. */
    name: z.string().min(1).max(200).default('pzq'),
    /**
     * Who may push (`request`) and who may consume (`serve`): rule 39. Rules for single keys require `curve`, and a transport that reports keys,
     * such as `zmtpTransport()` of `@proj/zmtp`. Default: no restrictions.
     */
    access: access.optional(),
  })
  .refine((o) => o.maxBytes === 0 || o.maxBytes >= o.maxMessageBytes, {
    path: ['maxBytes'],
    error: 'must be 0 or at least maxMessageBytes, because otherwise some legal messages could never be stored',
  })
  .refine((o) => o.intakeMaxBytes >= o.maxMessageBytes, {
    path: ['intakeMaxBytes'],
    error: 'must be at least maxMessageBytes, because otherwise some legal messages could never be stored',
  })
  .refine((o) => o.nackDelayMaxMs === undefined || o.nackDelayMaxMs >= o.nackDelayMs, {
    path: ['nackDelayMaxMs'],
    error: 'must be at least nackDelayMs, the first rest',
  })
  .refine((o) => o.ttlMs === 0 || o.ttlMs > o.delayMs, {
    path: ['ttlMs'],
    error: 'must be 0 or more than delayMs, because otherwise no message would ever be delivered',
  })
  .transform((o) => ({ ...o, nackDelayMaxMs: o.nackDelayMaxMs ?? o.nackDelayMs }));

/** The options of `new PzqServer()`; see the fields of {@link pzqServerOptions}. */
export type PzqServerOptions = z.input<typeof pzqServerOptions>;

/** {@link PzqServerOptions} with all defaults. */
export type PzqServerSettings = z.output<typeof pzqServerOptions>;

type ShellOption =
  | 'receive'
  | 'send'
  | 'monitor'
  | 'deadLetterSend'
  | 'store'
  | 'transport'
  | 'curve'
  | 'name'
  | 'access';

/** The engine's settings: all but those of its shell. */
export interface PzqSettings extends Omit<PzqServerSettings, ShellOption> {
  /** Dead letters are delivered at their own endpoint. */
  readonly deadLetterSend: boolean;
  /** The server's version, for the monitor. */
  readonly version: string;
}
