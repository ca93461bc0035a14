/** Traces of calls and jobs, for every facade. Knows no protocol; uses only `node:diagnostics_channel` of Node. */
export * from './carrier.js';
export * from './tracing.js';
export type {
  TracingApi,
  TracingAttributes,
  TracingCarrier,
  TracingContext,
  TracingSettings,
  TracingSpan,
  TracingTracer,
} from './api.js';
