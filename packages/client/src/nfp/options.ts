/** Options of the NFP client: what may be set, defaults, bounds. Section "Client" of docs/protocols/nfp.md. */
import type { RecordStore } from '@proj/transport';
import {
  endpoints,
  flag,
  functionOf,
  integer,
  listOf,
  named,
  oneOf,
  text,
  withDefault,
} from '@proj/transport/peer-schemas';
import * as z from 'zod/mini';
import { linger, milliseconds, requestFields, socketFields, subscriptionFields } from '../options.js';

const DAY_MS = 86_400_000;
const NAME_MAX_BYTES = 255;
const NAME = `must be 1 to ${NAME_MAX_BYTES} bytes of printable UTF-8`;

/** Schema of a service's or worker's name and of a uuid: 1 to 255 bytes of printable UTF-8. */
export const nfpName = z.string(NAME).check(z.refine((name) => isName(name), NAME));

function isName(name: string): boolean {
  return name.length > 0 && Buffer.byteLength(name) <= NAME_MAX_BYTES && !/[\p{Cc}\p{Cs}]/u.test(name);
}

const isStore = (value: unknown): boolean => typeof value === 'object' && value !== null && 'commit' in value;

/** A question of a running job to the client that posted it. */
export interface NfpInputRequest {
  readonly uuid: string;
  readonly worker: string;
  /** Id of this question. */
  readonly id: string;
  readonly question: string;
  /** The worker's suggested answer. */
  readonly default: unknown;
  /** The whole request, as received. */
  readonly value: unknown;
}

/** Answers questions of running jobs. If it rejects, the question is cancelled, and the worker decides what follows. */
export type NfpInputHandler = (request: NfpInputRequest) => unknown;

/** Schema of {@link NfpClientOptions}. */
export const nfpClientOptions = z.strictObject({
  ...socketFields,
  /** Brokers, in order of preference; after silence or a lost connection the next one is used. 1 to 64; default `tcp://127.0.0.1:5555`. */
  endpoints: withDefault(endpoints(), ['tcp://127.0.0.1:5555']),
  /** Routing id of this client, unique among connected clients. 1 to 255 bytes; default `proj-` and a random uuid. */
  name: z.optional(nfpName),
  /** Form of command frames: every release reads `ascii`; the specification says `byte`. Default `ascii`. */
  commandForm: withDefault(oneOf('ascii', 'byte'), 'ascii'),
  /** `legacy` for releases up to 0.14.0. Only chooses `mmiCommand`, since any header is read. Default `current`. */
  dialect: withDefault(oneOf('current', 'legacy'), 'current'),
  /** How to call the broker's services: brokers up to 0.15.1 know only `get`. Default `mmi`, in dialect `legacy` `get`. */
  mmiCommand: z.optional(oneOf('mmi', 'get')),
  /** Begin with OPEN, which crashes real brokers before 0.19.0. Default false. */
  sendOpen: withDefault(flag(), false),
  /** How long to wait for the broker's OPEN. 1 ms to a day, default 1000. */
  openTimeoutMs: withDefault(milliseconds, 1000),
  /** How often workers are polled for results. 10 ms to an hour, default 500 (NORFAB). */
  pollIntervalMs: withDefault(integer(10, 3_600_000), 500),
  /** Time limit for a job. 1 ms to 30 days, default 60,000 (NORFAB). */
  timeoutMs: withDefault(integer(1, 30 * DAY_MS), 60_000),
  /** Time limit for a question: GET, DELETE, the broker's services. 1 ms to a day, default 10,000. */
  askTimeoutMs: withDefault(milliseconds, 10_000),
  /** How long a broker may leave a call unanswered before another connection is opened. 1 ms to a day, default 3000 (NORFAB up to 0.14.0). */
  answerTimeoutMs: withDefault(milliseconds, 3000),
  /** Wait before the first reconnection; doubles each time. 1 ms to a day, default 100. */
  reconnectMinMs: withDefault(milliseconds, 100),
  /** Longest such wait. 1 ms to a day, default 5000. */
  reconnectMaxMs: withDefault(milliseconds, 5000),
  /** Open jobs and questions; more fail with `QUEUE_FULL`. 1 to 10,000,000; default 100,000. */
  openMax: withDefault(integer(1, 10_000_000), 100_000),
  /** Bytes of their bodies; more fail with `QUEUE_FULL`. At least 1024; default 268,435,456. */
  openMaxBytes: withDefault(integer(1024), 268_435_456),
  /** Unread events of one job; beyond this the oldest is dropped and counted. 1 to 1,000,000; default 1000. */
  eventsMax: withDefault(integer(1, 1_000_000), 1000),
  /** Their bytes. At least 1024; default 16,777,216. */
  eventsMaxBytes: withDefault(integer(1024), 16_777_216),
  /** Stores jobs so that the next process can continue them; owned by the client from then on. Default: none. */
  store: z.optional(z.custom<RecordStore>(isStore, 'expected a RecordStore, such as lmdbRecords({ folder })')),
  /** How long ended jobs stay in the store, in milliseconds; 0 is forever. Default 604,800,000 (7 days). */
  jobTtlMs: withDefault(integer(0), 604_800_000),
  /** Answers questions of running jobs. Default: none; questions then time out at the worker. */
  onInput: z.optional(functionOf<NfpInputHandler>('(request) => value')),
  /** How long `close` may take to send what is left. 0 to a day, in milliseconds; default 1000. */
  lingerMs: linger,
  /** Largest message, in bytes over all frames, sent or received. At least 1024; default 134,217,728. */
  maxMessageBytes: withDefault(integer(1024), 134_217_728),
});

