/** Options that several roles take, as schemas of zod: what an endpoint, a time, CURVE and a rule of access may be. Below the roles nothing else knows zod. See docs/adr/0017. */
import type { Service } from '@proj/frames/service';
import * as z from 'zod';
import type { CurveKeys, KeyList, Transport } from './port.js';

const DAY_MS = 86_400_000;

/** A time of at least `min`, at most a day. */
export const milliseconds = (min: number) => z.int().min(min).max(DAY_MS);

/** Where to bind or connect; `error` says what is expected. */
export const endpointOf = (error: string) => z.string().regex(/^[a-z]+:\/\/.+/, error);

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

const isKeyList = (value: unknown): value is KeyList => {
  const { has, onChange } = (value ?? {}) as Partial<KeyList>;
  return typeof has === 'function' && typeof onChange === 'function';
};

/** Sockets and time of whoever binds. */
export const transportOfServer = z.custom<Transport>(
  (value) => typeof value === 'object' && value !== null && typeof (value as Partial<Transport>).router === 'function',
  'must be a Transport',
);

/** Sockets and time of whoever connects. */
export const transportOfClient = z.custom<Transport>(
  (value) => typeof value === 'object' && value !== null && 'dealer' in value,
  'expected a Transport',
);

/** CURVE on every socket of whoever binds. */
export const curveOfServer = z.strictObject({
  /** The pair of keys that clients know by its public key. */
  keys: z.custom<CurveKeys>(isKeys, 'must be publicKey and secretKey of 32 bytes each'),
  /**
   * Whether the owner of this public key may come in, asked once per handshake; or the list of `authorizedKeys()`, whose changes
   * also end standing connections, where the transport can. Default: everybody may.
   */
  authorize: z
    .custom<((publicKey: Uint8Array) => boolean) | KeyList>(
      (value) => typeof value === 'function' || isKeyList(value),
      'must be a function, or the list that authorizedKeys() returns',
    )
    .optional(),
});

/** CURVE of whoever connects. */
export const curveOfClient = z.strictObject({
  /** Who we are to the server. Default: a pair made up now, for servers that let any key in. */
  keys: z.custom<CurveKeys>(isKeys, 'expected publicKey and secretKey of 32 bytes each').optional(),
  /** The server's public key: 32 bytes, or their 40 characters of Z85. Required. */
  serverKey: z.union(
    [z.custom<Uint8Array>(isKey, 'expected 32 bytes'), z.string().length(40)],
    'expected 32 bytes, or 40 characters of Z85',
  ),
});

const names = z.array(z.string().max(255, 'must be names of at most 255 characters')).max(10_000).readonly();
const publicKey = z
  .string()
  .regex(/^[0-9a-zA-Z.\-:+=^!/*?&<>()[\]{}@%$#]{40}$/, 'must be a public key, 40 characters of Z85');

/** Who may do what: rules of `Access`, with the name of a service as an example. What no rule allows is refused. */
export const accessRules = (example: string) =>
  z
    .array(
      z.strictObject({
        /** Public keys as Z85, or `*` for everybody, also without a key. */
        keys: z.union(
          [z.literal('*'), z.array(publicKey).max(100_000).readonly()],
          'must be "*" or a list of public keys, each 40 characters of Z85',
        ),
        /** Names they may send requests to, exact or with `*` at the end. Default: none. */
        request: names.optional(),
        /** Names they may serve, likewise. Default: none. */
        serve: names.optional(),
        /** For people. */
        comment: z.string().optional(),
      }),
      `must be a list of rules such as [{ keys: "*", request: ["${example}"] }]`,
    )
    .max(100_000)
    .readonly();
