/** The state of servers, for Prometheus, people and programs. The HTTP side is `@proj/observe/http`. */
export { collectMetrics } from './collect.js';
export type { CollectOptions } from './collect.js';
export { observe } from './observe.js';
export type { Note } from './notes.js';
export type { ObserveOptions, Observer } from './observe.js';
export type { DeadLetter, Detailed, ObservedServer, ServerActions } from './server.js';
