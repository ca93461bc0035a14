/** `@proj/client/emqp`: the EventMQ client, with its events, counters and engine. */
export type { Frame } from '@proj/transport';
export { EmqpClient } from './client.js';
export type {
  EmqpClientEvents,
  EmqpClientTotals,
  EmqpDeferredWithResult,
  EmqpPublication,
  EmqpSubscription,
} from './client.js';
export type { EmqpDeferred } from './command-runner.js';
export type * from './engine/events.js';
export { EmqpClientSession } from './engine/session.js';
export type {
  EmqpClientOptions,
  EmqpDeferOptions,
  EmqpJob,
  EmqpPublishOptions,
  EmqpScheduleOptions,
  EmqpSubscribeOptions,
  EmqpUnscheduleOptions,
} from './options.js';
