/** PZQ: a durable queue on disk. */
export type * from './store/store.js';
