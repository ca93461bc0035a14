/** Which store an option means. */
import { LmdbStore } from './store/lmdb.js';
import { MemoryStore } from './store/memory.js';
import type { QueueStore } from './store/store.js';

/** The store of an address that has been checked: see option `store`. Opens nothing, loads no database. */
export function storeOf(store: string | QueueStore): QueueStore {
  if (typeof store !== 'string') return store;
  if (store === 'memory:') return new MemoryStore();
  return new LmdbStore({ folder: store.slice('lmdb:'.length) });
}
