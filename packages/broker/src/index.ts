/** Brokers for ZeroMQ request-reply: what their users need. The rest of each protocol is in its own entry, such as `@proj/broker/mdp`. */
export { defineService } from '@proj/frames/service';
export type { Service } from '@proj/frames/service';
export { isProjError, ProjError } from '@proj/transport';
export type { BodyInput, Frame, ProjErrorCode } from '@proj/transport';
export { EmqpBroker, EmqpBrokerEngine, EmqpPubSub } from './emqp/index.js';
export type { EmqpBrokerOptions, EmqpPubSubOptions } from './emqp/index.js';
export { MdpBroker, MdpBrokerEngine, MdpPool, MdpPoolEngine } from './mdp/index.js';
export type {
  MdpBrokerOptions,
  MdpHandler,
  MdpPoolOptions,
  MdpPoolRequestOptions,
  MdpServeOptions,
} from './mdp/index.js';
export { NfpBroker, NfpBrokerEngine } from './nfp/index.js';
export type { NfpBrokerOptions, NfpInventory, NfpInventoryEntry } from './nfp/index.js';
export { accessOptions } from './options.js';
export { PppPool, PppPoolEngine, PppQueue, PppQueueEngine } from './ppp/index.js';
export type { PppPoolOptions, PppQueueOptions, PppRequestOptions } from './ppp/index.js';