/** What `new NfpClient()` takes; everything has a default. */
export type NfpClientOptions = z.input<typeof nfpClientOptions>;

/** {@link NfpClientOptions} with the defaults filled in. */
export type NfpClientSettings = z.output<typeof nfpClientOptions>;

const TARGET_MAX_BYTES = 65_536;

/** As on the wire: several names are a JSON array, which every release reads. */
const target = z
  .pipe(
    z.union(
      [z.string(), z.array(nfpName).check(z.minLength(1, 'expected at least one name'))],
      'expected a name, all, any, or a list of names',
    ),
    z.transform((wanted) => (typeof wanted === 'string' ? wanted : JSON.stringify(wanted))),
  )
  .check(z.refine((wanted) => isTarget(wanted), `must be at most ${TARGET_MAX_BYTES} bytes of UTF-8`));

function isTarget(wanted: string): boolean {
  return Buffer.byteLength(wanted) <= TARGET_MAX_BYTES && !/\p{Cs}/u.test(wanted);
}

const callFields = {
  /** Positional arguments. Default none. */
  args: withDefault(listOf(z.unknown()), []),
  /** Named arguments. Default none. */
  kwargs: withDefault(named(z.unknown()), {}),
  /** Ends the call with the signal's reason. */
  signal: requestFields.signal,
};

/** Schema of {@link NfpPostOptions}. */
export const nfpPostOptions = z.strictObject({
  ...callFields,
  /** `all` workers of the service, `any` of them, one by name, or several as an array. Default `all` (NORFAB). */
  target: withDefault(target, 'all'),
  /** Overrides the client's `timeoutMs`. 1 ms to 30 days. */
  timeoutMs: z.optional(integer(1, 30 * DAY_MS)),
  /** The job's id: 1 to 255 bytes, used once. Default: 32 random hex digits (NORFAB). */
  uuid: z.optional(nfpName),
  /** Receives the chunks that workers stream, in order. Default: they are dropped. */
  onStream: z.optional(functionOf<(chunk: Buffer[]) => void>('(chunk) => void')),
});

/** What `client.post()` and `client.run()` take besides service and task. */
export type NfpPostOptions = z.input<typeof nfpPostOptions>;

/** {@link NfpPostOptions} with the defaults filled in. */
export type NfpPostSettings = z.output<typeof nfpPostOptions>;

/** Schema of {@link NfpAskOptions}. */
export const nfpAskOptions = z.strictObject({
  /** The service whose workers are asked. Default: as recorded in the client's store, otherwise `all`, the workers of every service. */
  service: z.optional(nfpName),
  /** Which of its workers, as for `post`. Default `all`. */
  target: withDefault(target, 'all'),
  /** Overrides the client's `askTimeoutMs`. 1 ms to a day. */
  timeoutMs: z.optional(milliseconds),
  /** Ends the call with the signal's reason. */
  signal: requestFields.signal,
});

/** What `client.get()` and `client.delete()` take besides the uuid. */
export type NfpAskOptions = z.input<typeof nfpAskOptions>;

/** {@link NfpAskOptions} with the defaults filled in. */
export type NfpAskSettings = z.output<typeof nfpAskOptions>;

