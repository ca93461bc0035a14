/** A confined folder served by `nf://` urls: what brokers and workers of NFP share files with. No protocol. */
export { Files } from './files.js';
export type { Chunk, FileDetails, FilesOptions, FilesStats, Found } from './files.js';
export { isFileUrl } from './url.js';
