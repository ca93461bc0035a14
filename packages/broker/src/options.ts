/** Fields that the options of all brokers have in common: what an endpoint, a time and a count may be. */
import type { CurveKeys, Transport } from '@proj/transport';
import * as z from 'zod';

const DAY_MS = 86_400_000;

const endpoint = z
  .string()
  .regex(/^[a-z]+:\/\/.+/, 'must be a ZeroMQ endpoint such as tcp://127.0.0.1:5555 or ipc:///run/broker.sock');

/** Where one ROUTER binds: one endpoint, or up to 16. Port `*` allowed. */
export const endpoints = z.union([endpoint, z.array(endpoint).min(1).max(16)]);

const names = z.array(z.string().max(255, 'must be names of at most 255 characters')).max(10_000).readonly();

/** Who may do what: rules of `Access` in `@proj/transport`. What no rule allows is refused. */
export const access = z
  .array(
    z.strictObject({
      /** Public keys as Z85, or `*` for everybody, also without a key. */
      keys: z.union(
        [
          z.literal('*'),
          z
            .array(
              z
                .string()
                .regex(/^[0-9a-zA-Z.\-:+=^!/*?&<>()[\]{}@%$#]{40}$/, 'must be a public key, 40 characters of Z85'),
            )
            .max(100_000)
            .readonly(),
        ],
        'must be "*" or a list of public keys, each 40 characters of Z85',
      ),
      /** Names they may send requests to, exact or with `*` at the end. Default: none. */
      request: names.optional(),
      /** Names they may serve, likewise. Default: none. */
      serve: names.optional(),
      /** For people. */
      comment: z.string().optional(),
    }),
    'must be a list of rules such as [{ keys: "*", request: ["echo"] }]',
  )
  .max(100_000)
  .readonly();

/** What `setAccess` of a facade takes. */
export const accessOptions = z.strictObject({
  /** The rules, all of them. */
  access,
});

/** A duration of at least `min`, at most a day. */
export const milliseconds = (min: number) => z.int().min(min).max(DAY_MS);

/** A number of things, at least one. */
export const count = (max: number) => z.int().min(1).max(max);

/** Sockets and time to run on. */
export const transport = z.custom<Transport>(
  (value) => typeof value === 'object' && value !== null && typeof (value as Partial<Transport>).router === 'function',
  'must be a Transport',
);

const isKeys = (value: unknown): value is CurveKeys => {
  const { publicKey, secretKey } = (value ?? {}) as Partial<CurveKeys>;
  return [publicKey, secretKey].every((key) => key instanceof Uint8Array && key.length === 32);
};

/** CURVE on every socket. `@proj/transport/curve` has keys, certificates and lists. */
export const curve = z.strictObject({
  /** The pair of keys that clients know by its public key. */
  keys: z.custom<CurveKeys>(isKeys, 'must be publicKey and secretKey of 32 bytes each'),
  /** Whether the owner of this public key may come in; asked once per handshake. Default: everybody may. */
  authorize: z
    .custom<(publicKey: Uint8Array) => boolean>((value) => typeof value === 'function', 'must be a function')
    .optional(),
});
