/**
 * What facades report about each call or job: an OpenTelemetry span, events on `node:diagnostics_channel`, or neither at no cost.
 * docs/TRACING.md.
 */
import { tracingChannel } from 'node:diagnostics_channel';
import type { TracingChannel } from 'node:diagnostics_channel';
import { isProjError } from '../errors.js';
import { SPAN_KIND, STATUS_ERROR } from './api.js';
import type {
  TracingApi,
  TracingAttributes,
  TracingCarrier,
  TracingContext,
  TracingSettings,
  TracingSpan,
  TracingTracer,
} from './api.js';

/** The channels of `node:diagnostics_channel`, named as in `TracingChannel`: `tracing:proj:client.request:start` and so on. */
export type TracingChannelName = 'proj:client.request' | 'proj:worker.job' | 'proj:pzq.put' | 'proj:pzq.process';

/** What a subscriber of a channel gets: the same object at each event of one call. */
export interface TracedMessage {
  /** In lower case, such as `mdp`. */
  readonly protocol: string;
  /** The subject of the span's name: the service, or `send` and a queue. */
  readonly name: string;
  /** Attributes by OpenTelemetry's conventions. */
  readonly attributes: TracingAttributes;
  /** From `error` on: why it failed. */
  error?: unknown;
}

/** One call or job, as its facade begins it. */
export interface TracedPlan {
  readonly kind: keyof typeof SPAN_KIND;
  readonly name: string;
  readonly attributes: TracingAttributes;
  /** The context of the cause, if a peer sent one. */
  readonly carrier?: TracingCarrier | undefined;
}

type Channel = TracingChannel<string, TracedMessage>;

const SCOPE = '@proj';
const nothing = (): void => undefined;

/** Begins one facade's calls or jobs. */
export class Tracing {
  readonly #protocol: string;
  readonly #channel: Channel;
  readonly #api: TracingApi | undefined;
  readonly #tracer: TracingTracer | undefined;
  readonly #carries: boolean;
  /** Whether the context that peers send becomes the parent. */
  readonly #heeds: boolean;

  /** `carries`: the default of `tracing.carry`. */
  constructor(channel: TracingChannelName, protocol: string, settings: TracingSettings | undefined, carries = false) {
    this.#protocol = protocol;
    this.#channel = tracingChannel<string, TracedMessage>(channel);
    this.#api = settings?.api;
    // A tracer of the API delegates to the provider registered last.
    this.#tracer = this.#api?.trace.getTracer(SCOPE);
    this.#carries = settings !== undefined && (settings.carry ?? carries);
    this.#heeds = settings?.carry !== false;
  }

  /** Whether anybody is listening. Check this before {@link begin}: if not, it costs one comparison and nothing is allocated. */
  get isOn(): boolean {
    return this.#api !== undefined || this.#channel.hasSubscribers;
  }

