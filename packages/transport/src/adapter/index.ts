/** What every adapter of real sockets needs, so that all of them park, refuse and check options alike. For authors of ports. */
export { compactAll as compacted } from '@proj/frames';
export { Backlog } from '../backlog.js';
export { Fifo } from '../fifo.js';
export { assertFrames } from '../limits.js';
export { growMapped, isMapped, mapMemory } from '../mapped-memory.js';
export * from '../outbox.js';
export * from '../port-options.js';
export { systemEntropy } from '../entropy.js';
export { explainScheme } from '../schemes.js';
