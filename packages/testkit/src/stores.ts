/** For tests that run stores in other processes. Loads tsup. */
export { Bundle } from './bundle.js';
export type { BundlePlan } from './bundle.js';
export { canLimitFiles, limitFiles, WriterProcess } from './writer-process.js';
