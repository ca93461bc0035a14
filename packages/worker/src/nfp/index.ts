/** The NFP worker: facade, tasks, options, events, and the session for those who embed it. Open `worker.ts` first. */
export { NfpWorker } from './worker.js';
export type { NfpWorkerEvents, NfpWorkerStats } from './worker.js';
export { nfpWorkerOptions } from './options.js';
export type { NfpWorkerOptions } from './options.js';
export { fileSharingTasks } from './file-sharing.js';
export type { NfpFileSharingOptions } from './file-sharing.js';
export * from './task.js';
export { NfpWorkerSession } from './engine/session.js';
export type * from './engine/events.js';
export type { LossReason } from '../shared/events.js';
