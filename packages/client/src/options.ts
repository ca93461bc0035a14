/** Option fields that mean the same for a client of any protocol: defaults, bounds, checks. */
import { curveOfClient, transportOfClient, endpointOf, milliseconds as duration } from '@proj/transport/schemas';
import * as z from 'zod';

/** A time of 1 ms to a day. */
export const milliseconds = duration(1);

/** How long `close` may take to send what is left: at most a day. */
export const linger = duration(0).default(1000);

/** A count of at least 1. */
export const count = z.int().min(1);

/** Where to connect. */
export const endpoint = endpointOf('expected an endpoint such as tcp://127.0.0.1:5555');

/** 1 to 64 endpoints, in order of preference. */
export const endpoints = z.array(endpoint).min(1).max(64);

/** Fields of a client that have the same default everywhere. */
export const clientFields = {
  /** Silence after which a request is sent again, restarted by each partial reply. 1 ms to a day, default 2500 (the Guide). */
  timeoutMs: milliseconds.default(2500),
  /** Sends of one request in all, the first included. 1 to 1000; default 3 (the Guide). */
  tries: count.max(1000).default(3),
  /** Requests open at a time, each on a socket of its own. 1 to 1000; default 8. */
  sockets: count.max(1000).default(8),
  /** Calls that may wait for a socket; more fail with `QUEUE_FULL`. 0 to 10,000,000; default 100,000 (the Guide's mdclient2). */
  waitingMax: z.int().min(0).max(10_000_000).default(100_000),
  /** How long an unused socket stays open. 1 ms to a day, default 60,000. */
  idleMs: milliseconds.default(60_000),
  /** Largest message, in bytes over all frames, sent or received. At least 1024; default 67,108,864. */
  maxMessageBytes: z.int().min(1024).default(67_108_864),
  /** CURVE: encrypts, and authenticates client and server to each other. Default: neither. */
  curve: curveOfClient.optional(),
  /** Where sockets and time come from. Default: ZMTP in TypeScript. */
  transport: transportOfClient.optional(),
};

const isAbortSignal = (value: unknown): value is AbortSignal =>
  typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value;

/** Fields of a single call. */
export const requestFields = {
  /** Overrides the client's `timeoutMs`. 1 ms to a day. */
  timeoutMs: milliseconds.optional(),
  /** Overrides the client's `tries`: sends in all. 1 to 1000. */
  tries: count.max(1000).optional(),
  /** The same, without the first send: `tries` - 1. 0 to 999. Give only one of the two. */
  retries: z.int().min(0).max(999).optional(),
  /** Ends the call with the signal's reason. The request may still be executed. */
  signal: z.custom<AbortSignal>(isAbortSignal, { error: 'expected an AbortSignal' }).optional(),
};

/** The limits that a call sets itself. */
type OwnLimits = { readonly [Field in keyof typeof requestFields]?: z.output<(typeof requestFields)[Field]> };

/** The check that a call counts its sends in one way only. */
export function checkTries({ tries, retries }: OwnLimits, context: z.RefinementCtx): void {
  if (tries === undefined || retries === undefined) return;
  const message = 'tries (sends in all) and retries (sends after the first) exclude each other: give one of them';
  context.addIssue({ code: 'custom', path: ['retries'], message });
}

/** Limits of one call. */
export interface CallLimits {
  readonly timeoutMs: number;
  readonly tries: number;
  readonly signal: AbortSignal | undefined;
}

/** The call's own limits, and the client's for the rest. */
export function callLimits(client: { readonly timeoutMs: number; readonly tries: number }, own: OwnLimits): CallLimits {
  const { timeoutMs = client.timeoutMs, tries, retries, signal } = own;
  return { timeoutMs, tries: tries ?? (retries === undefined ? client.tries : retries + 1), signal };
}
