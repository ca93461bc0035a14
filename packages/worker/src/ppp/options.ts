/** Options of the Paranoid Pirate worker, with defaults and bounds. Section 7 of docs/protocols/ppp.md. */
import type { Service, ServicePartialInput, ServiceReplyInput, ServiceRequest } from '@proj/frames/service';
import type { BodyInput } from '@proj/transport';
import { callback, isService } from '@proj/transport/schemas';
import type { FrameReply, Handler } from '@proj/transport/service';
import * as z from 'zod';
import { checkReconnect, endpoints, milliseconds, refuse, workerFields } from '../options.js';

/** Schema of {@link PppWorkerOptions}. */
export const pppWorkerOptions = z
  .strictObject({
    ...workerFields,
    /** Queues, in order of preference; after each loss the next one is tried. 1 to 64; default `tcp://127.0.0.1:5557`, or none with `bind`. */
    endpoints: endpoints.optional(),
    /**
     * Endpoints to bind, for a queue that connects (`backendConnect`), instead of `endpoints`: one for each unit of `concurrency`, without
     * wildcards, because each is bound again after a loss. 1 to 64; default none.
     */
    bind: endpoints.optional(),
    /**
     * A typed service, whose schemas validate requests and replies. 6/PPP has no service names: every request to the queue is for this service.
     * Default: none; the handler works with frames.
     */
    service: z
      .custom<Service>(isService, { error: 'expected a service made by defineService; PPP has no service names' })
      .optional(),
    /**
     * The reply to send if a handler threw. Default, or if it returns `undefined`: no reply; READY makes the queue give the request to another
     * worker, because PPP has no error reply.
     */
    onError: callback.optional(),
    /** Time between heartbeats, the same as the queue's. 1 ms to a day; default 1000 (the Guide). */
    heartbeatIntervalMs: milliseconds.default(1000),
    /** First delay before reconnecting, doubled with each attempt. 1 ms to a day; default 1000 (the Guide). */
    reconnectMinMs: milliseconds.default(1000),
    /** Longest delay before reconnecting. 1 ms to a day; default 32,000 (the Guide). */
    reconnectMaxMs: milliseconds.default(32_000),
    /** Largest message, in frames, sent or received. 3 to 65,536; default 1024. */
    maxMessageFrames: z.int().min(3).max(65_536).default(1024),
  })
  .superRefine((options, context) => {
    if (options.service?.partial !== undefined)
      refuse(context, 'service', 'PPP has no partial replies; use a service without them');
    checkReconnect(options, context);
    checkBind(options, context);
  })
  .transform(({ endpoints: connect = ['tcp://127.0.0.1:5557'], bind, ...rest }) => ({
    ...rest,
    endpoints: bind ?? connect,
    binds: bind !== undefined,
  }));

interface Bindable {
  readonly bind?: readonly string[] | undefined;
  readonly endpoints?: readonly string[] | undefined;
  readonly concurrency: number;
}

function checkBind({ bind, endpoints: connect, concurrency }: Bindable, context: z.RefinementCtx): void {
  if (bind === undefined) return;
  if (connect !== undefined) refuse(context, 'bind', 'expected either bind or endpoints, not both');
  if (bind.length !== concurrency)
    refuse(context, 'bind', `expected one endpoint per unit of concurrency: ${concurrency}, not ${bind.length}`);
  if (new Set(bind).size < bind.length) refuse(context, 'bind', 'expected different endpoints');
  if (bind.some((endpoint) => /:[*0]$/.test(endpoint)))
    refuse(context, 'bind', 'expected ports without wildcards, because a queue could not find us again');
}

/** Validated options with all defaults. */
export type PppWorkerSettings = z.output<typeof pppWorkerOptions>;

/** A request as a handler sees it. */
export interface PppWorkerRequest {
  /** At least one frame. Do not modify them: large ones share memory with the socket. */
  readonly body: Buffer[];
}

/** A request of a typed service. */
export interface PppTypedRequest<S extends Service> extends PppWorkerRequest {
  /** The schema's output for the body. */
  readonly input: ServiceRequest<S>;
}

/** Answers requests: with frames without a service, with values for a typed one. */
export type PppHandler<S extends Service | undefined = undefined> = [S] extends [Service]
  ? Handler<PppTypedRequest<S>, ServicePartialInput<S>, ServiceReplyInput<S>>
  : Handler<PppWorkerRequest, BodyInput, FrameReply>;

/** Options of `new PppWorker()`; all but `handler` have a default. */
export interface PppWorkerOptions<S extends Service | undefined = undefined> extends Omit<
  z.input<typeof pppWorkerOptions>,
  'service' | 'handler' | 'onError'
> {
  /** A typed service, whose schemas validate requests and replies. Default: none; the handler works with frames. */
  readonly service?: S;
  /** Answers the requests. Required. */
  readonly handler: PppHandler<S>;
  /** The reply to send if a handler threw. Default, or if it returns `undefined`: no reply; another worker gets the request. */
  readonly onError?: (
    error: unknown,
    request: PppWorkerRequest,
  ) => BodyInput | undefined | Promise<BodyInput | undefined>;
}
