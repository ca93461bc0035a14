/** Building blocks of engines. Pure: the only entry of this package that engines import at run time. */
export type { Engine, Entropy, TimerEvent } from './engine.js';
export * from './figures.js';
export * from './histogram.js';
export * from './kept-body.js';
export type { Legality, Ruling } from './legality.js';
export { StepOutput } from './output.js';
export { RefusedPeers } from './refused-peers.js';
export type * from './snapshot.js';
