/**
 * Option schemas of peers that connect, made with `zod/mini`: a bundle with one client contains only the checks it uses. Each names what it
 * expects, because `zod/mini` has no messages of its own. See docs/adr/0033-small-schemas-in-the-client.md.
 */
import * as z from 'zod/mini';
import type { CurveKeys, Transport } from './port.js';
import type { TracingApi } from './tracing/api.js';

const DAY_MS = 86_400_000;

const isKey = (value: unknown): value is Uint8Array => value instanceof Uint8Array && value.length === 32;
const isKeys = (value: unknown): value is CurveKeys => {
  const { publicKey, secretKey } = (value ?? {}) as Partial<CurveKeys>;
  return isKey(publicKey) && isKey(secretKey);
};
const isAbortSignal = (value: unknown): value is AbortSignal =>
  typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value;

const has = (part: object | undefined, method: string): boolean =>
  typeof (part as Readonly<Record<string, unknown>> | undefined)?.[method] === 'function';
const isTracingApi = (value: unknown): value is TracingApi => {
  const { trace, context, propagation } = (value ?? {}) as Partial<TracingApi>;
  return has(trace, 'getTracer') && has(context, 'with') && has(propagation, 'inject');
};

/** The schema of an optional option, with `fallback` as its default. */
export const withDefault = z._default;

/** An integer from `min` to `max`; without `max`, to 2^53 - 1. */
export function integer(min: number, max?: number) {
  const error = `expected a whole number ${max === undefined ? `of at least ${min}` : `from ${min} to ${max}`}`;
  return z.int(error).check(z.gte(min, error), z.lte(max ?? Number.MAX_SAFE_INTEGER, error));
}

/** A time in whole milliseconds, from `min` to a day. */
export const milliseconds = (min: number) => integer(min, DAY_MS);

/** True or false. */
export const flag = () => z.boolean('expected true or false');

/** One of a few words. */
export const oneOf = <const Words extends readonly [string, ...string[]]>(...words: Words) =>
  z.enum(words, `expected one of ${words.join(', ')}`);

/** Text of at least one character. */
export const text = () => z.string('expected text').check(z.minLength(1, 'expected non-empty text'));

/** A list. */
export const listOf = <Member extends z.ZodMiniType>(member: Member) => z.array(member, 'expected a list');

/** An object with values of any kind, by name. */
export const named = <Value extends z.ZodMiniType>(value: Value) =>
  z.record(z.string(), value, 'expected an object with values by name');

/** A function. Only the compiler checks its parameters and result. `what` is its shape, for the error message. */
export const functionOf = <Type>(what?: string) =>
  z.custom<Type>((value) => typeof value === 'function', `expected a function${what === undefined ? '' : `: ${what}`}`);

/** An endpoint to connect to, such as `tcp://127.0.0.1:5555`. `error` says what is expected. */
export const endpointOf = (error: string) => z.string(error).check(z.regex(/^[a-z]+:\/\/.+/, error));

/** 1 to 64 endpoints, in order of preference. */
export const endpoints = () =>
  z
    .array(endpointOf('expected an endpoint such as tcp://127.0.0.1:5555'), 'expected a list of endpoints')
    .check(z.minLength(1, 'expected at least one endpoint'), z.maxLength(64, 'expected at most 64 endpoints'));

/** Cancels a call early. */
export const abortSignal = z.custom<AbortSignal>(isAbortSignal, 'expected an AbortSignal');

/** The transport of a peer that connects: its sockets and its time. */
export const transportOfClient = z.custom<Transport>(
  (value: unknown) => typeof value === 'object' && value !== null && 'dealer' in value,
  'expected a Transport',
);

/** The application's OpenTelemetry. */
export const tracingOption = z.strictObject(
  {
    /** The module: `import * as api from '@opentelemetry/api'`, 1.4 or newer. Required. */
    api: z.custom<TracingApi>(isTracingApi, "expected the module: import * as api from '@opentelemetry/api'"),
    /**
     * Whether to send trace context. Default true if the protocol has room for it (EventMQ's headers, NORFAB's bodies). In the others
     * it is a frame before the body, which only workers and consumers of this project remove again; default false. At workers and
     * consumers: whether to use the context that peers send; default true.
     */
    carry: z.optional(flag()),
  },
  "expected { api }, with the module '@opentelemetry/api'",
);

/** CURVE on every socket of a peer that connects. */
export const curveOfClient = z.strictObject(
  {
    /** The peer's own key pair, 32 bytes each. Default: a new pair, for servers that accept any key. */
    keys: z.optional(z.custom<CurveKeys>(isKeys, 'expected publicKey and secretKey of 32 bytes each')),
    /** The server's public key: 32 bytes, or 40 characters of Z85. Required. */
    serverKey: z.union(
      [
        z.custom<Uint8Array>(isKey, 'expected 32 bytes'),
        z.string().check(z.length(40, 'expected 40 characters of Z85')),
      ],
      'expected 32 bytes, or 40 characters of Z85',
    ),
  },
  'expected an object with serverKey, and keys if the server knows this peer',
);
