/** The part of `@opentelemetry/api` that we use. Structural, so that no package depends on it: docs/adr/0035. */

/** Attributes of a span or of one of its events. */
export type TracingAttributes = Readonly<Record<string, string | number | boolean>>;

/** Trace context for another process: names and values, such as `traceparent` with its 55 characters. */
export type TracingCarrier = Record<string, string>;

/** A `Context`. */
export interface TracingContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): TracingContext;
  deleteValue(key: symbol): TracingContext;
}

/** A `Span`. */
export interface TracingSpan {
  setAttribute(name: string, value: string | number | boolean): unknown;
  addEvent(name: string, attributes?: TracingAttributes): unknown;
  recordException(error: Error | string): unknown;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  end(): void;
}

/** A `Tracer`. */
export interface TracingTracer {
  startSpan(
    name: string,
    options: { readonly kind: number; readonly attributes: TracingAttributes },
    context: TracingContext,
  ): TracingSpan;
}

/** The module `@opentelemetry/api`, from 1.4 on: `import * as api from '@opentelemetry/api'`. */
export interface TracingApi {
  readonly trace: {
    getTracer(name: string): TracingTracer;
    setSpan(context: TracingContext, span: TracingSpan): TracingContext;
  };
  readonly context: {
    active(): TracingContext;
    with<Result>(context: TracingContext, run: () => Result): Result;
  };
  readonly propagation: {
    inject(context: TracingContext, carrier: TracingCarrier): void;
    extract(context: TracingContext, carrier: TracingCarrier): TracingContext;
  };
}

/** The option `tracing` of a facade, with its defaults filled in. */
export interface TracingSettings {
  readonly api: TracingApi;
  /** Whether to send trace context. */
  readonly carry?: boolean | undefined;
}

/** Span kinds, with the API's numbers. */
export const SPAN_KIND = { server: 1, client: 2, producer: 3, consumer: 4 } as const;

/** The status of a failed span, with the API's number. */
export const STATUS_ERROR = 2;
