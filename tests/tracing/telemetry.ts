/** OpenTelemetry as an application sets it up, with spans kept in memory; and the network of the traced peers. */
import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { AutoClock, VirtualNetwork } from '@proj/transport/virtual';
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';

/** The option for the facades. */
export const tracing = { api };
/** The same, with context before bodies. */
export const carrying = { api, carry: true };

const exporter = new InMemorySpanExporter();

/** Registers it for the tests of a file. */
export function useTelemetry(): void {
  beforeAll(() => {
    api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
    api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    api.propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  });
  // Anything that a test leaves open ends after it.
  beforeEach(() => {
    exporter.reset();
  });
  afterAll(() => {
    api.trace.disable();
    api.context.disable();
    api.propagation.disable();
  });
}

/** The spans that have ended. */
export const spans = (): ReadableSpan[] => exporter.getFinishedSpans();

/** The one ended span of this kind. */
export function spanOf(kind: keyof typeof api.SpanKind): ReadableSpan {
  const found = spans().filter((span) => span.kind === api.SpanKind[kind]);
  if (found.length !== 1)
    throw new Error(`${found.length} spans of kind ${kind}: ${found.map(({ name }) => name).join()}`);
  return found[0] as ReadableSpan;
}

/** The names of its events. */
export const eventsOf = (span: ReadableSpan): string[] => span.events.map(({ name }) => name);

/** Whether the first span is the parent of the second. */
export const isParent = (parent: ReadableSpan, child: ReadableSpan): boolean =>
  child.parentSpanContext?.spanId === parent.spanContext().spanId &&
  child.spanContext().traceId === parent.spanContext().traceId;

/** Resolves when one more span that `matches` has ended. */
export async function ended(matches: (span: ReadableSpan) => boolean): Promise<ReadableSpan> {
  for (;;) {
    const found = spans().find(matches);
    if (found !== undefined) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Creates a child span, as an application does inside a handler. */
export function work(name: string): void {
  api.trace.getTracer('app').startSpan(name).end();
}

const network = new VirtualNetwork({ clock: new AutoClock() });

/** The option `transport` of one peer. */
export const on = () => ({ transport: network.transport() });

/** Closed when the test is over. */
export function kept<Facade extends { close(): Promise<unknown> }>(facade: Facade): Facade {
  onTestFinished(() => facade.close().then(() => undefined));
  return facade;
}
