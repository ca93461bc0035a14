/** The Majordomo worker: facade, options, events, and the session for those who embed it. Open `worker.ts` first. */
export { MdpWorker } from './worker.js';
export type { MdpWorkerEvents, MdpWorkerStats } from './worker.js';
export { mdpWorkerOptions } from './options.js';
export type { MdpHandler, MdpRequest, MdpTypedRequest, MdpWorkerOptions } from './options.js';
export { MdpWorkerSession } from './engine/session.js';
export type { MdpWorkerSessionOptions } from './engine/session.js';
export type * from './engine/events.js';
export type { LossReason } from '../shared/events.js';
