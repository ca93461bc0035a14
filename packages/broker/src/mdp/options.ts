/** Options of the Majordomo broker and pool: docs/protocols/mdp.md, section "Defaults". */
import type { Service } from '@proj/frames/service';
import type { BodyInput } from '@proj/transport';
import { callback } from '@proj/transport/schemas';
import type { NamedHandler, NamedRequest } from '@proj/transport/service';
import * as z from 'zod';
import { access, checkSilence, count, curve, endpoints, milliseconds, transport, withSilence } from '../options.js';

/** What broker and pool have: workers, and requests for them. */
const backendFields = {
  /** Where to bind: one endpoint, or several for the same ROUTER (clients and workers apart, say). Port `*` allowed. Default: the zguide's. */
  endpoint: endpoints.default('tcp://127.0.0.1:5555'),
  /** Milliseconds between two heartbeats to a worker; workers must use about the same. 10 ms to a day, default 2500 (zguide). */
  heartbeatIntervalMs: milliseconds(10).default(2500),
  /** Intervals of silence after which an idle worker is dead. 2 to 100, default 3 (18/MDP: "usually 3-5"). */
  liveness: z.int().min(2).max(100).default(3),
  /** Milliseconds of silence after which a busy worker is dead that is known to beat while it works. Default interval x liveness. */
  busyExpiryMs: milliseconds(10).optional(),
  /** Milliseconds of silence after which any other busy worker is dead: one that was never heard at work, as the Guide's, or not yet. At least `busyExpiryMs`; default 300000, or `busyExpiryMs` when that is more. */
  muteExpiryMs: milliseconds(10).optional(),
  /** How many workers may be given one request before it is dropped. 1 to 100, default 3: a request that kills its worker must not kill all. */
  maxAttempts: count(100).default(3),
  /** Resend a lost worker's request although the client has had a part of the reply. Default false: the client cannot tell duplicates. */
  resendAfterPartial: z.boolean().default(false),
  /** Take 0.2 messages behind one empty frame (majortomo workers). Default false: 18/MDP has none. */
  acceptLeadingEmpty: z.boolean().default(false),
  /** Requests that may wait for one service. Default 200000: the zguide's mdclient2 sends 100,000 at once. */
  requestQueueMax: count(10_000_000).default(200_000),
  /** Bytes of all open requests together, waiting or running, each charged for its bookkeeping too. Default 512 MiB. */
  requestQueueMaxBytes: count(Number.MAX_SAFE_INTEGER).default(536_870_912),
  /** Longest service name in bytes. 1 to 255, default 255. */
  serviceNameMaxBytes: count(255).default(255),
  /**
   * Service names with workers at a time, and besides, as many that are only asked for; a client that waits in the queues of a tenth
   * of it (16 at least) asks for no further name. Default 10000.
   */
  servicesMax: count(1_000_000).default(10_000),
  /** Workers that may be registered at a time. Default 100000. */
  workersMax: count(1_000_000).default(100_000),
  /** Frames of one message. Default 1024. */
  maxMessageFrames: z.int().min(8).max(1_000_000).default(1024),
  /** Bytes of one message. Default 64 MiB. */
  maxMessageBytes: z.int().min(1024).max(Number.MAX_SAFE_INTEGER).default(67_108_864),
  /** Milliseconds that running jobs get when the broker drains. Default 10000. */
  drainMs: milliseconds(0).default(10_000),
  /** Milliseconds that closing may take to hand over what is pending. Default 1000. */
  lingerMs: milliseconds(0).default(1000),
  /** CURVE: encrypts, and lets in by key. Default: neither. */
  curve: curve.optional(),
  /** Who may ask for and who may serve which service: rule 28. Rules for single keys need `curve` and `zmtpTransport()`. Default: everybody everything. */
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

/** Schema of {@link MdpBrokerOptions}. All fields are optional; unknown ones are refused. */
export const mdpBrokerOptions = z
  .strictObject({
    ...backendFields,
    /** Join services of equal name across MDP 0.1 and 0.2. Default false: every version has services of its own. */
    bridge: z.boolean().default(false),
    /** Milliseconds a request waits for a service that has no worker. Up to a day, default 30000. */
    requestTtlMs: milliseconds(1).default(30_000),
    /** Milliseconds a request waits for busy workers. 0, the default, sets no limit. */
    busyTtlMs: milliseconds(0).default(0),
    /** Open requests of one client. Default 150000. */
    clientRequestsMax: count(10_000_000).default(150_000),
    /** Answer `mmi.services` and `mmi.workers`, which 8/MMI does not know. Default true. */
    mmiAdditions: z.boolean().default(true),
  })
  .superRefine(checkSilence)
  .refine(queueFits, queueFault)
  .transform(withSilence);

/** Schema of {@link MdpPoolOptions}. All fields are optional; unknown ones are refused. */
export const mdpPoolOptions = z
  .strictObject({
    ...backendFields,
    /** Milliseconds of silence after which a request has failed, waiting included; each partial reply begins them anew. Up to a day, default 30000. */
    timeoutMs: milliseconds(1).default(30_000),
    /** Fail with `SERVICE_UNKNOWN` at once when no worker offers the service. Default false: wait for one. */
    failFast: z.boolean().default(false),
    /** Partial replies of one stream that wait to be read; one more fails it with `QUEUE_FULL`. At least 1; default 1024. */
    streamBufferMax: count(1_000_000).default(1024),
    /** Bytes of partial replies of one stream that wait to be read. At least 1; default 67,108,864. */
    streamBufferMaxBytes: count(Number.MAX_SAFE_INTEGER).default(67_108_864),
  })
  .superRefine(checkSilence)
  .refine(queueFits, queueFault)
  .transform(withSilence);

const isAbortSignal = (value: unknown): value is AbortSignal =>
  typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value;

/** Schema of {@link MdpPoolRequestOptions}. */
export const mdpPoolRequestOptions = z.strictObject({
  /** Instead of the pool's `timeoutMs`, for this request. 1 ms to a day. */
  timeoutMs: milliseconds(1).optional(),
  /** Instead of the pool's `failFast`, for this request. */
  failFast: z.boolean().optional(),
  /** Ends the request with the signal's reason. A worker that has it already finishes it, unheard. */
  signal: z.custom<AbortSignal>(isAbortSignal, { error: 'expected an AbortSignal' }).optional(),
});

/** Schema of {@link MdpServeOptions}. */
export const mdpServeOptions = z.strictObject({
  /** Requests handled at the same time. 1 to 1000, default 1, as at a worker; more suit handlers that wait for others. */
  concurrency: count(1000).default(1),
  /** What to reply in place of a handler that threw. Default, and whenever it returns `undefined`: no reply, and another worker, or the handler again, has the request, `maxAttempts` times in all. */
  onError: callback.optional(),
});

/** What a user passes to the broker; see the fields of {@link mdpBrokerOptions}. */
export type MdpBrokerOptions = z.input<typeof mdpBrokerOptions>;

/** Validated options with every default filled in. */
export type MdpBrokerSettings = z.output<typeof mdpBrokerOptions>;

/** What a user passes to the pool; see the fields of {@link mdpPoolOptions}. */
export type MdpPoolOptions = z.input<typeof mdpPoolOptions>;

/** Validated options with every default filled in. */
export type MdpPoolSettings = z.output<typeof mdpPoolOptions>;

/** What a single request of a pool may set. */
export type MdpPoolRequestOptions = z.input<typeof mdpPoolRequestOptions>;

/** What answers requests to a service inside the broker; the same as at a worker. */
export type MdpHandler<S extends string | Service = string> = NamedHandler<S>;

/** A request as such a handler sees it: the service, and a body of at least one frame. */
export type MdpRequest = NamedRequest;

/** What a user may say of a service inside the broker; see the fields of {@link mdpServeOptions}. */
export interface MdpServeOptions extends Omit<z.input<typeof mdpServeOptions>, 'onError'> {
  readonly onError?: (error: unknown, request: MdpRequest) => BodyInput | undefined | Promise<BodyInput | undefined>;
}
