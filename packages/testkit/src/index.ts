/** Test helpers shared by several packages. Private: never published, never imported by a source file. */
export * as arbitraries from './arbitraries/index.js';
export { checkDiagrams, stateDiagram } from './diagrams.js';
export type { DiagramSpec } from './diagrams.js';
export { HAS_LIBZMQ } from './libzmq.js';
export { nextEvent } from './next-event.js';
export { ownEndpoint } from './own-endpoint.js';
export { passTime } from './pass-time.js';
export { peerGroup } from './peer-group.js';
export type { PeerGroup } from './peer-group.js';
export type { PeerExit, PeerLine, PeerLineFields, PeerProcess, PeerSpec } from './peer-process.js';
export { parseDuration, replayScenario, runScenarios } from './scenario.js';
export type { ScenarioCommand, ScenarioHandler } from './scenario.js';
export { framesOf, fromHex, loadVectors, sameFrames, toHex } from './vectors.js';
export type { Vector } from './vectors.js';
