/** EventMQ: broker and pub-sub device, with their options, events, statistics and engines. */
export { EmqpBroker } from './broker.js';
export type { EmqpBrokerEndpoints, EmqpBrokerEvents } from './broker.js';
export { emqpBrokerOptions, emqpPubSubOptions } from './options.js';
export type {
  EmqpBrokerOptions,
  EmqpBrokerSettings,
  EmqpPubSubOptions,
  EmqpPubSubSettings,
  EmqpPublisher,
} from './options.js';
export { EmqpPubSub } from './pubsub.js';
export type { EmqpPubSubEndpoints, EmqpPubSubEvents } from './pubsub.js';
export type { EmqpBrokerCounters } from './engine/counters.js';
export { EmqpBrokerEngine } from './engine/engine.js';
export type * from './engine/events.js';
export * from './engine/pubsub-engine.js';
export type { EmqpBrokerStats, EmqpQueueStats } from './engine/state.js';
