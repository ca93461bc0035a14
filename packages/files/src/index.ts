/**
 * A confined folder served under `nf://` urls, and a cache of files fetched by such urls. For NFP's file sharing, but independent of the
 * protocol.
 */
export { FileCache } from './cache.js';
export type { DeletedFiles, FileCacheOptions, FileSource, HeldFile } from './cache.js';
export { Files } from './files.js';
export type { Chunk, FileDetails, FilesOptions, FilesStats, Found } from './files.js';
export { isFileUrl } from './url.js';
