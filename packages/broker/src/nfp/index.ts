/** NFP, the protocol of NORFAB: the broker, with its options, events, statistics and engine. */
export { NfpBroker } from './broker.js';
export type { NfpBrokerEvents } from './broker.js';
export { nfpBrokerOptions } from './options.js';
export type { NfpBrokerOptions, NfpBrokerSettings } from './options.js';
export type { NfpBrokerCounters } from './engine/counters.js';
export { NfpBrokerEngine } from './engine/engine.js';
export type * from './engine/events.js';
export type { NfpInventory, NfpInventoryEntry } from './engine/management/inventory.js';
export type { NfpBrokerAbout, NfpMechanism, NfpTraffic } from './engine/management/mmi.js';
export type { NfpBrokerStats, NfpServiceStats } from './engine/state.js';
