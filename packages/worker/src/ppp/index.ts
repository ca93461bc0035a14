/** The Paranoid Pirate worker: facade, options, events, and the session for those who embed it. Open `worker.ts` first. */
export { PppWorker } from './worker.js';
export type { PppWorkerEvents, PppWorkerStats } from './worker.js';
export { pppWorkerOptions } from './options.js';
export type { PppHandler, PppTypedRequest, PppWorkerOptions, PppWorkerRequest } from './options.js';
export { PppWorkerSession } from './engine/session.js';
export type { PppWorkerSessionOptions } from './engine/session.js';
export type * from './engine/events.js';
export type { LossReason } from '../shared/events.js';
