/**
 * The zod schemas of options that several roles share: endpoints, times, CURVE and access rules. Below the roles only this file uses zod. See
 * docs/adr/0017.
 */
import type { Service } from '@proj/frames/service';
import * as z from 'zod';
import type { CurveKeys, KeyList, Transport } from './port.js';

const DAY_MS = 86_400_000;

/** A time in whole milliseconds, from `min` to a day. */
export const milliseconds = (min: number) => z.int().min(min).max(DAY_MS);

/** An endpoint to bind or to connect to, such as `tcp://127.0.0.1:5555`. `error` says what is expected. */
export const endpointOf = (error: string) => z.string().regex(/^[a-z]+:\/\/.+/, error);

/** A function. Only the compiler checks its parameters and result. */
export const callback = z.custom<(...args: never) => unknown>((value) => typeof value === 'function', {
  error: 'expected a function',
});

/** True for a service that `defineService` made. */
export const isService = (value: unknown): value is Service =>
  typeof value === 'object' && value !== null && 'name' in value && 'decodeRequest' in value;

const isKey = (value: unknown): value is Uint8Array => value instanceof Uint8Array && value.length === 32;
const isKeys = (value: unknown): value is CurveKeys => {
  const { publicKey, secretKey } = (value ?? {}) as Partial<CurveKeys>;
  return isKey(publicKey) && isKey(secretKey);
};

const isKeyList = (value: unknown): value is KeyList => {
  const { has, onChange } = (value ?? {}) as Partial<KeyList>;
  return typeof has === 'function' && typeof onChange === 'function';
};

/** The transport of a server: its sockets and its time. */
export const transportOfServer = z.custom<Transport>(
  (value) => typeof value === 'object' && value !== null && typeof (value as Partial<Transport>).router === 'function',
  'must be a Transport',
);

/** CURVE on every socket of a server. */
export const curveOfServer = z.strictObject({
  /** The server's key pair, 32 bytes each. Clients must know the public key. Required. */
  keys: z.custom<CurveKeys>(isKeys, 'must be publicKey and secretKey of 32 bytes each'),
  /**
   * Whether the owner of a public key may connect, called once per handshake; or the list of `authorizedKeys()`, whose changes also end existing
   * connections if the transport supports it. Default: any key may connect.
   */
  authorize: z
    .custom<((publicKey: Uint8Array) => boolean) | KeyList>(
      (value) => typeof value === 'function' || isKeyList(value),
      'must be a function, or the list that authorizedKeys() returns',
    )
    .optional(),
});

const names = z.array(z.string().max(255, 'must be names of at most 255 characters')).max(10_000).readonly();
const publicKey = z
  .string()
  .regex(/^[0-9a-zA-Z.\-:+=^!/*?&<>()[\]{}@%$#]{40}$/, 'must be a public key, 40 characters of Z85');

/** The access rules of `Access`, at most 100,000; whatever no rule allows is denied. `example` is a service name for the error message. */
export const accessRules = (example: string) =>
  z
    .array(
      z.strictObject({
        /** At most 100,000 public keys in Z85, or `*` for every peer, with or without a key. Required. */
        keys: z.union(
          [z.literal('*'), z.array(publicKey).max(100_000).readonly()],
          'must be "*" or a list of public keys, each 40 characters of Z85',
        ),
        /** Names these keys may send requests to, exact or ending in `*`; at most 10,000 of 255 characters. Default: none. */
        request: names.optional(),
        /** Names these keys may serve, likewise. Default: none. */
        serve: names.optional(),
        /** A note for readers; ignored. Default: none. */
        comment: z.string().optional(),
      }),
      `must be a list of rules such as [{ keys: "*", request: ["${example}"] }]`,
    )
    .max(100_000)
    .readonly();
