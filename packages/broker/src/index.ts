/** Brokers for ZeroMQ request-reply. One folder per protocol family; `shared/` holds what they share. */
export { defineService } from '@proj/frames/service';
export type { Service } from '@proj/frames/service';
export { isProjError, ProjError } from '@proj/transport';
export type { BodyInput, Frame, ProjErrorCode } from '@proj/transport';
export type { FrameReply, Handler, HandlerContext } from '@proj/transport/service';
export { EmqpBroker } from './emqp/broker.js';
export type { EmqpBrokerEndpoints, EmqpBrokerEvents } from './emqp/broker.js';
export type { EmqpBrokerCounters } from './emqp/engine/counters.js';
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
} from './emqp/engine/events.js';
export { EmqpBrokerEngine } from './emqp/engine/engine.js';
export { emqpBrokerOptions } from './emqp/options.js';
export type { EmqpBrokerOptions, EmqpBrokerSettings, EmqpPublisher } from './emqp/options.js';
export { EmqpPubSub } from './emqp/pubsub.js';
export type { EmqpPubSubEndpoints, EmqpPubSubEvents } from './emqp/pubsub.js';
export { EmqpPubSubEngine } from './emqp/engine/pubsub-engine.js';
export type {
  EmqpPubSubDrop,
  EmqpPubSubEffect,
  EmqpPubSubEvent,
  EmqpPubSubNote,
  EmqpPubSubStats,
} from './emqp/engine/pubsub-engine.js';
export { emqpPubSubOptions } from './emqp/options.js';
export type { EmqpPubSubOptions, EmqpPubSubSettings } from './emqp/options.js';
export type { EmqpBrokerStats, EmqpQueueStats } from './emqp/engine/stats.js';
export { MdpBroker } from './mdp/broker.js';
export type { MdpBrokerEvents } from './mdp/broker.js';
export type { MdpBrokerCounters } from './mdp/engine/counters.js';
export type {
  MdpBrokerEffect,
  MdpBrokerEvent,
  MdpBrokerNote,
  MdpDropReason,
  MdpOwnEvent,
  MdpWorkerLoss,
  MdpWorkerLostNotice,
  MdpWorkerReadyNotice,
} from './mdp/engine/events.js';
export { MdpBrokerEngine } from './mdp/engine/engine.js';
export { mdpBrokerOptions } from './mdp/options.js';
export { MdpPool } from './mdp/pool.js';
export type { MdpPoolEvents } from './mdp/pool.js';
export { MdpPoolEngine } from './mdp/engine/engine-pool.js';
export type { MdpCallFailure, MdpPoolEffect, MdpPoolEvent } from './mdp/engine/pool-events.js';
export type { MdpPoolOptions, MdpPoolRequestOptions, MdpPoolSettings } from './mdp/options.js';
export type { MdpBrokerOptions, MdpBrokerSettings, MdpHandler, MdpRequest, MdpServeOptions } from './mdp/options.js';
export type { OwnServiceSpec as MdpOwnServiceSpec } from './mdp/engine/own-services.js';
export type { MdpBrokerStats, MdpServiceStats } from './mdp/engine/stats.js';
export { accessOptions } from './options.js';
export { NfpBroker } from './nfp/broker.js';
export type { NfpBrokerEvents } from './nfp/broker.js';
export type { NfpBrokerCounters } from './nfp/engine/counters.js';
export type {
  NfpBrokerEffect,
  NfpBrokerEvent,
  NfpBrokerNote,
  NfpDropReason,
  NfpFileOutcome,
  NfpFileRequest,
  NfpManagementNotice,
  NfpWorkerLoss,
  NfpWorkerLostNotice,
  NfpWorkerReadyNotice,
} from './nfp/engine/events.js';
export { NfpBrokerEngine } from './nfp/engine/engine.js';
export type { NfpInventory, NfpInventoryEntry } from './nfp/engine/inventory.js';
export type { NfpBrokerAbout, NfpMechanism } from './nfp/engine/mmi.js';
export { nfpBrokerOptions } from './nfp/options.js';
export type { NfpBrokerOptions, NfpBrokerSettings } from './nfp/options.js';
export type { NfpBrokerStats, NfpServiceStats } from './nfp/engine/stats.js';
export type { NfpTraffic } from './nfp/engine/traffic.js';
export type { PppCounters } from './ppp/engine/counters.js';
export type {
  PppDropReason,
  PppNote,
  PppPoolEffect,
  PppPoolEvent,
  PppQueueEffect,
  PppQueueEvent,
  PppWorkerLoss,
  PppWorkerLostNotice,
  PppWorkerReadyNotice,
} from './ppp/engine/events.js';
export { PppQueueEngine } from './ppp/engine/engine.js';
export { PppPoolEngine } from './ppp/engine/engine-pool.js';
export { pppPoolOptions, pppQueueOptions } from './ppp/options.js';
export type {
  PppPoolOptions,
  PppPoolSettings,
  PppQueueOptions,
  PppQueueSettings,
  PppRequestOptions,
} from './ppp/options.js';
export { PppPool } from './ppp/pool.js';
export type { PppPoolEvents } from './ppp/pool.js';
export { PppQueue } from './ppp/queue.js';
export type { PppQueueEndpoints, PppQueueEvents } from './ppp/queue.js';
export type { PppPoolStats, PppQueueStats } from './ppp/engine/stats.js';
