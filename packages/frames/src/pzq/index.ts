/**
 * PZQ: a durable queue between frames and commands. `commands.ts` has the words, `wire.ts` the grammar and every fixed byte.
 */
export type * from './commands.js';
export {
  decodePzqAtConsumer,
  decodePzqAtMonitor,
  decodePzqAtProducer,
  decodePzqAtReceive,
  decodePzqAtSend,
  decodePzqMonitorReply,
} from './decode.js';
export { encodePzq } from './encode.js';
export { decodePzqHeaders, encodePzqHeaders } from './headers.js';
export type { PzqHeaders, PzqWishes } from './headers.js';
export { decodePzqKey, encodePzqKey } from './key.js';
export { decodePzqMonitorText, encodePzqMonitorText } from './monitor.js';
export { PZQ_UNUSABLE } from './wire.js';
