/** What every adapter of real sockets needs, so that all of them park, refuse and check options alike. For authors of ports. */
export { compactAll as compacted } from '@proj/frames';
export { Fifo } from '../fifo.js';
export { assertFrames } from '../limits.js';
export { Outbox } from '../outbox.js';
export type { OutboxHost, OutboxLimits, SendOutcome } from '../outbox.js';
export { resolvePortOptions } from '../port-options.js';
export type { ResolvedPortOptions } from '../port-options.js';
export { systemEntropy } from '../entropy.js';
export { explainScheme } from '../schemes.js';