/** Schema of {@link NfpCallOptions}. */
export const nfpCallOptions = z.strictObject({
  ...callFields,
  /** Overrides the client's `askTimeoutMs`. 1 ms to a day. */
  timeoutMs: z.optional(milliseconds),
});

/** The options of a call to one of the broker's services. */
export type NfpCallOptions = z.input<typeof nfpCallOptions>;

/** Schema of {@link NfpWorkersCallOptions}. */
export const nfpWorkersCallOptions = z.extend(nfpCallOptions, {
  /** Which workers, of any service, as for `post`. Default `all`. */
  target: withDefault(target, 'all'),
});

/** The options of a call to the workers' management. */
export type NfpWorkersCallOptions = z.input<typeof nfpWorkersCallOptions>;

/** {@link NfpWorkersCallOptions} with the defaults filled in. */
export type NfpWorkersCallSettings = z.output<typeof nfpWorkersCallOptions>;

const fileSource = {
  /** A worker of service `filesharing`, or `any`; default: the broker's own files. */
  worker: z.optional(nfpName),
  /** Overrides the client's `askTimeoutMs`: for each answer of the broker, or for a worker's whole job. 1 ms to a day. */
  timeoutMs: z.optional(milliseconds),
  /** Ends the call with the signal's reason. */
  signal: requestFields.signal,
};

/** Schema of {@link NfpListOptions}. */
export const nfpListOptions = z.strictObject({
  ...fileSource,
  /** List all files below the folder instead of the names in it. Default false. */
  recursive: withDefault(flag(), false),
});

/** What `client.listFiles()` takes besides the url. */
export type NfpListOptions = z.input<typeof nfpListOptions>;

/** {@link NfpListOptions} with the defaults filled in. */
export type NfpListSettings = z.output<typeof nfpListOptions>;

/** How much of a file has been fetched. */
export interface NfpFileProgress {
  readonly bytes: number;
  readonly totalBytes: number;
}

/** Schema of {@link NfpFetchOptions}. */
export const nfpFetchOptions = z.strictObject({
  ...fileSource,
  /** The folder for the file, created if missing. Nothing is written elsewhere. */
  to: text(),
  /** Bytes per chunk. 1 to 4,194,304; default 256,000 (NORFAB). */
  chunkBytes: withDefault(integer(1, 4_194_304), 256_000),
  /** Chunks under way at a time. 1 to 100; default 10 (NORFAB). */
  chunksInTransit: withDefault(integer(1, 100), 10),
  /** Called after each chunk is written. */
  onProgress: z.optional(functionOf<(progress: NfpFileProgress) => void>('(progress) => void')),
});

/** What `client.fetchFile()` takes besides the url. */
export type NfpFetchOptions = z.input<typeof nfpFetchOptions>;

/** {@link NfpFetchOptions} with the defaults filled in. */
export type NfpFetchSettings = z.output<typeof nfpFetchOptions>;

/** Schema of {@link NfpSubscriberOptions}. All fields are optional; unknown ones are refused. */
export const nfpSubscriberOptions = z.strictObject({
  /** Where brokers publish; the subscriber connects to all of them. 1 to 64 endpoints, default `tcp://127.0.0.1:5556`. */
  endpoints: withDefault(endpoints(), ['tcp://127.0.0.1:5556']),
  /** Largest event, in bytes over all frames. At least 1024; default 134,217,728. */
  maxMessageBytes: withDefault(integer(1024), 134_217_728),
  /** See {@link socketFields}. */
  curve: socketFields.curve,
  /** Where sockets come from. Default: ZMTP in TypeScript. */
  transport: socketFields.transport,
});

/** What `new NfpSubscriber()` takes; everything has a default. */
export type NfpSubscriberOptions = z.input<typeof nfpSubscriberOptions>;

/** Schema of {@link NfpSubscribeOptions}. */
export const nfpSubscribeOptions = z
  .strictObject({
    /** Only events of this service. Default: all. */
    service: z.optional(nfpName),
    /** Only events of this job; needs `service`. Default: all. */
    uuid: z.optional(nfpName),
    ...subscriptionFields,
  })
  .check(
    z.refine(({ service, uuid }) => uuid === undefined || service !== undefined, {
      path: ['uuid'],
      error: 'needs service: topics begin with it',
    }),
  );

/** What `subscriber.subscribe()` takes; everything has a default. */
export type NfpSubscribeOptions = z.input<typeof nfpSubscribeOptions>;
