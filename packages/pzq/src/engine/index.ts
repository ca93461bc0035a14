/** The queue without sockets, store and clock: `step(event, now)` returns what is to be done. For those who embed it. */
export { PzqEngine } from './engine.js';
export type * from './events.js';
export type { PzqServerSettings, PzqSettings } from '../options.js';
