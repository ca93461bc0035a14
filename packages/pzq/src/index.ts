/** PZQ: a durable queue on disk. */
export type { PzqCounters } from './counters.js';
export type * from './effects.js';
export type { PzqSettings } from './settings.js';
export type { PzqStats } from './stats.js';
export { LmdbStore } from './store/lmdb.js';
export type { LmdbStoreOptions } from './store/lmdb.js';
export { MemoryStore } from './store/memory.js';
export type { MemoryStoreOptions } from './store/memory.js';
export type * from './store/store.js';