  /** Begins a call. Run it once, and end it. */
  begin({ kind, name, attributes, carrier }: TracedPlan): TracedCall {
    const message = { protocol: this.#protocol, name, attributes };
    const api = this.#api;
    if (api === undefined || this.#tracer === undefined) return new TracedCall(this.#channel, message);
    const active = api.context.active();
    const parent = carrier === undefined || !this.#heeds ? active : api.propagation.extract(active, carrier);
    const span = this.#tracer.startSpan(name, { kind: SPAN_KIND[kind], attributes }, parent);
    const context = api.trace.setSpan(parent, span);
    return new TracedCall(this.#channel, message, { api, span, context, carries: this.#carries });
  }

  /** Runs a call from beginning to end. */
  async trace<Result>(plan: TracedPlan, run: (call: TracedCall) => Promise<Result>): Promise<Result> {
    const call = this.begin(plan);
    try {
      const result = await call.run(() => run(call));
      call.end();
      return result;
    } catch (error) {
      call.fail(error);
      throw error;
    }
  }

  /** The same for replies that are read one by one. Begins with the first read; ends if the reader leaves. */
  async *traceAll<Item, Result>(
    plan: TracedPlan,
    run: (call: TracedCall) => AsyncGenerator<Item, Result, undefined>,
  ): AsyncGenerator<Item, Result, undefined> {
    const call = this.begin(plan);
    try {
      const result = yield* call.run(() => run(call));
      call.end();
      return result;
    } catch (error) {
      call.fail(error);
      throw error;
    } finally {
      if (!call.isOver) call.event('reader left');
      call.end();
    }
  }
}

/** The span of a call, and what it takes to use it. */
interface TracedSpan {
  readonly api: TracingApi;
  readonly span: TracingSpan;
  readonly context: TracingContext;
  readonly carries: boolean;
}

/** A call or job that somebody observes. Only its first end counts. */
export class TracedCall {
  readonly #channel: Channel;
  readonly #message: TracedMessage;
  readonly #traced: TracedSpan | undefined;
  #sends = 0;
  #isOver = false;

  /** @internal Calls come from {@link Tracing}. */
  constructor(channel: Channel, message: TracedMessage, traced?: TracedSpan) {
    this.#channel = channel;
    this.#message = message;
    this.#traced = traced;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The OpenTelemetry context with its span, for everything that belongs to this call; `undefined` without OpenTelemetry. */
  get context(): TracingContext | undefined {
    return this.#traced?.context;
  }

  /** Its context for a peer; `undefined` if none should be sent. */
  get carrier(): TracingCarrier | undefined {
    if (this.#traced?.carries !== true) return undefined;
    const carrier: TracingCarrier = {};
    this.#traced.api.propagation.inject(this.#traced.context, carrier);
    return carrier;
  }

  /** Runs its synchronous part, or its beginning, in its context. Call it once. */
  run<Result>(run: () => Result): Result {
    const { start, end } = this.#channel;
    const publish = (): Result => start.runStores(this.#message, run);
    try {
      return this.within(publish);
    } finally {
      end.publish(this.#message);
    }
  }

  /** Runs a later part of it in its context. */
  within<Result>(run: () => Result): Result {
    return this.#traced === undefined ? run() : this.#traced.api.context.with(this.#traced.context, run);
  }

  /** Records an event. */
  event(name: string, attributes?: TracingAttributes): void {
    if (!this.#isOver) this.#traced?.span.addEvent(name, attributes);
  }

  /** It is sent; the second and later times are events. */
  sent(): void {
    if (++this.#sends > 1) this.event('resend', { send: this.#sends });
  }

  /** Adds an attribute that was not known at first. */
  set(name: string, value: string | number | boolean): void {
    this.#traced?.span.setAttribute(name, value);
  }

  /** It succeeded. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#traced?.span.end();
    this.#settled();
  }

  /** It failed or was given up. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#message.error = error;
    this.#channel.error.publish(this.#message);
    if (this.#traced !== undefined) {
      const { span } = this.#traced;
      const message = error instanceof Error ? error.message : String(error);
      span.setAttribute('error.type', typeOf(error));
      span.recordException(error instanceof Error ? error : message);
      span.setStatus({ code: STATUS_ERROR, message });
      span.end();
    }
    this.#settled();
  }

  #settled(): void {
    const { asyncStart, asyncEnd } = this.#channel;
    asyncStart.runStores(this.#message, nothing);
    asyncEnd.publish(this.#message);
  }
}

/** Attributes that name the server, if there is only one: `server.address` and `server.port`. */
export function serverAttributes(endpoints: readonly string[]): TracingAttributes {
  const [, address, port] = /^\w+:\/\/(.+):(\d+)$/.exec(endpoints.length === 1 ? (endpoints[0] as string) : '') ?? [];
  return address === undefined ? {} : { 'server.address': address, 'server.port': Number(port) };
}

/** What ended a call: the code of a `ProjError`, otherwise the error's name. */
function typeOf(error: unknown): string {
  if (isProjError(error)) return error.code;
  return error instanceof Error ? error.name : '_OTHER';
}
