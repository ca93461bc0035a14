/** Clients for ZeroMQ request-reply and queues: what most users need. The sub-path of each protocol exports the rest. */
export { EmqpClient, EmqpClientSession } from './emqp/index.js';
export type { EmqpClientOptions, EmqpDeferOptions, EmqpJob, EmqpPublication } from './emqp/index.js';
export { MdpClient, MdpClientSession } from './mdp/index.js';
export type { MdpClientOptions, MdpRequestOptions } from './mdp/index.js';
export { NfpClient, NfpClientSession, nfpResultsOrThrow, NfpSubscriber } from './nfp/index.js';
export type {
  NfpClientOptions,
  NfpJob,
  NfpJobResult,
  NfpJobResults,
  NfpPublication,
  NfpSubscriberOptions,
} from './nfp/index.js';
export { LazyPirateClient, LazyPirateSession } from './ppp/index.js';
export type { LazyPirateOptions, LazyPirateRequestOptions } from './ppp/index.js';
export { PzqConsumer, PzqConsumerSession, PzqProducer, PzqProducerSession } from './pzq/index.js';
export type { PzqConsumerOptions, PzqMessage, PzqProducerOptions } from './pzq/index.js';
export { defineService } from '@proj/frames/service';
export { isProjError, ProjError } from '@proj/transport';
export type { ProjErrorCode } from '@proj/transport';
