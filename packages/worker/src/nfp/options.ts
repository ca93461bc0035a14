/** Options of the NFP worker, with defaults and bounds. Section "Defaults" of docs/protocols/nfp.md. */
import type { RecordStore } from '@proj/transport';
import * as z from 'zod';
import { checkReconnect, connectionFields, endpoints, milliseconds, refuse, workerFields } from '../options.js';
import type { NfpRestartHook, NfpTask, NfpTaskHandler } from './task.js';

const DAY_MS = 86_400_000;
const TEN_YEARS_MS = 3650 * DAY_MS;

const isName = (value: string): boolean =>
  /^[^\p{Cc}\p{Cs}]+$/u.test(value) && Buffer.byteLength(value) >= 1 && Buffer.byteLength(value) <= 255;

const name = z.string().refine(isName, { error: 'expected 1 to 255 bytes of printable UTF-8' });

const isTask = (value: unknown): boolean =>
  typeof value === 'function' ||
  (typeof value === 'object' && value !== null && 'handler' in value && typeof value.handler === 'function');

/** The broker's own services. */
const RESERVED = new Set([
  'all',
  'mmi.service.broker',
  'mmi.service.worker',
  'sid.service.broker',
  'fss.service.broker',
]);

/** Schema of {@link NfpWorkerOptions}. */
export const nfpWorkerOptions = z
  .strictObject({
    ...connectionFields,
    /** Brokers, in order of preference; after each loss the next one is tried. 1 to 64; default `tcp://127.0.0.1:5555`. */
    endpoints: endpoints.default(['tcp://127.0.0.1:5555']),
    /** The service. 1 to 255 bytes of printable UTF-8, not one of the broker's own. Required. */
    service: name,
    /** The name that clients use for this worker: its routing id, unique at the broker and the same after a restart. 1 to 255 bytes. Required. */
    name,
    /**
     * The tasks that clients may call, by name: functions, or objects with a handler, a description and schemas. At least one, unless there are
     * `baseTasks`. Required.
     */
    tasks: z.record(
      name,
      z.custom<NfpTask | NfpTaskHandler>(isTask, { error: 'expected a function, or an object with a handler' }),
    ),
    /** Add the tasks that all NORFAB workers have, such as `list_tasks` and `job_list`, except those with a name in `tasks`. Default true. */
    baseTasks: z.boolean().default(true),
    /**
     * Also add the task `run_shell_cmd`. Dangerous: any peer that may post jobs to this worker can then run commands as this process. Default
     * false.
     */
    shellCommands: z.boolean().default(false),
    /** What the task `get_version` shows besides this package and Node. Default: nothing more. */
    versions: z.record(z.string(), z.string()).default({}),
    /** Jobs that run at the same time. 1 to 1000; default 5 (NORFAB). */
    concurrency: z.int().min(1).max(1000).default(5),
    /** Accepted jobs that may wait; more are rejected with 500, and their clients retry later. 1 to 10,000,000; default 10,000. */
    maxPendingJobs: z.int().min(1).max(10_000_000).default(10_000),
    /** Stores jobs and results; opened by `start` and closed at the end. Default: memory, lost with the process. */
    store: z
      .custom<RecordStore>((value) => typeof value === 'object' && value !== null && 'commit' in value, {
        error: 'expected a RecordStore',
      })
      .optional(),
    /** How long results and events are kept. Milliseconds, up to ten years; 0 for ever. Default 7 days. */
    resultTtlMs: z
      .int()
      .min(0)
      .max(TEN_YEARS_MS)
      .default(7 * DAY_MS),
    /**
     * Number of results kept; if there are more, the oldest are removed early. Each takes about 400 bytes of memory. 1 to 10,000,000; default
     * 100,000.
     */
    resultsMax: z.int().min(1).max(10_000_000).default(100_000),
    /** What to do with jobs that a crash or a shutdown interrupted: run them again, or let them fail. Default `rerun`, for idempotent tasks. */
    crashPolicy: z.enum(['rerun', 'fail']).default('rerun'),
    /** Runs of one job, including interrupted ones, before it fails. 1 to 1000; default 3. */
    maxRuns: z.int().min(1).max(1000).default(3),
    /** Form of commands: four characters or one byte. Default `ascii`, which every NORFAB release understands. */
    commandForm: z.enum(['ascii', 'byte']).default('ascii'),
    /** How to accept jobs: with 201, or with 202 for clients up to 0.14.0. Default `current`. */
    dialect: z.enum(['current', 'legacy']).default('current'),
    /** Send OPEN before READY, and follow the intervals in the broker's answer. Default true. */
    sendOpen: z.boolean().default(true),
    /** Time between KEEPALIVEs. 100 to 600,000 ms; default 2500 (NORFAB). */
    keepaliveIntervalMs: z.int().min(100).max(600_000).default(2500),
    /** Intervals of silence after which the broker counts as lost. 2 to 20; default 6 (NORFAB). */
    keepaliveMultiplier: z.int().min(2).max(20).default(6),
    /** Obey `restart`, `shutdown` and `disconnect` at `mmi.service.worker`, from any peer. Default false. */
    managementCommands: z.boolean().default(false),
    /** Called on `restart`, when no task runs and the inventory has been fetched again; jobs wait until it resolves. Default: none. */
    onRestart: z
      .custom<NfpRestartHook>((value) => typeof value === 'function', { error: 'expected a function' })
      .optional(),
    /** Ask the broker at startup, and after `restart`, for its inventory of this worker. Default true; tasks can ask in any case. */
    fetchInventory: z.boolean().default(true),
    /**
     * A folder, used only by this worker, for files that tasks fetch from the broker or, if it has no file service, from workers of service
     * `filesharing`. Default: none, and no file can be fetched.
     */
    fetchFiles: z.string().min(1).optional(),
    /**
     * Bytes of files in that folder. To make room, files that no running task needs are deleted, least recently used first. 1 to 1 TiB; default
     * 1 GiB.
     */
    fetchMaxBytes: z.int().min(1).max(1_099_511_627_776).default(1_073_741_824),
    /** How long the broker, or a worker that shares files, may take for one answer about inventory or files. 1 ms to a day; default 10,000. */
    askTimeoutMs: milliseconds.default(10_000),
    /** First delay before reconnecting, doubled with each attempt. 1 ms to a day; default 100. */
    reconnectMinMs: milliseconds.default(100),
    /**
     * Longest delay before reconnecting. 1 ms to a day; default 2500: together with the time to connect, less than a restarted broker waits for
     * its workers before it broadcasts (`settleMs`, two keepalive intervals).
     */
    reconnectMaxMs: milliseconds.default(2500),
    /** How long `drain()`, or a `restart`, waits for running tasks before it aborts them. 1 ms to a day; default 10,000. */
    drainMs: workerFields.drainMs,
    /** PUTs that may wait for one running task, within a limit of 16 MiB; more are dropped. 1 to 10,000; default 64. */
    putQueueMax: z.int().min(1).max(10_000).default(64),
    /** Largest message, in frames, sent or received. 8 to 65,536; default 64. */
    maxMessageFrames: z.int().min(8).max(65_536).default(64),
  })
  .superRefine((options, context) => {
    if (RESERVED.has(options.service)) refuse(context, 'service', 'this name is reserved for the broker');
    if (Object.keys(options.tasks).length === 0 && !options.baseTasks)
      refuse(context, 'tasks', 'expected at least one task');
    checkReconnect(options, context);
  });

/** Options of `new NfpWorker()`; all but `service`, `name` and `tasks` have a default. */
export type NfpWorkerOptions = z.input<typeof nfpWorkerOptions>;

/** Validated options with all defaults. */
export type NfpWorkerSettings = z.output<typeof nfpWorkerOptions>;
