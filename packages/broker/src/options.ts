/** Option fields that several brokers share, with their units, defaults and bounds. */
import { accessRules, curveOfServer, endpointOf, milliseconds, transportOfServer } from '@proj/transport/schemas';
import * as z from 'zod';

export { curveOfServer as curve, milliseconds } from '@proj/transport/schemas';

const endpoint = endpointOf('must be a ZeroMQ endpoint such as tcp://127.0.0.1:5555 or ipc:///run/broker.sock');

/** Where to bind one ROUTER: one endpoint, or up to 16. Port `*` allowed. */
export const endpoints = z.union([endpoint, z.array(endpoint).min(1).max(16)]);

/** Access rules. */
export const access = accessRules('echo');

/** The argument of a facade's `setAccess`. */
export const accessOptions = z.strictObject({
  /** All of the rules. */
  access,
});

/** A number of things, at least one. */
export const count = (max: number) => z.int().min(1).max(max);

/** Fields of every broker's sockets. */
export const socketFields = {
  /** Bytes of one message. Default 64 MiB. */
  maxMessageBytes: z.int().min(1024).max(Number.MAX_SAFE_INTEGER).default(67_108_864),
  /** Milliseconds that closing may take to send pending messages. Default 1000. */
  lingerMs: milliseconds(0).default(1000),
  /** CURVE: encryption, and authorization by key. Default: neither. */
  curve: curveOfServer.optional(),
  /** Sockets and clock. Default: ZMTP and the system clock. */
  transport: transportOfServer.optional(),
};

/** Limits of registered workers. */
export const registrationFields = {
  /** Workers that may be registered at a time. Default 100000. */
  workersMax: count(1_000_000).default(100_000),
  /** Registrations per connection and second, and maximum burst: more are refused. Default 100. */
  registrationsPerSecondMax: count(1_000_000).default(100),
};

/** Fields of every broker whose workers have one request at a time. */
export const workerSideFields = {
  ...socketFields,
  ...registrationFields,
  /** Heartbeat intervals of silence after which an idle worker is dead. 2 to 100, default 3 (18/MDP: "usually 3-5"). */
  liveness: z.int().min(2).max(100).default(3),
  /** Silence after which a busy worker is dead if it sends heartbeats while it works, in milliseconds. Default: heartbeat interval x liveness. */
  busyExpiryMs: milliseconds(10).optional(),
  /**
   * Silence after which any other busy worker is dead, in milliseconds: the Guide's workers send no heartbeats while they work. At least
   * `busyExpiryMs`; default 300000, or `busyExpiryMs` if that is more.
   */
  muteExpiryMs: milliseconds(10).optional(),
  /**
   * Number of workers that one request may be given to before it is dropped. 1 to 100, default 3: a request that kills its worker must not kill
   * all of them.
   */
  maxAttempts: count(100).default(3),
  /** Frames of one message. Default 1024. */
  maxMessageFrames: z.int().min(8).max(1_000_000).default(1024),
  /** Milliseconds that running jobs may take when draining. Default 10000. */
  drainMs: milliseconds(0).default(10_000),
};

const isAbortSignal = (value: unknown): value is AbortSignal =>
  typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value;

/** Fields of a single request at a pool. */
export const poolRequestFields = {
  /** Replaces the pool's `timeoutMs` for this request. 1 ms to a day. */
  timeoutMs: milliseconds(1).optional(),
  /** Ends the request with the signal's reason. A worker that already has the request finishes it; the reply is dropped. */
  signal: z.custom<AbortSignal>(isAbortSignal, { error: 'expected an AbortSignal' }).optional(),
};

/** Default of `muteExpiryMs`: longer than most jobs. */
const MUTE_EXPIRY_MS = 300_000;

/** The options that {@link checkWorkerSide} compares. */
interface WorkerSide {
  readonly heartbeatIntervalMs: number;
  readonly liveness: number;
  readonly busyExpiryMs?: number | undefined;
  readonly muteExpiryMs?: number | undefined;
  readonly requestQueueMaxBytes: number;
  readonly maxMessageBytes: number;
}

/** Rejects contradictory limits. */
export function checkWorkerSide(options: WorkerSide, context: z.RefinementCtx): void {
  const { heartbeatIntervalMs, muteExpiryMs, requestQueueMaxBytes, maxMessageBytes } = options;
  const { busyExpiryMs } = withExpiry(options);
  const refuse = (field: keyof WorkerSide, message: string) => {
    context.addIssue({ code: 'custom', path: [field], message });
  };
  if (busyExpiryMs < heartbeatIntervalMs)
    refuse('busyExpiryMs', 'must be at least heartbeatIntervalMs, because otherwise every job outlives its worker');
  if (muteExpiryMs !== undefined && muteExpiryMs < busyExpiryMs)
    refuse(
      'muteExpiryMs',
      `must be at least ${busyExpiryMs.toString()}, the busyExpiryMs of workers that send heartbeats while they work`,
    );
  if (requestQueueMaxBytes < maxMessageBytes)
    refuse(
      'requestQueueMaxBytes',
      'must be at least maxMessageBytes, because otherwise some legal messages could never be queued',
    );
}

/** Fills in the defaults of `busyExpiryMs` and `muteExpiryMs`. */
export function withExpiry<Options extends Omit<WorkerSide, 'requestQueueMaxBytes' | 'maxMessageBytes'>>(
  options: Options,
) {
  const { heartbeatIntervalMs, liveness, busyExpiryMs = heartbeatIntervalMs * liveness, muteExpiryMs } = options;
  return { ...options, busyExpiryMs, muteExpiryMs: muteExpiryMs ?? Math.max(MUTE_EXPIRY_MS, busyExpiryMs) };
}
