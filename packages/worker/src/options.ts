/** Option fields that mean the same to a worker of any protocol: defaults, bounds, checks. */
import type { Service } from '@proj/frames/service';
import type { CurveKeys, Transport } from '@proj/transport';
import * as z from 'zod';

const DAY_MS = 86_400_000;

/** A time of 1 ms to a day. */
export const milliseconds = z.int().min(1).max(DAY_MS);

/** 1 to 64 endpoints, in order of preference. */
export const endpoints = z
  .array(z.string().regex(/^[a-z]+:\/\/.+/, 'expected an endpoint such as tcp://127.0.0.1:5555'))
  .min(1)
  .max(64);

/** A function of the user's; what it takes and gives is a matter of types. */
export const callback = z.custom<(...args: never) => unknown>((value) => typeof value === 'function', {
  error: 'expected a function',
});

/** True for what `defineService` makes. */
export const isService = (value: unknown): value is Service =>
  typeof value === 'object' && value !== null && 'name' in value && 'decodeRequest' in value;

const isKey = (value: unknown): value is Uint8Array => value instanceof Uint8Array && value.length === 32;
const isKeys = (value: unknown): value is CurveKeys => {
  const { publicKey, secretKey } = (value ?? {}) as Partial<CurveKeys>;
  return isKey(publicKey) && isKey(secretKey);
};

/** The option of everything that connects. */
const curve = z
  .strictObject({
    /** Who we are to the server. Default: a pair made up now, for servers that let any key in. */
    keys: z.custom<CurveKeys>(isKeys, { error: 'expected publicKey and secretKey of 32 bytes each' }).optional(),
    /** The server's public key: 32 bytes, or their 40 characters of Z85. Required. */
    serverKey: z.union([z.custom<Uint8Array>(isKey, { error: 'expected 32 bytes' }), z.string().length(40)], {
      error: 'expected 32 bytes, or 40 characters of Z85',
    }),
  })
  .optional();

/** Fields that have the same default everywhere. */
export const workerFields = {
  /** Answers the requests. Required. */
  handler: callback,
  /** Requests handled at the same time, each by a connection of its own. 1 to 1000; default 1. */
  concurrency: z.int().min(1).max(1000).default(1),
  /** Intervals of silence after which the other side counts as lost. 2 to 1000; default 3 (the Guide). */
  liveness: z.int().min(2).max(1000).default(3),
  /** How long the other side must have answered before the delay starts again at `reconnectMinMs`. 0 to a day; default 10,000. */
  minUptimeMs: z.int().min(0).max(DAY_MS).default(10_000),
  /** How long `drain()` waits for running handlers before it cancels them. 1 ms to a day; default 10,000. */
  drainMs: milliseconds.default(10_000),
  /** Largest message, in bytes over all frames, sent or received. At least 1024; default 67,108,864. */
  maxMessageBytes: z.int().min(1024).default(67_108_864),
  /** CURVE: encrypts, and proves who we are to a server that proves who it is. Default: neither. */
  curve,
  /** Where sockets and time come from. Default: ZeroMQ, loaded by `start()`. */
  transport: z
    .custom<Transport>((value) => typeof value === 'object' && value !== null && 'dealer' in value, {
      error: 'expected a Transport',
    })
    .optional(),
};

/** Refuses one option in a check over several. */
export function refuse(context: z.RefinementCtx, option: string, message: string): void {
  context.addIssue({ code: 'custom', path: [option], message });
}

/** The check that the delays between attempts do not shrink. */
export function checkReconnect(
  { reconnectMinMs, reconnectMaxMs }: { readonly reconnectMinMs: number; readonly reconnectMaxMs: number },
  context: z.RefinementCtx,
): void {
  if (reconnectMaxMs < reconnectMinMs)
    refuse(context, 'reconnectMaxMs', `expected at least reconnectMinMs, ${reconnectMinMs}`);
}
