/** Records on disk, for whatever takes a `RecordStore` of `@proj/transport`. */
export { lmdbRecords } from './records.js';
export type { LmdbRecordsOptions } from './records.js';
