/**
 * For stores in LMDB, not for applications: a folder that is checked before it is opened, held by one process, never surprised by
 * a full disk. Types of `lmdb` show here and nowhere else.
 */
export { isEmpty } from './environment.js';
export type { Root, Table } from './environment.js';
export { LmdbFolder } from './lmdb-folder.js';
export type { LmdbFolderPlan, LmdbNeed } from './lmdb-folder.js';
