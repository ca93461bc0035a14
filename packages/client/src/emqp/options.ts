/** Options of the EventMQ client: what may be set, defaults, bounds. Section 9 of docs/protocols/emqp.md. */
import { endpoints, flag, integer, listOf, named, text, withDefault } from '@proj/transport/peer-schemas';
import * as z from 'zod/mini';
import { endpoint, linger, milliseconds, requestFields, socketFields, subscriptionFields } from '../options.js';

const NAME_MAX_BYTES = 255;
const QUEUE_NAME = `must be 1 to ${NAME_MAX_BYTES} bytes of UTF-8`;
const CRON = 'expected five fields such as 0 4 * * *';

/** Schema of {@link EmqpClientOptions}. */
export const emqpClientOptions = z.strictObject({
  ...socketFields,
  /**
   * Brokers' frontends, in order of preference; after silence or a lost connection the next one is used. 1 to 64; default
   * `tcp://127.0.0.1:47291` (EventMQ).
   */
  endpoints: withDefault(endpoints(), ['tcp://127.0.0.1:47291']),
  /** Where the pub-sub device receives messages. Default `tcp://127.0.0.1:47298` (EventMQ). */
  publishEndpoint: withDefault(endpoint, 'tcp://127.0.0.1:47298'),
  /** Where the pub-sub device sends them to subscribers. Default `tcp://127.0.0.1:47299` (EventMQ). */
  subscribeEndpoint: withDefault(endpoint, 'tcp://127.0.0.1:47299'),
  /** Time limit for the acceptance of a job or, for messages without one, for room in the transport. 1 ms to a day, default 5000. */
  timeoutMs: withDefault(milliseconds, 5000),
  /** Time limit for a result, from the acceptance on. 1 ms to a day, default 3,600,000 (the broker's `resultRouteTtlMs`). */
  resultTimeoutMs: withDefault(milliseconds, 3_600_000),
  /** Commands without an outcome, including awaited results; more fail with `QUEUE_FULL`. 1 to 10,000,000; default 100,000. */
  openMax: withDefault(integer(1, 10_000_000), 100_000),
  /** How long `close` may take to send what is left. 0 to a day, in milliseconds; default 1000. */
  lingerMs: linger,
});

/** What `new EmqpClient()` takes; everything has a default. */
export type EmqpClientOptions = z.input<typeof emqpClientOptions>;

/** {@link EmqpClientOptions} with the defaults filled in. */
export type EmqpClientSettings = z.output<typeof emqpClientOptions>;

/** Schema of a queue's name: 1 to 255 bytes of UTF-8. */
export const emqpQueueName = z.string(QUEUE_NAME).check(z.refine((name) => isName(name), QUEUE_NAME));

function isName(name: string): boolean {
  return name.length > 0 && Buffer.byteLength(name) <= NAME_MAX_BYTES && !/\p{Surrogate}/u.test(name);
}

/** Schema of {@link EmqpJob}. */
export const emqpJob = z.strictObject({
  /** The module, or `module:Class` for a method. Not empty. */
  path: text(),
  /** The function or method. Not empty. */
  callable: text(),
  /** Positional arguments. Default none. */
  args: withDefault(listOf(z.unknown()), []),
  /** Named arguments. Default none. */
  kwargs: withDefault(named(z.unknown()), {}),
  /** Positional arguments of the class's constructor. Default none. */
  classArgs: withDefault(listOf(z.unknown()), []),
  /** Named arguments of the class's constructor. Default none. */
  classKwargs: withDefault(named(z.unknown()), {}),
});

/** The function to run, and its arguments; values are encoded with `JSON.stringify`. */
export type EmqpJob = z.input<typeof emqpJob>;

const headerFields = {
  /** The job must run, even if twice: our broker gives it to another worker if the first dies. */
  guarantee: flag(),
  /** How often our worker repeats a failed job, and our broker a job whose worker died. 0 to 1000, default 0. */
  retryCount: withDefault(integer(0, 1000), 0),
  /** Seconds after which the worker kills the job. 0 to 604,800; 0, the default, for the worker's own limit. */
  timeoutSeconds: withDefault(integer(0, 604_800), 0),
};

/** Schema of {@link EmqpDeferOptions}. */
export const emqpDeferOptions = z.strictObject({
  ...headerFields,
  /** See {@link headerFields}. Default false (EventMQ). */
  guarantee: withDefault(headerFields.guarantee, false),
  /** Request the result. Default false. */
  replyRequested: withDefault(flag(), false),
  /** Ends the call, and the wait for its result, with the signal's reason. The job may still run. */
  signal: requestFields.signal,
});

/** What `client.defer()` takes besides queue and job. */
export type EmqpDeferOptions = z.input<typeof emqpDeferOptions>;

/** Schema of {@link EmqpScheduleOptions}. */
export const emqpScheduleOptions = z
  .strictObject({
    ...headerFields,
    /** See {@link headerFields}. Default true (EventMQ). */
    guarantee: withDefault(headerFields.guarantee, true),
    /** Seconds from one run to the next. 1 to 2^31 - 1. Either this or `cron`. */
    intervalSeconds: z.optional(integer(1, 2_147_483_647)),
    /** Run it at these times: five fields in printable ASCII, `0 4 * * *`; the scheduler understands them. Either this or `intervalSeconds`. */
    cron: z.optional(z.string(CRON).check(z.maxLength(255, CRON), z.regex(/^[!-~]+(?: [!-~]+){4}$/, CRON))),
    /** Also run it at once. Default true (EventMQ). */
    haste: withDefault(flag(), true),
    /** End after this many runs. 1 to 2^31 - 1; default never. With `cron` it crashes the scheduler of EventMQ 0.3.13. */
    runCount: z.optional(integer(1, 2_147_483_647)),
    /** Ends the call with the signal's reason. */
    signal: requestFields.signal,
  })
  .check(
    z.refine(
      ({ intervalSeconds, cron }) => (intervalSeconds === undefined) !== (cron === undefined),
      'exactly one of intervalSeconds and cron is needed',
    ),
  );

/** What `client.schedule()` takes besides queue and job. */
export type EmqpScheduleOptions = z.input<typeof emqpScheduleOptions>;

/** Schema of {@link EmqpUnscheduleOptions}. */
export const emqpUnscheduleOptions = z.strictObject({
  /** Ends the call with the signal's reason. */
  signal: requestFields.signal,
});

/** What `client.unschedule()` takes besides queue and job. */
export type EmqpUnscheduleOptions = z.input<typeof emqpUnscheduleOptions>;

/** Schema of {@link EmqpPublishOptions}. */
export const emqpPublishOptions = z.strictObject({
  /** Ends the call with the signal's reason. The message may still be sent. */
  signal: requestFields.signal,
});

/** What `client.publish()` takes besides topic and body. */
export type EmqpPublishOptions = z.input<typeof emqpPublishOptions>;

/** Schema of {@link EmqpSubscribeOptions}. */
export const emqpSubscribeOptions = z.strictObject(subscriptionFields);

/** What `client.subscribe()` takes besides topics. */
export type EmqpSubscribeOptions = z.input<typeof emqpSubscribeOptions>;
