/** The queue without sockets, store and clock: `step(event, now)` returns what to do. For embedding. */
export { PzqEngine } from './engine.js';
export type * from './events.js';
export type { PzqServerSettings, PzqSettings } from '../options.js';
