/** Clients for ZeroMQ request-reply and queues. Open `mdp/client.ts`, `ppp/client.ts`, `pzq/producer.ts`, `emqp/client.ts` or `nfp/client.ts` first. */
export type { BodyInput, Frame } from '@proj/transport';
export { EmqpClient } from './emqp/client.js';
export type {
  EmqpClientEvents,
  EmqpClientTotals,
  EmqpDeferredWithResult,
  EmqpPublication,
  EmqpSubscription,
} from './emqp/client.js';
export type { EmqpDeferred } from './emqp/command-runner.js';
export type {
  EmqpClientOptions,
  EmqpDeferOptions,
  EmqpJob,
  EmqpPublishOptions,
  EmqpScheduleOptions,
  EmqpSubscribeOptions,
  EmqpUnscheduleOptions,
} from './emqp/options.js';
export { EmqpClientSession } from './emqp/engine/session.js';
export type {
  EmqpClientDropReason,
  EmqpClientEffect,
  EmqpClientEvent,
  EmqpClientFailure,
  EmqpClientNote,
  EmqpClientSessionOptions,
  EmqpClientStats,
  EmqpOrder,
} from './emqp/engine/events.js';
export { MdpClient } from './mdp/client.js';
export type { MdpClientEvents, MdpServicePresence } from './mdp/client.js';
export type { MdpClientOptions, MdpRequestOptions } from './mdp/options.js';
export { MdpClientSession } from './mdp/engine/session.js';
export type { MdpClientDropReason, MdpClientEffect, MdpClientEvent, MdpClientNote } from './mdp/engine/session.js';
export { LazyPirateClient } from './ppp/client.js';
export type { LazyPirateEvents } from './ppp/client.js';
export type { LazyPirateOptions, LazyPirateRequestOptions } from './ppp/options.js';
export { LazyPirateSession } from './ppp/engine/session.js';
export type {
  LazyPirateDropReason,
  LazyPirateEffect,
  LazyPirateEvent,
  LazyPirateNote,
  LazyPirateRequest,
} from './ppp/engine/session.js';
export { NfpClient } from './nfp/client.js';
export type { NfpClientEvents } from './nfp/client.js';
export type { NfpFetchedFile, NfpFileDetails } from './nfp/files.js';
export type { NfpJobRecord, NfpJobState } from './nfp/job-book.js';
export type { NfpJob, NfpJobEvent } from './nfp/job.js';
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
  NfpWorkersCallOptions,
} from './nfp/options.js';
export type { NfpRow } from './nfp/questions.js';
export { nfpResultsOrThrow } from './nfp/results.js';
export type { NfpJobResult, NfpJobResults, NfpWorkerAnswer } from './nfp/results.js';
export { NfpClientSession } from './nfp/engine/session.js';
export type {
  NfpClientDropReason,
  NfpClientEffect,
  NfpClientEvent,
  NfpClientFailure,
  NfpClientNote,
  NfpClientSessionOptions,
  NfpClientStats,
  NfpJobOrder,
  NfpQuestion,
  NfpReply,
} from './nfp/engine/events.js';
export { NfpSubscriber } from './nfp/subscriber.js';
export type { NfpPublication, NfpSubscriberEvents, NfpSubscriberStats, NfpSubscription } from './nfp/subscriber.js';
export type { NfpSubscribeOptions, NfpSubscriberOptions } from './nfp/options.js';
export { PzqConsumer } from './pzq/consumer.js';
export type { PzqConsumerEvents, PzqHandler } from './pzq/consumer.js';
export type { PzqMessage } from './pzq/message.js';
export type {
  PzqConsumerOptions,
  PzqProducerOptions,
  PzqReceiveOptions,
  PzqRunOptions,
  PzqSendOptions,
} from './pzq/options.js';
export { PzqProducer } from './pzq/producer.js';
export type { PzqProducerEvents } from './pzq/producer.js';
export { PzqConsumerSession } from './pzq/engine/session-consumer.js';
export type {
  PzqConsumerDropReason,
  PzqConsumerEffect,
  PzqConsumerEvent,
  PzqConsumerNote,
  PzqConsumerSessionOptions,
  PzqConsumerStats,
  PzqHanded,
  PzqVerdict,
} from './pzq/engine/session-consumer.js';
export { PzqProducerSession } from './pzq/engine/session-producer.js';
export type {
  PzqOrder,
  PzqProducerDropReason,
  PzqProducerEffect,
  PzqProducerEvent,
  PzqProducerFailure,
  PzqProducerNote,
  PzqProducerSessionOptions,
  PzqProducerStats,
} from './pzq/engine/session-producer.js';
export type { RequestStats } from './shared/events.js';
export { isProjError, ProjError } from '@proj/transport';
export type { ProjErrorCode } from '@proj/transport';
export type { MmiServiceEntry, MmiWorkerEntry } from '@proj/frames/mdp';
export { defineService } from '@proj/frames/service';
export type { Service, ServiceIssue, ServiceRefusal } from '@proj/frames/service';
