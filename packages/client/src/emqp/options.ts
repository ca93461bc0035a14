/** Options of the EventMQ client: what may be set, defaults, bounds. Section 9 of docs/protocols/emqp.md. */
import * as z from 'zod';
import { clientFields, count, endpoint, endpoints, linger, milliseconds, requestFields } from '../options.js';

const NAME_MAX_BYTES = 255;

/** Schema of {@link EmqpClientOptions}. */
export const emqpClientOptions = z.strictObject({
  /** Frontends of brokers, in order of preference; silence or a lost connection leads to the next one. 1 to 64; default `tcp://127.0.0.1:47291` (EventMQ). */
  endpoints: endpoints.default(['tcp://127.0.0.1:47291']),
  /** Where the pub-sub device takes messages. Default `tcp://127.0.0.1:47298` (EventMQ). */
  publishEndpoint: endpoint.default('tcp://127.0.0.1:47298'),
  /** Where the pub-sub device sends them to subscribers. Default `tcp://127.0.0.1:47299` (EventMQ). */
  subscribeEndpoint: endpoint.default('tcp://127.0.0.1:47299'),
  /** How long the acceptance of a job may take or, for messages without one, room in the transport. 1 ms to a day, default 5000. */
  timeoutMs: milliseconds.default(5000),
  /** How long a result may take, from the acceptance on. 1 ms to a day, default 3,600,000 (the broker's `resultRouteTtlMs`). */
  resultTimeoutMs: milliseconds.default(3_600_000),
  /** Commands without outcome, including awaited results; more fail with `QUEUE_FULL`. 1 to 10,000,000; default 100,000. */
  openMax: count.max(10_000_000).default(100_000),
  /** How long `close` may take to send what is left. 0 to a day, in milliseconds; default 1000. */
  lingerMs: linger,
  /** Largest message, in bytes over all frames, sent or received. At least 1024; default 67,108,864. */
  maxMessageBytes: clientFields.maxMessageBytes,
  /** Where sockets and time come from. Default: ZMTP in TypeScript. */
  transport: clientFields.transport,
  /** See {@link clientFields}. */
  curve: clientFields.curve,
});

/** What `new EmqpClient()` takes; everything has a default. */
export type EmqpClientOptions = z.input<typeof emqpClientOptions>;

/** {@link EmqpClientOptions} with the defaults filled in. */
export type EmqpClientSettings = z.output<typeof emqpClientOptions>;

/** Schema of a queue's name: 1 to 255 bytes of UTF-8. */
export const emqpQueueName = z
  .string()
  .min(1)
  .refine((name) => Buffer.byteLength(name) <= NAME_MAX_BYTES && !/\p{Surrogate}/u.test(name), {
    error: `must be 1 to ${NAME_MAX_BYTES} bytes of UTF-8`,
  });

/** Schema of {@link EmqpJob}. */
export const emqpJob = z.strictObject({
  /** The module, or `module:Class` for a method. Not empty. */
  path: z.string().min(1),
  /** The function or method. Not empty. */
  callable: z.string().min(1),
  /** Positional arguments. Default none. */
  args: z.array(z.unknown()).default([]),
  /** Named arguments. Default none. */
  kwargs: z.record(z.string(), z.unknown()).default({}),
  /** Positional arguments of the class's constructor. Default none. */
  classArgs: z.array(z.unknown()).default([]),
  /** Named arguments of the class's constructor. Default none. */
  classKwargs: z.record(z.string(), z.unknown()).default({}),
});

/** The function to run, and its arguments; values are sent as `JSON.stringify` writes them. */
export type EmqpJob = z.input<typeof emqpJob>;

const headerFields = {
  /** The job must be done, even if twice: a broker of ours gives it to another worker if its own dies. */
  guarantee: z.boolean(),
  /** How often a worker of ours repeats a failed job, and a broker of ours one whose worker died. 0 to 1000, default 0. */
  retryCount: z.int().min(0).max(1000).default(0),
  /** Seconds after which the worker kills the job. 0 to 604,800; 0, the default, for the worker's own limit. */
  timeoutSeconds: z.int().min(0).max(604_800).default(0),
};

/** Schema of {@link EmqpDeferOptions}. */
export const emqpDeferOptions = z.strictObject({
  ...headerFields,
  /** See {@link headerFields}. Default false (EventMQ). */
  guarantee: headerFields.guarantee.default(false),
  /** Ask for the result. Default false. */
  replyRequested: z.boolean().default(false),
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
    guarantee: headerFields.guarantee.default(true),
    /** Seconds from one run to the next. 1 to 2^31 - 1. Either this or `cron`. */
    intervalSeconds: count.max(2_147_483_647).optional(),
    /** Run it at these times: five fields in printable ASCII, `0 4 * * *`; the scheduler understands them. Either this or `intervalSeconds`. */
    cron: z
      .string()
      .max(255)
      .regex(/^[!-~]+(?: [!-~]+){4}$/, 'expected five fields such as 0 4 * * *')
      .optional(),
    /** Also run it at once. Default true (EventMQ). */
    haste: z.boolean().default(true),
    /** End after so many runs. 1 to 2^31 - 1; default never. With `cron` it ends the scheduler of EventMQ 0.3.13. */
    runCount: count.max(2_147_483_647).optional(),
    /** Ends the call with the signal's reason. */
    signal: requestFields.signal,
  })
  .refine(({ intervalSeconds, cron }) => (intervalSeconds === undefined) !== (cron === undefined), {
    error: 'exactly one of intervalSeconds and cron is needed',
  });

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
  /** Ends the call with the signal's reason. The message may still go out. */
  signal: requestFields.signal,
});

/** What `client.publish()` takes besides topic and body. */
export type EmqpPublishOptions = z.input<typeof emqpPublishOptions>;

/** Schema of {@link EmqpSubscribeOptions}. */
export const emqpSubscribeOptions = z.strictObject({
  /** Messages that may wait to be read; beyond that the oldest is dropped. 1 to 10,000,000; default 10,000. */
  bufferMax: count.max(10_000_000).default(10_000),
  /** Bytes in them, topics included. At least 1; default 67,108,864. */
  bufferMaxBytes: z.int().min(1).default(67_108_864),
  /** Ends the subscription: the next read rejects with the signal's reason. */
  signal: requestFields.signal,
});

/** What `client.subscribe()` takes besides topics. */
export type EmqpSubscribeOptions = z.input<typeof emqpSubscribeOptions>;
