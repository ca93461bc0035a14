/** Options of the Lazy Pirate client: what may be set, defaults, bounds. Section 7 of docs/protocols/ppp.md. */
import { endpoints, functionOf, integer, withDefault } from '@proj/transport/peer-schemas';
import * as z from 'zod/mini';
import { checkTries, clientFields, requestFields } from '../options.js';

/** Schema of {@link LazyPirateOptions}. */
export const lazyPirateOptions = z.strictObject({
  ...clientFields,
  /** Queues, in order of preference; each further try uses the next one. 1 to 64; default `tcp://127.0.0.1:5556`. */
  endpoints: withDefault(endpoints(), ['tcp://127.0.0.1:5556']),
  /** Largest message, in frames, sent or received. 2 to 65,536; default 1024. */
  maxMessageFrames: withDefault(integer(2, 65_536), 1024),
});

/** What `new LazyPirateClient()` takes; everything has a default. */
export type LazyPirateOptions = z.input<typeof lazyPirateOptions>;

/** {@link LazyPirateOptions} with the defaults filled in. */
export type LazyPirateSettings = z.output<typeof lazyPirateOptions>;

type Matches = (reply: Buffer[]) => boolean;

/** Schema of {@link LazyPirateRequestOptions}. */
export const lazyPirateRequestOptions = z
  .strictObject({
    ...requestFields,
    /**
     * Whether a reply belongs to this request: the Guide's client compares a sequence number. Others are dropped and the wait continues. Called
     * synchronously, once per message; if it throws, the call rejects with that error. Default: every reply does.
     */
    matches: z.optional(functionOf<Matches>('(reply) => boolean')),
  })
  .check(z.superRefine(checkTries));

/** The options of a single call. */
export type LazyPirateRequestOptions = z.input<typeof lazyPirateRequestOptions>;
