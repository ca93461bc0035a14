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
export type {
  EmqpBrokerEffect,
  EmqpBrokerEvent,
  EmqpBrokerNote,
  EmqpDropReason,
  EmqpFromBroker,
  EmqpParty,
  EmqpPeerJoinedNotice,
  EmqpPeerLeftNotice,
  EmqpPeerLoss,
  EmqpPort,
  EmqpRole,
} from './engine/events.js';
export { EmqpPubSubEngine } from './engine/pubsub-engine.js';
export type {
  EmqpPubSubDrop,
  EmqpPubSubEffect,
  EmqpPubSubEvent,
  EmqpPubSubNote,
  EmqpPubSubStats,
} from './engine/pubsub-engine.js';
export type { EmqpBrokerStats, EmqpQueueStats } from './engine/state.js';
