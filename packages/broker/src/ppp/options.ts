/** Options of the Paranoid Pirate queue and pool: docs/protocols/ppp.md, section "Defaults". */
import * as z from 'zod';
import { access, checkSilence, count, curve, endpoints, milliseconds, transport, withSilence } from '../options.js';

/** What both have: workers, and requests for them. */
const backend = {
  /** Milliseconds between two heartbeats to a worker; workers must use about the same. 10 ms to a day, default 1000 (the Guide). */
  heartbeatIntervalMs: milliseconds(10).default(1000),
  /** Intervals of silence after which an idle worker is dead. 2 to 100, default 3 (6/PPP: "usually 3-5"). */
  liveness: z.int().min(2).max(100).default(3),
  /** Milliseconds of silence after which a busy worker is dead that is known to beat while it works. Default interval x liveness. */
  busyExpiryMs: milliseconds(10).optional(),
  /** Milliseconds of silence after which any other busy worker is dead: one that was never heard at work, as the Guide's, or not yet. At least `busyExpiryMs`; default 300000, or `busyExpiryMs` when that is more. */
  muteExpiryMs: milliseconds(10).optional(),
  /** Milliseconds after which an unanswered job is taken from a worker however alive it is. 0, the default, sets no limit. */
  jobTimeoutMs: milliseconds(0).default(0),
  /** How many workers may be given one request before it is dropped. 1 to 100, default 3: a request that kills its worker must not kill all. */
  maxAttempts: count(100).default(3),
  /** Requests that may wait. Default 100000. */
  requestQueueMax: count(10_000_000).default(100_000),
  /** Bytes of all open requests together, waiting or running, each charged for its bookkeeping too. Default 256 MiB. */
  requestQueueMaxBytes: count(Number.MAX_SAFE_INTEGER).default(268_435_456),
  /** Workers that may be registered at a time. Default 100000. */
  workersMax: count(1_000_000).default(100_000),
  /** Frames of one message. Default 1024. */
  maxMessageFrames: z.int().min(8).max(1_000_000).default(1024),
  /** Bytes of one message. Default 64 MiB. */
  maxMessageBytes: z.int().min(1024).max(Number.MAX_SAFE_INTEGER).default(67_108_864),
  /** Milliseconds that running jobs get when we drain. Default 10000. */
  drainMs: milliseconds(0).default(10_000),
  /** Milliseconds that closing may take to hand over what is pending. Default 1000. */
  lingerMs: milliseconds(0).default(1000),
  /** CURVE: encrypts, and lets in by key. Default: neither. */
  curve: curve.optional(),
  /** Who may ask for and who may serve the work, under the name `ppp`: rule 20. Rules for single keys need a transport that tells keys, as `zmtpTransport()` of `@proj/zmtp`. Default: everybody may everything. */
  access: access.optional(),
  /** Sockets and time to run on. Default: ZeroMQ and the system clock. */
  transport: transport.optional(),
};

interface Related {
  readonly requestQueueMaxBytes: number;
  readonly maxMessageBytes: number;
}

const queueFits = ({ requestQueueMaxBytes, maxMessageBytes }: Related) => requestQueueMaxBytes >= maxMessageBytes;
const queueFault = {
  path: ['requestQueueMaxBytes'],
  error: 'must be at least maxMessageBytes, or a legal message could never be queued',
};

/** Schema of {@link PppQueueOptions}. All fields are optional; unknown ones are refused. */
export const pppQueueOptions = z
  .strictObject({
    /** Where clients come: one endpoint, or several for the same ROUTER. Port `*` allowed. Default tcp://127.0.0.1:5556, or none with `frontendConnect`. */
    frontend: endpoints.optional(),
    /** Where clients are that bind: endpoints to which the same ROUTER connects. Default: none. */
    frontendConnect: endpoints.optional(),
    /** Where workers come, likewise. Default tcp://127.0.0.1:5557, or none with `backendConnect`; the Guide's 5555 and 5556 would be in the way of Majordomo. */
    backend: endpoints.optional(),
    /** Where workers are that bind, likewise. That one is gone is told by its silence alone, or by its next READY: see rule 5. */
    backendConnect: endpoints.optional(),
    /** Milliseconds a request waits for a worker. Up to a day, default 30000: longer than a Lazy Pirate's patience. */
    requestTtlMs: milliseconds(1).default(30_000),
    ...backend,
  })
  .superRefine(checkSilence)
  .refine(queueFits, queueFault)
  .transform(withSilence);

/** Schema of {@link PppPoolOptions}. All fields are optional; unknown ones are refused. */
export const pppPoolOptions = z
  .strictObject({
    /** Where workers come: one endpoint, or several for the same ROUTER. Port `*` allowed. Default tcp://127.0.0.1:5557, or none with `connect`. */
    endpoint: endpoints.optional(),
    /** Where workers are that bind, likewise: see rule 5 of the queue. */
    connect: endpoints.optional(),
    /** Milliseconds a request may take in all, waiting included. Up to a day, default 30000. */
    timeoutMs: milliseconds(1).default(30_000),
    ...backend,
  })
  .superRefine(checkSilence)
  .refine(queueFits, queueFault)
  .transform(withSilence);

const isAbortSignal = (value: unknown): value is AbortSignal =>
  typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value;

/** Schema of {@link PppRequestOptions}. */
export const pppRequestOptions = z.strictObject({
  /** Instead of the pool's `timeoutMs`, for this request. 1 ms to a day. */
  timeoutMs: milliseconds(1).optional(),
  /** Ends the request with the signal's reason. A worker that has it already finishes it, unheard. */
  signal: z.custom<AbortSignal>(isAbortSignal, { error: 'expected an AbortSignal' }).optional(),
});

/** What a user passes to the queue; see the fields of {@link pppQueueOptions}. */
export type PppQueueOptions = z.input<typeof pppQueueOptions>;

/** Validated options with every default filled in. */
export type PppQueueSettings = z.output<typeof pppQueueOptions>;

/** What a user passes to the pool; see the fields of {@link pppPoolOptions}. */
export type PppPoolOptions = z.input<typeof pppPoolOptions>;

/** Validated options with every default filled in. */
export type PppPoolSettings = z.output<typeof pppPoolOptions>;

/** What a single request of a pool may set. */
export type PppRequestOptions = z.input<typeof pppRequestOptions>;

/** The settings that the workers' side needs: those that queue and pool share. */
export type PppBackendSettings = Omit<
  PppQueueSettings,
  'frontend' | 'frontendConnect' | 'backend' | 'backendConnect' | 'requestTtlMs'
>;
