/**
 * Paranoid Pirate: 6/PPP and the frontend of a queue between frames and commands. `commands.ts` has the words, `wire.ts`
 * the grammar and every fixed byte.
 */
export type * from './commands.js';
export { decodePppCorrelation, encodePppCorrelation } from './correlation.js';
export { decodePppAtClient, decodePppAtFrontend, decodePppAtQueue, decodePppAtWorker } from './decode.js';
export { encodePpp } from './encode.js';
