/** Building blocks of engines. Pure: the only entry of this package that engines import at run time. */
export type { Engine, Entropy, TimerEvent } from './engine.js';
export { elapsedMs, hexOf, namedApart, nameOf, ServiceMeter, setSince, shown } from './figures.js';
export type { Timed } from './figures.js';
export { bucketLimitMs, Histogram, percentile } from './histogram.js';
export type { HistogramSnapshot } from './histogram.js';
export type { Legality, Ruling } from './legality.js';
export { StepOutput } from './output.js';
export { RefusedPeers } from './refused-peers.js';
export type {
  ClientSnapshot,
  EngineSnapshot,
  JobSnapshot,
  ServerSnapshot,
  ServiceSnapshot,
  WorkerSnapshot,
} from './snapshot.js';
