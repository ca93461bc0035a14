/** Majordomo: broker and pool, with their options, events, statistics and engines. */
export type { FrameReply, Handler, HandlerContext } from '@proj/transport/service';
export { MdpBroker } from './broker.js';
export type { MdpBrokerEvents } from './broker.js';
export { mdpBrokerOptions } from './options.js';
export type {
  MdpBrokerOptions,
  MdpBrokerSettings,
  MdpHandler,
  MdpPoolOptions,
  MdpPoolRequestOptions,
  MdpPoolSettings,
  MdpRequest,
  MdpServeOptions,
} from './options.js';
export { MdpPool } from './pool.js';
export type { MdpPoolEvents } from './pool.js';
export { MdpPoolEngine } from './engine/pool-engine.js';
export { MdpBrokerEngine } from './engine/engine.js';
export type * from './engine/events.js';
export type { MdpBrokerCounters } from './engine/output.js';
export type { OwnServiceSpec as MdpOwnServiceSpec } from './engine/records.js';
export type { MdpBrokerStats, MdpServiceStats } from './engine/state.js';
