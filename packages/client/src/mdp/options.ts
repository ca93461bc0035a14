/** Options of the Majordomo client: what may be set, defaults, bounds. Section 8 of docs/protocols/mdp.md. */
import { endpoints, flag, integer, oneOf, withDefault } from '@proj/transport/peer-schemas';
import * as z from 'zod/mini';
import { checkTries, clientFields, count, requestFields } from '../options.js';

/** Schema of {@link MdpClientOptions}. */
export const mdpClientOptions = z.strictObject({
  ...clientFields,
  /** Brokers, in order of preference; after each silence the next one is tried. Default `tcp://127.0.0.1:5555` (the Guide). */
  endpoints: withDefault(endpoints(), ['tcp://127.0.0.1:5555']),
  /** Protocol version to speak. A 0.1 conversation has no partial replies. Default `0.2`. */
  version: withDefault(oneOf('0.2', '0.1'), '0.2'),
  /** Ask `mmi.service` before each request and fail with `SERVICE_UNKNOWN` if no worker offers the service. Default false. */
  failFast: withDefault(flag(), false),
  /** Unread partial replies of one stream; one more fails it with `QUEUE_FULL`. 1 to 1,000,000; default 1024. */
  streamBufferMax: withDefault(integer(1, 1_000_000), 1024),
  /** Their bytes. At least 1; default 67,108,864. */
  streamBufferMaxBytes: withDefault(count, 67_108_864),
  /** Largest message, in frames, sent or received. 4 to 65,536; default 1024. */
  maxMessageFrames: withDefault(integer(4, 65_536), 1024),
});

/** What `new MdpClient()` takes; everything has a default. */
export type MdpClientOptions = z.input<typeof mdpClientOptions>;

/** {@link MdpClientOptions} with the defaults filled in. */
export type MdpClientSettings = z.output<typeof mdpClientOptions>;

/** Schema of {@link MdpRequestOptions}. */
export const mdpRequestOptions = z
  .strictObject({
    ...requestFields,
    /** Overrides the client's `failFast` for this call. */
    failFast: z.optional(flag()),
  })
  .check(z.superRefine(checkTries));

/** The options of a single call. */
export type MdpRequestOptions = z.input<typeof mdpRequestOptions>;
