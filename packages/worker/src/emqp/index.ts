/**
 * The EventMQ job manager: facade, options, events, and the interface for running jobs elsewhere than in its own processes. Open
 * `job-manager.ts` first.
 */
export { EmqpJobManager } from './job-manager.js';
export type { EmqpJobManagerEvents } from './job-manager.js';
export { emqpJobManagerOptions } from './options.js';
export type { EmqpJobManagerOptions } from './options.js';
export type {
  FromJobHost as EmqpFromJobHost,
  JobHost as EmqpJobHost,
  JobHostListener as EmqpJobHostListener,
  StartJobHost as EmqpStartJobHost,
  ToJobHost as EmqpToJobHost,
} from './job-host.js';
export { EmqpJobManagerSession } from './engine/session.js';
export type { EmqpJobManagerSessionOptions } from './engine/session.js';
export type * from './engine/events.js';
export type { LossReason } from '../shared/events.js';
