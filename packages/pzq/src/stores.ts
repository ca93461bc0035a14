/** PZQ server: the store that an option refers to. */
import { LmdbStore } from './store/lmdb.js';
import { MemoryStore } from './store/memory.js';
import { PostgresStore } from './store/postgres.js';
import type { QueueStore } from './store/store.js';

/** The store for a valid option `store`. Opens nothing and loads no database. */
export function storeOf(store: string | QueueStore): QueueStore {
  if (typeof store !== 'string') return store;
  if (store === 'memory:') return new MemoryStore();
  if (!store.startsWith('lmdb:')) return new PostgresStore({ url: store });
  return new LmdbStore({ folder: store.slice('lmdb:'.length) });
}
