/** Scheduler for EventMQ: jobs at intervals or by cron. */
export { EmqpScheduler } from './scheduler.js';
export type { EmqpSchedulerEvents } from './scheduler.js';
export type {
  EmqpSchedulerStats,
  ScheduleRefusal,
  SchedulerDropReason,
  SchedulerLoss,
  SchedulerNote,
} from './engine/events.js';
export type { EmqpSchedulerOptions } from './options.js';
