/** Options of the EventMQ job manager, with defaults and bounds. Section 10 of docs/protocols/emqp.md. */
import * as z from 'zod';
import { checkReconnect, connectionFields, endpoints, milliseconds, refuse } from '../options.js';
import type { StartJobHost } from './job-host.js';

const NAME_MAX_BYTES = 255;
const WEEK_MS = 604_800_000;
const NO_LIMIT = 0;

const path = z.union([z.string().min(1), z.instanceof(URL).refine(({ protocol }) => protocol === 'file:')], {
  error: 'expected a path, or a URL with file:',
});

const queueName = z
  .string()
  .min(1)
  .refine((name) => Buffer.byteLength(name) <= NAME_MAX_BYTES && !/\p{Surrogate}/u.test(name), {
    error: `must be 1 to ${NAME_MAX_BYTES} bytes of UTF-8`,
  });

/** Schema of {@link EmqpJobManagerOptions}. */
export const emqpJobManagerOptions = z
  .strictObject({
    ...connectionFields,
    /** Brokers' backends, in order of preference; after each loss the next one is tried. 1 to 64; default `tcp://127.0.0.1:47290` (EventMQ). */
    endpoints: endpoints.default(['tcp://127.0.0.1:47290']),
    /** Queues to take jobs from, as `[weight, name]`; higher weights come first. 1 to 1000; default `[[10, 'default']]` (EventMQ). */
    queues: z
      .array(z.tuple([z.number(), queueName]))
      .min(1)
      .max(1000)
      .default([[10, 'default']]),
    /**
     * A module whose default export is an object of functions by `path.callable`, for the jobs with that name. It may also export
     * `onProcessStart()`, `onJobEntry(job)` and `onJobExit(job)`. Loaded in each process. This or `directory` is required.
     */
    handlers: path.optional(),
    /**
     * A folder: any peer that reaches the broker may call whatever its modules export. `path` `a.b` is `a/b.mjs`, `.js` or `.cjs` there, `a.b:C`
     * a class in it.
     */
    directory: path.optional(),
    /** Jobs that run at the same time, each in its own process. 1 to 1000; default 4 (EventMQ). */
    concurrency: z.int().min(1).max(1000).default(4),
    /**
     * What jobs run in. Threads start faster, but share memory limits and crashes with this process. A function starts something else, once per
     * slot and again whenever that has gone. Default `processes`.
     */
    pool: z
      .union([z.enum(['processes', 'threads']), z.custom<StartJobHost>((value) => typeof value === 'function')], {
        error: 'expected processes, threads or a function that starts what jobs run in',
      })
      .default('processes'),
    /** Time limit of a job without `timeout`. Up to a week; 0, the default, for none (the specification). */
    globalTimeoutMs: z.int().min(0).max(WEEK_MS).default(NO_LIMIT),
    /** Number of jobs after which a process is replaced. 0 for never; default 1024 (EventMQ). */
    maxJobsPerProcess: z.int().min(0).default(1024),
    /** First pause before a failed job is run again, doubled with each run. 1 ms to a day; default 1000. */
    retryDelayMs: milliseconds.default(1000),
    /** Longest such pause. 1 ms to a day; default 30,000. */
    retryMaxMs: milliseconds.default(30_000),
    /** Requests that may wait for a slot; more are dropped. 0 to 100,000; default 1000. */
    queueMax: z.int().min(0).max(100_000).default(1000),
    /** Time between our heartbeats. 1 ms to a day; default 3000 (EventMQ). */
    heartbeatIntervalMs: milliseconds.default(3000),
    /** Silence after which a broker counts as lost. More than `heartbeatIntervalMs`; default 15,000 (EventMQ). */
    brokerExpiryMs: milliseconds.default(15_000),
    /** Time limit for the ACK of INFORM. 1 ms to a day; default 5000. */
    ackTimeoutMs: milliseconds.default(5000),
    /** First delay before reconnecting, doubled with each attempt. 1 ms to a day; default 250. */
    reconnectMinMs: milliseconds.default(250),
    /** Longest delay before reconnecting. 1 ms to a day; default 30,000. */
    reconnectMaxMs: milliseconds.default(30_000),
    /** How long `drain()` waits for current jobs before it kills them. 1 ms to a day; default 300,000 (EventMQ). */
    killGraceMs: milliseconds.default(300_000),
    /** The farewell: the specification's KBAI, the product's KBYE, or both. Default `both`. */
    byes: z.enum(['both', 'kbai', 'kbye']).default('both'),
    /** On DISCONNECT: end as after `drain()` (the default), or leave and reconnect (EventMQ). */
    onDisconnect: z.enum(['stop', 'reconnect']).default('stop'),
    /** Largest message, in frames. 9 to 65,536; default 64. */
    maxMessageFrames: z.int().min(9).max(65_536).default(64),
  })
  .superRefine((options, context) => {
    if (options.handlers === undefined && options.directory === undefined)
      refuse(context, 'handlers', 'expected handlers or directory, because otherwise there is nothing to run');
    if (options.brokerExpiryMs <= options.heartbeatIntervalMs)
      refuse(context, 'brokerExpiryMs', `expected more than heartbeatIntervalMs, ${options.heartbeatIntervalMs}`);
    if (options.retryMaxMs < options.retryDelayMs)
      refuse(context, 'retryMaxMs', `expected at least retryDelayMs, ${options.retryDelayMs}`);
    checkReconnect(options, context);
  });

/** Options of `new EmqpJobManager()`. `handlers` or `directory` is required. */
export type EmqpJobManagerOptions = z.input<typeof emqpJobManagerOptions>;

/** Validated options with all defaults. */
export type EmqpJobManagerSettings = z.output<typeof emqpJobManagerOptions>;
