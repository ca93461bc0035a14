/** What engines are made of. Pure: this is the one entry of this package that engines import at run time. */
export type { Engine, Entropy, TimerEvent } from './engine.js';
export { bucketLimitMs, Histogram, percentile } from './histogram.js';
export type { HistogramSnapshot } from './histogram.js';
export type { Legality, Ruling } from './legality.js';
export { StepOutput } from './output.js';
export type { ClientSnapshot, ServerSnapshot, ServiceSnapshot, WorkerSnapshot } from './snapshot.js';
