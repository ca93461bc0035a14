/** PZQ: a durable queue on disk. */
export type { PzqDeadLetter } from './dead-letter-requests.js';
export { PzqEngine } from './engine/engine.js';
export type { PzqCounters, PzqNote, PzqStats } from './engine/events.js';
export { pzqAccessOptions, pzqServerOptions } from './options.js';
export type { PzqServerOptions } from './options.js';
export { PzqServer } from './queue.js';
export type { PzqServerEndpoints, PzqServerEvents } from './queue.js';
export { checkQueue, salvageQueue } from './store/lmdb/salvage.js';
export type { StoreCheck } from './store/lmdb/salvage.js';
export { LmdbStore } from './store/lmdb.js';
export type { LmdbStoreOptions } from './store/lmdb.js';
export { MemoryStore } from './store/memory.js';
export type { MemoryStoreOptions } from './store/memory.js';
export { PostgresStore } from './store/postgres.js';
export type { PostgresStoreOptions } from './store/postgres.js';
export type * from './store/store.js';
