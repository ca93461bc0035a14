/** `@proj/client/nfp`: client and subscriber of NORFAB, with their events, counters and engine. */
export { NfpClient } from './client.js';
export type { NfpClientEvents } from './client.js';
export type * from './engine/events.js';
export { NfpClientSession } from './engine/session.js';
export type { NfpFetchedFile, NfpFileDetails } from './files.js';
export type { NfpJobRecord, NfpJobState } from './job-book.js';
export type { NfpJob, NfpJobEvent } from './job.js';
export type {
  NfpAskOptions,
  NfpCallOptions,
  NfpClientOptions,
  NfpFetchOptions,
  NfpFileProgress,
  NfpInputHandler,
  NfpInputRequest,
  NfpListOptions,
  NfpPostOptions,
  NfpSubscribeOptions,
  NfpSubscriberOptions,
  NfpWorkersCallOptions,
} from './options.js';
export type { NfpRow } from './questions.js';
export { nfpResultsOrThrow } from './results.js';
export type { NfpJobResult, NfpJobResults, NfpWorkerAnswer } from './results.js';
export { NfpSubscriber } from './subscriber.js';
export type { NfpPublication, NfpSubscriberEvents, NfpSubscriberStats, NfpSubscription } from './subscriber.js';
