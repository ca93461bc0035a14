/** For tests in other processes: of stores on disk, and of what a process does at its end. Loads tsup. */
export { Bundle } from './bundle.js';
export type { BundlePlan } from './bundle.js';
export { canLimitFiles, limitFiles, WriterProcess } from './writer-process.js';
