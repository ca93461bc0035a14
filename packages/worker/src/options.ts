/** Options that workers of all protocols share: defaults, bounds, checks. */
import { curveOfClient, tracingOption, transportOfClient } from '@proj/transport/peer-schemas';
import { callback, endpointOf, milliseconds as duration } from '@proj/transport/schemas';
import * as z from 'zod';

/** A time of 1 ms to a day. */
export const milliseconds = duration(1);

/** 1 to 64 endpoints, in order of preference. */
export const endpoints = z.array(endpointOf('expected an endpoint such as tcp://127.0.0.1:5555')).min(1).max(64);

/** Options of every connection. */
export const connectionFields = {
  /** How long a connection must last before the back-off starts over at `reconnectMinMs`. 0 to a day; default 10,000. */
  minUptimeMs: duration(0).default(10_000),
  /** Largest message, sent or received, in bytes over all frames. At least 1024; default 67,108,864. */
  maxMessageBytes: z.int().min(1024).default(67_108_864),
  /** CURVE: encrypts the connection and authenticates both sides. Default: none. */
  curve: z.optional(curveOfClient),
  /** Provides sockets and time. Default: ZMTP in TypeScript. */
  transport: z.optional(transportOfClient),
  /** OpenTelemetry: a span for each job, the child of the client's, unless `carry` is false; see docs/TRACING.md. Default: none. */
  tracing: z.optional(tracingOption),
};

/** Options of workers with one handler. */
export const workerFields = {
  ...connectionFields,
  /** Answers the requests. Required. */
  handler: callback,
  /** Requests handled at the same time, each over its own connection. 1 to 1000; default 1. */
  concurrency: z.int().min(1).max(1000).default(1),
  /** Intervals of silence after which the other side counts as lost. 2 to 1000; default 3 (the Guide). */
  liveness: z.int().min(2).max(1000).default(3),
  /** How long `drain()` waits for running handlers before it cancels them. 1 ms to a day; default 10,000. */
  drainMs: milliseconds.default(10_000),
};

/** Rejects one option, in a check over several. */
export function refuse(context: z.RefinementCtx, option: string, message: string): void {
  context.addIssue({ code: 'custom', path: [option], message });
}

/** Rejects a `reconnectMaxMs` below `reconnectMinMs`. */
export function checkReconnect(
  { reconnectMinMs, reconnectMaxMs }: { readonly reconnectMinMs: number; readonly reconnectMaxMs: number },
  context: z.RefinementCtx,
): void {
  if (reconnectMaxMs < reconnectMinMs)
    refuse(context, 'reconnectMaxMs', `expected at least reconnectMinMs, ${reconnectMinMs}`);
}
