/** PZQ: a durable queue on disk. */
export type { PzqDeadLetter } from './dead-letter-requests.js';
export { PzqEngine } from './engine/engine.js';
export type { PzqCounters, PzqNote, PzqStats } from './engine/events.js';
export { pzqAccessOptions, pzqServerOptions } from './options.js';
export type { PzqServerOptions } from './options.js';
export * from './queue.js';
export * from './store/lmdb/salvage.js';
export * from './store/lmdb.js';
export * from './store/memory.js';
export * from './store/postgres.js';
export type * from './store/store.js';
