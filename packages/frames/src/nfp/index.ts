/**
 * NFP, the NORFAB protocol, between frames and commands. `commands.ts` has the words, `wire.ts` the grammar and every fixed byte, `target.ts`
 * and `bodies.ts` what a broker reads beyond the frames.
 */
export {
  decodeNfpDispatch,
  decodeNfpJson,
  decodeNfpOpenInfo,
  decodeNfpTask,
  encodeNfpDispatch,
  encodeNfpJson,
} from './bodies.js';
export type { NfpDispatch, NfpOpenInfo, NfpTask } from './bodies.js';
export type * from './commands.js';
export { decodeNfpAtBroker, decodeNfpAtClient, decodeNfpAtWorker } from './decode.js';
export { encodeNfp, nfpBrokerHeader } from './encode.js';
export { NfpLogBook } from './log-book.js';
export type { NfpLogFilter, NfpLogLevel, NfpLogRecord, NfpLogSource } from './log-book.js';
export { decodeNfpPublishedEvent, encodeNfpPublishedEvent } from './published.js';
export type { NfpPublishedEvent } from './published.js';
export { parseNfpTarget } from './target.js';
export type { NfpTarget } from './target.js';
export { isNfpName, nfpNameOf, nfpRoutingId } from './text.js';
export { cTime, eventTime, isoTime } from './times.js';
