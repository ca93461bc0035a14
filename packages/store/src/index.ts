/** Records on disk, for everything that takes a `RecordStore` of `@proj/transport`. */
export { lmdbRecords } from './records.js';
export type { LmdbRecordsOptions } from './records.js';
export { postgresRecords } from './postgres.js';
export type { PostgresRecordsOptions } from './postgres.js';
export { checkRecords, salvageRecords } from './salvage.js';
export type { StoreCheck } from './folder/index.js';
