/**
 * Workers for ZeroMQ request-reply: what an application needs. Events, notes, counters and sessions of each protocol are in its own entry,
 * such as `@proj/worker/mdp`.
 */
export { MdpWorker } from './mdp/worker.js';
export type { MdpWorkerEvents } from './mdp/worker.js';
export type { MdpHandler, MdpRequest, MdpWorkerOptions } from './mdp/options.js';
export { MdpWorkerSession } from './mdp/engine/session.js';
export { PppWorker } from './ppp/worker.js';
export type { PppWorkerEvents } from './ppp/worker.js';
export type { PppHandler, PppWorkerOptions, PppWorkerRequest } from './ppp/options.js';
export { PppWorkerSession } from './ppp/engine/session.js';
export { NfpWorker } from './nfp/worker.js';
export type { NfpWorkerEvents } from './nfp/worker.js';
export type { NfpWorkerOptions } from './nfp/options.js';
export { fileSharingTasks } from './nfp/file-sharing.js';
export type { NfpFileSharingOptions } from './nfp/file-sharing.js';
export { defineNfpTask, NfpTaskFailure } from './nfp/task.js';
export type { NfpTask, NfpTaskCall, NfpTaskContext, NfpTaskHandler } from './nfp/task.js';
export { EmqpJobManager } from './emqp/job-manager.js';
export type { EmqpJobManagerEvents } from './emqp/job-manager.js';
export type { EmqpJobManagerOptions } from './emqp/options.js';
export type { BodyInput } from '@proj/transport';
export type { FrameReply, Handler, HandlerContext } from '@proj/transport/service';
export { isProjError, ProjError } from '@proj/transport';
export type { ProjErrorCode } from '@proj/transport';
export { defineService } from '@proj/frames/service';
