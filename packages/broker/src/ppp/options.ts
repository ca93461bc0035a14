/** Options of the Paranoid Pirate queue and pool: docs/protocols/ppp.md, section "Defaults". */
import * as z from 'zod';
import {
  access,
  checkWorkerSide,
  count,
  endpoints,
  milliseconds,
  poolRequestFields,
  withExpiry,
  workerSideFields,
} from '../options.js';

/** Fields of queue and pool: workers, and requests for them. */
const backendFields = {
  /** Milliseconds between two heartbeats to a worker; workers must use about the same. 10 ms to a day, default 1000 (the Guide). */
  heartbeatIntervalMs: milliseconds(10).default(1000),
  /** Time after which an unanswered job is taken from a worker, however alive it is, in milliseconds. 0, the default, sets no limit. */
  jobTimeoutMs: milliseconds(0).default(0),
  /** Requests that may wait. Default 100000. */
  requestQueueMax: count(10_000_000).default(100_000),
  /** Bytes of all open requests, waiting or running, including a charge for bookkeeping. Default 256 MiB. */
  requestQueueMaxBytes: count(Number.MAX_SAFE_INTEGER).default(268_435_456),
  /** Who may request and who may serve the work, which is named `ppp`: rule 20. Rules for single keys need `curve` and `zmtpTransport()` of `@proj/zmtp`. Default: no restrictions. */
  access: access.optional(),
  /** Fields shared with brokers of other protocols. */
  ...workerSideFields,
};

/** Schema of {@link PppQueueOptions}. All fields are optional; unknown ones are rejected. */
export const pppQueueOptions = z
  .strictObject({
    /** Where to bind for clients: one endpoint, or several for the same ROUTER. Port `*` allowed. Default tcp://127.0.0.1:5556, or none with `frontendConnect`. */
    frontend: endpoints.optional(),
    /** Endpoints of clients that bind; the same ROUTER connects to them. Default: none. */
    frontendConnect: endpoints.optional(),
    /** Where to bind for workers. Default tcp://127.0.0.1:5557, or none with `backendConnect`; the Guide's 5555 and 5556 would collide with Majordomo. */
    backend: endpoints.optional(),
    /** Endpoints of workers that bind. Only silence or the next READY shows that such a worker has gone: see rule 5. */
    backendConnect: endpoints.optional(),
    /** Milliseconds a request waits for a worker. Up to a day, default 30000: longer than a Lazy Pirate tries. */
    requestTtlMs: milliseconds(1).default(30_000),
    /** Fields shared with a pool. */
    ...backendFields,
  })
  .superRefine(checkWorkerSide)
  .transform(withExpiry);

/** Schema of {@link PppPoolOptions}. All fields are optional; unknown ones are rejected. */
export const pppPoolOptions = z
  .strictObject({
    /** Where to bind for workers: one endpoint, or several for the same ROUTER. Port `*` allowed. Default tcp://127.0.0.1:5557, or none with `connect`. */
    endpoint: endpoints.optional(),
    /** Endpoints of workers that bind: see rule 5 of the queue. Default: none. */
    connect: endpoints.optional(),
    /** Total time of a request, including waiting, in milliseconds. Up to a day, default 30000. */
    timeoutMs: milliseconds(1).default(30_000),
    /** Fields shared with a queue. */
    ...backendFields,
  })
  .superRefine(checkWorkerSide)
  .transform(withExpiry);

/** Schema of {@link PppRequestOptions}. */
export const pppRequestOptions = z.strictObject(poolRequestFields);

/** Options of the queue; see the fields of {@link pppQueueOptions}. */
export type PppQueueOptions = z.input<typeof pppQueueOptions>;

/** Validated options with all defaults. */
export type PppQueueSettings = z.output<typeof pppQueueOptions>;

/** Options of the pool; see the fields of {@link pppPoolOptions}. */
export type PppPoolOptions = z.input<typeof pppPoolOptions>;

/** Validated options with all defaults. */
export type PppPoolSettings = z.output<typeof pppPoolOptions>;

/** Options of a single request at a pool. */
export type PppRequestOptions = z.input<typeof pppRequestOptions>;

/** The settings of the workers' side, which queue and pool share. */
export type PppBackendSettings = Omit<
  PppQueueSettings,
  'frontend' | 'frontendConnect' | 'backend' | 'backendConnect' | 'requestTtlMs'
>;
