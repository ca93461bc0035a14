/** Options of the Majordomo broker and pool: docs/protocols/mdp.md, section "Defaults". */
import type { Service } from '@proj/frames/service';
import type { BodyInput } from '@proj/transport';
import { callback } from '@proj/transport/schemas';
import type { NamedHandler, NamedRequest } from '@proj/transport/service';
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

/** Fields of broker and pool: workers, and requests for them. */
const backendFields = {
  /** Where to bind: one endpoint, or several for the same ROUTER, such as one for clients and one for workers. Port `*` allowed. Default: the Guide's. */
  endpoint: endpoints.default('tcp://127.0.0.1:5555'),
  /** Milliseconds between two heartbeats to a worker; workers must use about the same. 10 ms to a day, default 2500 (the Guide). */
  heartbeatIntervalMs: milliseconds(10).default(2500),
  /** Resend a lost worker's request even if the client has received a part of the reply. Default false: the client cannot recognize duplicates. */
  resendAfterPartial: z.boolean().default(false),
  /** Accept 0.2 messages behind one empty frame (majortomo workers). Default false: 18/MDP has none. */
  acceptLeadingEmpty: z.boolean().default(false),
  /** Requests that may wait for one service. Default 200000: the Guide's mdclient2 sends 100,000 at once. */
  requestQueueMax: count(10_000_000).default(200_000),
  /** Bytes of all open requests, waiting or running, including a charge for bookkeeping. Default 512 MiB. */
  requestQueueMaxBytes: count(Number.MAX_SAFE_INTEGER).default(536_870_912),
  /** Longest service name in bytes. 1 to 255, default 255. */
  serviceNameMaxBytes: count(255).default(255),
  /**
   * Service names with workers, and as many again that are only asked for. A client that was the first to ask for a tenth of what is left of the
   * latter, at least 16, may not ask for further names. All sockets with one CURVE key, or on one connection, count as one client. Default
   * 10000.
   */
  servicesMax: count(1_000_000).default(10_000),
  /** Who may request and who may serve which service: rule 28. Rules for single keys need `curve` and `zmtpTransport()`. Default: no restrictions. */
  access: access.optional(),
  /** Fields shared with brokers of other protocols. */
  ...workerSideFields,
};

/** Schema of {@link MdpBrokerOptions}. All fields are optional; unknown ones are rejected. */
export const mdpBrokerOptions = z
  .strictObject({
    /** Fields shared with a pool. */
    ...backendFields,
    /** Join services of the same name across MDP 0.1 and 0.2. Default false: each version has its own services. */
    bridge: z.boolean().default(false),
    /** Milliseconds a request waits for a service without workers. Up to a day, default 30000. */
    requestTtlMs: milliseconds(1).default(30_000),
    /** Milliseconds a request waits while all workers are busy. 0, the default, sets no limit. */
    busyTtlMs: milliseconds(0).default(0),
    /** Open requests of one client. Default 150000. */
    clientRequestsMax: count(10_000_000).default(150_000),
    /** Answer `mmi.services` and `mmi.workers`, which are not in 8/MMI. Default true. */
    mmiAdditions: z.boolean().default(true),
  })
  .superRefine(checkWorkerSide)
  .transform(withExpiry);

/** Schema of {@link MdpPoolOptions}. All fields are optional; unknown ones are rejected. */
export const mdpPoolOptions = z
  .strictObject({
    /** Fields shared with a broker. */
    ...backendFields,
    /**
     * Silence after which a request fails, including the wait for a worker, in milliseconds; each partial reply restarts it. Up to a day,
     * default 30000.
     */
    timeoutMs: milliseconds(1).default(30_000),
    /** Fail with `SERVICE_UNKNOWN` at once if no worker offers the service. Default false: wait for one. */
    failFast: z.boolean().default(false),
    /** Unread partial replies of one stream; one more fails the stream with `QUEUE_FULL`. At least 1; default 1024. */
    streamBufferMax: count(1_000_000).default(1024),
    /** Bytes of unread partial replies of one stream. At least 1; default 64 MiB. */
    streamBufferMaxBytes: count(Number.MAX_SAFE_INTEGER).default(67_108_864),
  })
  .superRefine(checkWorkerSide)
  .transform(withExpiry);

/** Schema of {@link MdpPoolRequestOptions}. */
export const mdpPoolRequestOptions = z.strictObject({
  /** Fields of a call to any pool. */
  ...poolRequestFields,
  /** Replaces the pool's `failFast` for this request. */
  failFast: z.boolean().optional(),
});

/** Schema of {@link MdpServeOptions}. */
export const mdpServeOptions = z.strictObject({
  /** Requests handled at the same time. 1 to 1000, default 1, as for a worker; more suit handlers that wait for I/O. */
  concurrency: count(1000).default(1),
  /**
   * The reply to send if a handler throws. Default, or if it returns `undefined`: no reply, and another worker or the same handler gets the
   * request, `maxAttempts` times in total.
   */
  onError: callback.optional(),
});

/** Options of the broker; see the fields of {@link mdpBrokerOptions}. */
export type MdpBrokerOptions = z.input<typeof mdpBrokerOptions>;

/** Validated options with all defaults. */
export type MdpBrokerSettings = z.output<typeof mdpBrokerOptions>;

/** Options of the pool; see the fields of {@link mdpPoolOptions}. */
export type MdpPoolOptions = z.input<typeof mdpPoolOptions>;

/** Validated options with all defaults. */
export type MdpPoolSettings = z.output<typeof mdpPoolOptions>;

/** Options of a single request at a pool. */
export type MdpPoolRequestOptions = z.input<typeof mdpPoolRequestOptions>;

/** Answers requests to a service inside the broker, like the handler of an `MdpWorker`. */
export type MdpHandler<S extends string | Service = string> = NamedHandler<S>;

/** A request as a handler sees it: the service, and a body of at least one frame. */
export type MdpRequest = NamedRequest;

/** Options of a service inside the broker; see the fields of {@link mdpServeOptions}. */
export interface MdpServeOptions extends Omit<z.input<typeof mdpServeOptions>, 'onError'> {
  /** The reply to send if a handler threw. Default, or if it returns `undefined`: no reply; another worker gets the request. */
  readonly onError?: (error: unknown, request: MdpRequest) => BodyInput | undefined | Promise<BodyInput | undefined>;
}
