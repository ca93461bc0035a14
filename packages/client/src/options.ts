/** Option fields that clients of all protocols share: defaults, bounds, checks. */
import {
  abortSignal,
  curveOfClient,
  endpointOf,
  integer,
  milliseconds as duration,
  tracingOption,
  transportOfClient,
  withDefault,
} from '@proj/transport/peer-schemas';
import * as z from 'zod/mini';

/** A time of 1 ms to a day. */
export const milliseconds = duration(1);

/** How long `close` may take to send what is left: at most a day. */
export const linger = withDefault(duration(0), 1000);

/** A count of at least 1. */
export const count = integer(1);

/** An endpoint to connect to. */
export const endpoint = endpointOf('expected an endpoint such as tcp://127.0.0.1:5555');

/** Fields of every client's sockets. */
export const socketFields = {
  /** Largest message, in bytes over all frames, sent or received. At least 1024; default 67,108,864. */
  maxMessageBytes: withDefault(integer(1024), 67_108_864),
  /** CURVE: encrypts, and authenticates client and server to each other. Default: neither. */
  curve: z.optional(curveOfClient),
  /** Sockets and time. Default: ZMTP in TypeScript. */
  transport: z.optional(transportOfClient),
  /** OpenTelemetry: a span for each call, see docs/TRACING.md. Default: none. */
  tracing: z.optional(tracingOption),
};

/** Fields of clients with one request per socket. */
export const clientFields = {
  ...socketFields,
  /** Silence after which a request is sent again, restarted by each partial reply. 1 ms to a day, default 2500 (the Guide). */
  timeoutMs: withDefault(milliseconds, 2500),
  /** Total number of sends per request, including the first. 1 to 1000; default 3 (the Guide). */
  tries: withDefault(integer(1, 1000), 3),
  /** Open requests at a time, each on its own socket. 1 to 1000; default 8. */
  sockets: withDefault(integer(1, 1000), 8),
  /** Calls that may wait for a socket; more fail with `QUEUE_FULL`. 0 to 10,000,000; default 100,000 (the Guide's mdclient2). */
  waitingMax: withDefault(integer(0, 10_000_000), 100_000),
  /** How long an unused socket stays open. 1 ms to a day, default 60,000. */
  idleMs: withDefault(milliseconds, 60_000),
};

/** Fields of a subscription. */
export const subscriptionFields = {
  /** Unread messages; beyond this the oldest is dropped. 1 to 10,000,000; default 10,000. */
  bufferMax: withDefault(integer(1, 10_000_000), 10_000),
  /** Unread bytes, including topics. At least 1; default 67,108,864. */
  bufferMaxBytes: withDefault(integer(1), 67_108_864),
  /** Ends the subscription: the next read rejects with the signal's reason. */
  signal: z.optional(abortSignal),
};

/** Fields of a single call. */
export const requestFields = {
  /** Overrides the client's `timeoutMs`. 1 ms to a day. */
  timeoutMs: z.optional(milliseconds),
  /** Overrides the client's `tries`: total number of sends. 1 to 1000. */
  tries: z.optional(integer(1, 1000)),
  /** The same without the first send: `tries` - 1. 0 to 999. Set only one of the two. */
  retries: z.optional(integer(0, 999)),
  /** Ends the call with the signal's reason. The request may still be executed. */
  signal: z.optional(abortSignal),
};

/** A call's own limits. */
type OwnLimits = { readonly [Field in keyof typeof requestFields]?: z.output<(typeof requestFields)[Field]> };

/** Checks that a call sets only one of `tries` and `retries`. */
export function checkTries({ tries, retries }: OwnLimits, context: z.core.$RefinementCtx): void {
  if (tries === undefined || retries === undefined) return;
  const message = 'tries (all sends) and retries (sends after the first) exclude each other: set only one of them';
  context.addIssue({ code: 'custom', path: ['retries'], message });
}

/** Limits of one call. */
export interface CallLimits {
  readonly timeoutMs: number;
  readonly tries: number;
  readonly signal: AbortSignal | undefined;
}

/** The call's own limits, with the client's for the rest. */
export function callLimits(client: { readonly timeoutMs: number; readonly tries: number }, own: OwnLimits): CallLimits {
  const { timeoutMs = client.timeoutMs, tries, retries, signal } = own;
  return { timeoutMs, tries: tries ?? (retries === undefined ? client.tries : retries + 1), signal };
}
