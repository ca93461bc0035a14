/** For tests of stores on disk; loads tsup. */
export { Bundle } from './bundle.js';
export type { BundlePlan } from './bundle.js';
export { canLimitFiles, limitFiles, WriterProcess } from './writer-process.js';
