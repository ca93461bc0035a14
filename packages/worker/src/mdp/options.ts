/** Options of the Majordomo worker, with defaults and bounds. Section 8 of docs/protocols/mdp.md. */
import type { Service } from '@proj/frames/service';
import type { BodyInput } from '@proj/transport';
import { callback, isService } from '@proj/transport/schemas';
import type { NamedHandler, NamedRequest, TypedRequest } from '@proj/transport/service';
import * as z from 'zod';
import { checkReconnect, endpoints, milliseconds, refuse, workerFields } from '../options.js';

const isName = (value: unknown): boolean => typeof value === 'string' && /^[\x20-\x7e]{1,255}$/.test(value);

/** Schema of {@link MdpWorkerOptions}. */
export const mdpWorkerOptions = z
  .strictObject({
    ...workerFields,
    /** Brokers, in order of preference; after each loss the next one is tried. 1 to 64; default `tcp://127.0.0.1:5555` (the Guide). */
    endpoints: endpoints.default(['tcp://127.0.0.1:5555']),
    /** What to serve: a name of 1 to 255 printable ASCII characters not beginning with `mmi.`, or a typed service. Required. */
    service: z.custom<string | Service>((value) => isName(value) || isService(value), {
      error: 'expected 1 to 255 printable ASCII characters or a service made by defineService',
    }),
    /**
     * The reply to send if a handler threw. Default, or if it returns `undefined`: no reply; DISCONNECT makes the broker give the request to
     * another worker, because MDP has no error reply.
     */
    onError: callback.optional(),
    /** Protocol version to speak. 0.1 has no partial replies. Default `0.2`. */
    version: z.enum(['0.2', '0.1']).default('0.2'),
    /** Time between heartbeats, the same as the broker's. 1 ms to a day; default 2500 (the Guide). */
    heartbeatIntervalMs: milliseconds.default(2500),
    /** First delay before reconnecting, doubled with each attempt. 1 ms to a day; default 250. */
    reconnectMinMs: milliseconds.default(250),
    /** Longest delay before reconnecting, and the period at which `preferFirst` asks. 1 ms to a day; default 30,000. */
    reconnectMaxMs: milliseconds.default(30_000),
    /** Return to the first endpoint, between two requests, once it answers again. Requires a broker that answers unknown workers. Default false. */
    preferFirst: z.boolean().default(false),
    /** Send DISCONNECT when leaving. Turn it off for the Guide's Python broker, which fails on it. Default true. */
    sayGoodbye: z.boolean().default(true),
    /**
     * While leaving, handle requests that still arrive, and leave after one quiet heartbeat interval: for brokers that do not resend what they
     * sent to a leaving worker. Default false.
     */
    drainFinishes: z.boolean().default(false),
    /** Largest message, in frames, sent or received. 6 to 65,536; default 1024. */
    maxMessageFrames: z.int().min(6).max(65_536).default(1024),
  })
  .superRefine((options, context) => {
    const { service, version } = options;
    const name = typeof service === 'string' ? service : service.name;
    if (name.startsWith('mmi.')) refuse(context, 'service', 'names beginning with mmi. are reserved for the broker');
    if (typeof service !== 'string' && service.partial !== undefined && version === '0.1')
      refuse(context, 'version', 'a service with partial replies requires version 0.2');
    checkReconnect(options, context);
  });

/** Validated options with all defaults. */
export type MdpWorkerSettings = z.output<typeof mdpWorkerOptions>;

/** A request: the service, and a body of at least one frame. */
export type MdpRequest = NamedRequest;

/** A request of a typed service: `input` is the schema's output for the body. */
export type MdpTypedRequest<S extends Service> = TypedRequest<S>;

/** Answers requests: with frames for a plain name, with values for a typed service. */
export type MdpHandler<S extends string | Service = string> = NamedHandler<S>;

/** Options of `new MdpWorker()`; all but `service` and `handler` have a default. */
export interface MdpWorkerOptions<S extends string | Service = string> extends Omit<
  z.input<typeof mdpWorkerOptions>,
  'service' | 'handler' | 'onError'
> {
  /** What to serve: a name of 1 to 255 printable ASCII characters not beginning with `mmi.`, or a typed service. Required. */
  readonly service: S;
  /** Answers the requests. Required. */
  readonly handler: MdpHandler<S>;
  /** The reply to send if a handler threw. Default, or if it returns `undefined`: no reply; another worker gets the request. */
  readonly onError?: (error: unknown, request: MdpRequest) => BodyInput | undefined | Promise<BodyInput | undefined>;
}
