/** Options of the EventMQ scheduler. Section 11 of docs/protocols/emqp.md. */
import type { RecordStore } from '@proj/transport';
import { curveOfClient, transportOfClient } from '@proj/transport/peer-schemas';
import { endpointOf, milliseconds as duration } from '@proj/transport/schemas';
import * as z from 'zod';

const milliseconds = duration(1);

const isStore = (value: unknown): boolean => typeof value === 'object' && value !== null && 'commit' in value;

/** Schema of {@link EmqpSchedulerOptions}. */
export const emqpSchedulerOptions = z
  .strictObject({
    /** Brokers' frontends, in order of preference; after each loss the next one is tried. 1 to 64; default `tcp://127.0.0.1:47291` (EventMQ). */
    endpoints: z
      .array(endpointOf('expected an endpoint such as tcp://127.0.0.1:47291'))
      .min(1)
      .max(64)
      .default(['tcp://127.0.0.1:47291']),
    /**
     * Where jobs are stored: `lmdbRecords` of `@proj/store`, or `memoryRecords()` for jobs that may be lost. The scheduler opens, closes and
     * exclusively owns it.
     */
    store: z.custom<RecordStore>(isStore, { error: 'expected a RecordStore, such as lmdbRecords({ folder })' }),
    /** Time zone of cron expressions, as the operating system names it. Default `UTC`. */
    timeZone: z.string().default('UTC'),
    /** Run a cron job once at startup if its time passed while no scheduler was running. Interval jobs always do. Default false. */
    catchUp: z.boolean().default(false),
    /** Maximum number of jobs; new ones beyond it are rejected. 1 to 10,000,000; default 1,000,000. */
    jobsMax: z.int().min(1).max(10_000_000).default(1_000_000),
    /** Maximum bytes of their bodies. At least 1024; default 536,870,912. */
    jobsMaxBytes: z.int().min(1024).default(536_870_912),
    /** Time between our heartbeats. 1 ms to a day; default 3000 (EventMQ). */
    heartbeatIntervalMs: milliseconds.default(3000),
    /** Silence after which a broker counts as lost; more than `heartbeatIntervalMs`. 1 ms to a day; default 15,000 (EventMQ). */
    brokerExpiryMs: milliseconds.default(15_000),
    /** Time limit for the ACK of INFORM. 1 ms to a day; default 5000. */
    ackTimeoutMs: milliseconds.default(5000),
    /** First delay before another attempt, doubled with each. 1 ms to a day; default 250. */
    reconnectMinMs: milliseconds.default(250),
    /** Longest delay before another attempt. 1 ms to a day; default 30,000. */
    reconnectMaxMs: milliseconds.default(30_000),
    /** How long a broker must have been connected for the delays to start over. 1 ms to a day; default 10,000. */
    minUptimeMs: milliseconds.default(10_000),
    /** Time between retries after the store has failed. 1 ms to a day; default 5000. */
    storeRetryMs: milliseconds.default(5000),
    /** Our farewell: the text's KBAI, the product's KBYE, or both. Default `both`. */
    byes: z.enum(['both', 'kbai', 'kbye']).default('both'),
    /** How long `drain` waits for pending writes. 1 ms to a day; default 10,000. */
    drainMs: milliseconds.default(10_000),
    /** How long closing a connection may take to send what is queued. 0 to a day, in milliseconds; default 1000. */
    lingerMs: duration(0).default(1000),
    /** Largest message, in bytes over all frames, sent or received. At least 1024; default 67,108,864. */
    maxMessageBytes: z.int().min(1024).default(67_108_864),
    /** CURVE: encrypts, and authenticates both sides. Default: neither. */
    curve: z.optional(curveOfClient),
    /** Sockets and clock. Default: ZMTP in TypeScript, and the system clock. */
    transport: z.optional(transportOfClient),
  })
  .refine(({ heartbeatIntervalMs, brokerExpiryMs }) => brokerExpiryMs > heartbeatIntervalMs, {
    path: ['brokerExpiryMs'],
    error: 'must be more than heartbeatIntervalMs',
  })
  .refine(({ reconnectMinMs, reconnectMaxMs }) => reconnectMaxMs >= reconnectMinMs, {
    path: ['reconnectMaxMs'],
    error: 'must be at least reconnectMinMs',
  });

/** What `new EmqpScheduler()` takes; everything but `store` has a default. */
export type EmqpSchedulerOptions = z.input<typeof emqpSchedulerOptions>;

/** {@link EmqpSchedulerOptions} with the defaults filled in. */
export type EmqpSchedulerSettings = z.output<typeof emqpSchedulerOptions>;

/** The engine's settings: all but those of its shell. */
export type EmqpSchedulerEngineSettings = Omit<
  EmqpSchedulerSettings,
  'store' | 'timeZone' | 'lingerMs' | 'maxMessageBytes' | 'curve' | 'transport'
>;
