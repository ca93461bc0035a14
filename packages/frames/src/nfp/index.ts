/**
 * NFP, the NORFAB protocol, between frames and commands. `commands.ts` has the words, `wire.ts` the grammar and every fixed byte, `target.ts`
 * and `bodies.ts` what a broker reads beyond the frames.
 */
export * from './bodies.js';
export type * from './commands.js';
export { decodeNfpAtBroker, decodeNfpAtClient, decodeNfpAtWorker } from './decode.js';
export { encodeNfp, nfpBrokerHeader } from './encode.js';
export * from './log-book.js';
export * from './published.js';
export * from './target.js';
export { isNfpName, nfpNameOf, nfpRoutingId } from './text.js';
export { cTime, eventTime, isoTime } from './times.js';
