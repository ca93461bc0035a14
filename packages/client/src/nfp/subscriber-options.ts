/** Options of the subscriber to a broker's events: docs/protocols/nfp.md, rule 22 of the broker. */
import * as z from 'zod';
import { clientFields, count, endpoints } from '../options.js';
import { nfpName } from './options.js';

/** Schema of {@link NfpSubscriberOptions}. All fields are optional; unknown ones are refused. */
export const nfpSubscriberOptions = z.strictObject({
  /** Where brokers publish: all of them are listened to. 1 to 64 endpoints, default `tcp://127.0.0.1:5556`. */
  endpoints: endpoints.default(['tcp://127.0.0.1:5556']),
  /** Largest event, in bytes over all frames. At least 1024; default 134,217,728. */
  maxMessageBytes: z.int().min(1024).default(134_217_728),
  /** As for every client. */
  curve: clientFields.curve,
  /** Where sockets come from. Default: ZeroMQ, loaded with the first subscription. */
  transport: clientFields.transport,
});

/** What `new NfpSubscriber()` takes; everything has a default. */
export type NfpSubscriberOptions = z.input<typeof nfpSubscriberOptions>;

/** Validated options with every default filled in. */
export type NfpSubscriberSettings = z.output<typeof nfpSubscriberOptions>;

/** Schema of {@link NfpSubscribeOptions}. */
export const nfpSubscribeOptions = z
  .strictObject({
    /** Events of this service alone. Default: of all. */
    service: nfpName.optional(),
    /** Events of this job alone; needs `service`. Default: of all. */
    uuid: nfpName.optional(),
    /** Events that may wait to be read; then the oldest is dropped. 1 to 10,000,000; default 10,000. */
    bufferMax: count.max(10_000_000).default(10_000),
    /** Bytes in them. At least 1; default 67,108,864. */
    bufferMaxBytes: z.int().min(1).default(67_108_864),
    /** Ends the subscription: the next read rejects with the signal's reason. */
    signal: z.instanceof(AbortSignal).optional(),
  })
  .refine(({ service, uuid }) => uuid === undefined || service !== undefined, {
    path: ['uuid'],
    message: 'needs service: topics begin with it',
  });

/** What `subscriber.subscribe()` takes; everything has a default. */
export type NfpSubscribeOptions = z.input<typeof nfpSubscribeOptions>;
