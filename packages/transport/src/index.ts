/** Connects engines to sockets and time. The adapters are sub-paths: `@proj/transport/zmq`, `@proj/transport/virtual`. */
export { Access } from './access.js';
export type { AccessRight, AccessRule, AccessRules } from './access.js';
export { toBuffers, toFrames } from './body.js';
export type { BodyInput, BodyLimits, Frame } from './body.js';
export { BoundedBuffer } from './bounded-buffer.js';
export type { BufferBounds } from './bounded-buffer.js';
export { Departures } from './departures.js';
export { deriveTransport } from './derive-transport.js';
export { Driver } from './driver.js';
export { Emitter } from './emitter.js';
export { UnheardErrors } from './unheard-errors.js';
export type { UnheardErrorsParts } from './unheard-errors.js';
export type { Engine, Entropy, TimerEvent } from './engine/engine.js';
export { StepOutput } from './engine/output.js';
export { EngineHost } from './engine-host.js';
export type { HostEvents, HostProgram, PublisherPlan, RefusalCounts, SocketPlan } from './host-program.js';
export { isProjError, ProjError } from './errors.js';
export type { ProjErrorCode, ProjErrorOptions } from './errors.js';
export type { Legality, Ruling } from './engine/legality.js';
export type { EventListener, Guarded, Life, Startable } from './life.js';
export { MemoryBudget } from './memory-budget.js';
export type { MemoryLevel, MemoryOwner, MemoryStats } from './memory-budget.js';
export { parseOptions } from './options.js';
export type { OptionsSchema } from './options.js';
export { ROUTER_PEER } from './port.js';
export type {
  CurveKeys,
  CurveOptions,
  HandshakeRefusal,
  KeyList,
  LoadOptions,
  Peer,
  PortListener,
  PortOptions,
  PublisherListener,
  PublisherPort,
  RejectReason,
  SocketPort,
  SubscriberListener,
  SubscriberPort,
  Transport,
  UndeliverableReason,
} from './port.js';
export { memoryRecords } from './records-memory.js';
export { checkRecords, isRecordKey } from './records.js';
export type { RecordBatch, RecordStore } from './records.js';
export { SessionHost } from './session-host.js';
export type { SessionEvents, SessionLife, SessionProgram, SocketLoss, SocketRequest } from './session-program.js';
export { SharedRouters } from './shared-routers.js';
export type { Claim } from './shared-routers.js';
