/**
 * For LMDB stores, not for applications: a folder that is checked before it is opened, held by one process, and safe on a full disk. The only
 * entry that exposes types of `lmdb`.
 */
export { isEmpty } from './environment.js';
export type { Root, Table } from './environment.js';
export { LmdbFolder } from './lmdb-folder.js';
export type { Inspect, LmdbFolderPlan, LmdbNeed } from './lmdb-folder.js';
export { seal, SEAL_BYTES, sealBehindKey, sealed, unsealed } from './seal.js';
export { assertNoStore, Damages, survey } from './survey.js';
export type { StoreCheck } from './survey.js';
export { walkFile } from './walk.js';
export type { Damage, Walked, Walker } from './walk.js';
