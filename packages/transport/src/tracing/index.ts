/** Traces of calls and jobs, for every facade. Knows no protocol; uses only `node:diagnostics_channel` of Node. */
export { carrierInBody, carrierInItems, carrierInJson } from './carrier.js';
export { encodeTraceItems, toTracedFrames, withoutTraceFrame } from './carrier.js';
export { serverAttributes, TracedCall, Tracing } from './tracing.js';
export type { TracedMessage, TracedPlan, TracingChannelName } from './tracing.js';
export type {
  TracingApi,
  TracingAttributes,
  TracingCarrier,
  TracingContext,
  TracingSettings,
  TracingSpan,
  TracingTracer,
} from './api.js';
