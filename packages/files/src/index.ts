/** A confined folder served by `nf://` urls, and one that files fetched by them are kept in. What brokers and workers of NFP share files with; no protocol. */
export { FileCache } from './cache.js';
export type { DeletedFiles, FileCacheOptions, FileSource, HeldFile } from './cache.js';
export { Files } from './files.js';
export type { Chunk, FileDetails, FilesOptions, FilesStats, Found } from './files.js';
export { isFileUrl } from './url.js';
