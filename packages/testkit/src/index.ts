/** Test helpers shared by several packages. Private: never published, never imported by a source file. */
export * as arbitraries from './arbitraries/index.js';
export * from './diagrams.js';
export { HAS_LIBZMQ } from './libzmq.js';
export { nextEvent } from './next-event.js';
export { ownEndpoint } from './own-endpoint.js';
export { passTime } from './pass-time.js';
export * from './peer-group.js';
export type { PeerExit, PeerLine, PeerLineFields, PeerProcess, PeerSpec } from './peer-process.js';
export * from './scenario.js';
export * from './vectors.js';
