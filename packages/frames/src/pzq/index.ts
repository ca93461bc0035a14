/**
 * PZQ: a durable queue between frames and commands. `commands.ts` has the words, `wire.ts` the grammar and every fixed byte.
 */
export type * from './commands.js';
export * from './decode.js';
export { encodePzq } from './encode.js';
export * from './headers.js';
export { decodePzqKey, encodePzqKey } from './key.js';
export { decodePzqMonitorText, encodePzqMonitorText } from './monitor.js';
export { PZQ_UNUSABLE } from './wire.js';
