/** Paranoid Pirate: queue and pool, with their options, events, statistics and engines. */
export { pppPoolOptions, pppQueueOptions } from './options.js';
export type {
  PppPoolOptions,
  PppPoolSettings,
  PppQueueOptions,
  PppQueueSettings,
  PppRequestOptions,
} from './options.js';
export { PppPool } from './pool.js';
export type { PppPoolEvents } from './pool.js';
export { PppQueue } from './queue.js';
export type { PppQueueEndpoints, PppQueueEvents } from './queue.js';
export type { PppCounters } from './engine/output.js';
export { PppPoolEngine } from './engine/pool-engine.js';
export { PppQueueEngine } from './engine/engine.js';
export type * from './engine/events.js';
export type { PppPoolStats, PppQueueStats } from './engine/state.js';
