/** Workers for ZeroMQ request-reply. Open `mdp/worker.ts`, `ppp/worker.ts` or `emqp/job-manager.ts` first. */
export { MdpWorker } from './mdp/worker.js';
export type { MdpWorkerEvents, MdpWorkerStats } from './mdp/worker.js';
export type { MdpHandler, MdpRequest, MdpTypedRequest, MdpWorkerOptions } from './mdp/options.js';
export { MdpWorkerSession } from './mdp/engine/session.js';
export type { MdpFromWorker, MdpWorkerEffect, MdpWorkerEvent, MdpWorkerSessionOptions } from './mdp/engine/session.js';
export type { MdpWorkerDropReason, MdpWorkerLeaveReason, MdpWorkerNote } from './mdp/engine/events.js';
export { PppWorker } from './ppp/worker.js';
export type { PppWorkerEvents, PppWorkerStats } from './ppp/worker.js';
export type { PppHandler, PppTypedRequest, PppWorkerOptions, PppWorkerRequest } from './ppp/options.js';
export { PppWorkerSession } from './ppp/engine/session.js';
export type { PppFromWorker, PppWorkerEffect, PppWorkerEvent, PppWorkerSessionOptions } from './ppp/engine/session.js';
export type { PppWorkerDropReason, PppWorkerLeaveReason, PppWorkerNote } from './ppp/engine/events.js';
export { NfpWorker } from './nfp/worker.js';
export type { NfpWorkerEvents, NfpWorkerStats } from './nfp/worker.js';
export { NfpWorkerSession } from './nfp/engine/session.js';
export type { NfpWorkerCounters, NfpWorkerSessionOptions, NfpWorkerWorld } from './nfp/engine/session-options.js';
export type {
  NfpFromWorker,
  NfpRefusalReason,
  NfpWorkerDropReason,
  NfpWorkerEffect,
  NfpWorkerEvent,
  NfpWorkerLeaveReason,
  NfpWorkerNote,
} from './nfp/engine/events.js';
export type { NfpFinalState, NfpJobState, NfpStoredJob } from './nfp/engine/job.js';
export { fileSharingTasks } from './nfp/file-sharing.js';
export type { NfpFileSharingOptions } from './nfp/file-sharing.js';
export { defineNfpTask, NfpTaskFailure } from './nfp/task.js';
export type {
  NfpArgs,
  NfpEventOptions,
  NfpInputOptions,
  NfpKwargs,
  NfpPut,
  NfpRestartHook,
  NfpTask,
  NfpTaskCall,
  NfpTaskContext,
  NfpTaskDefinition,
  NfpTaskHandler,
} from './nfp/task.js';
export type { NfpWorkerOptions } from './nfp/options.js';
export { EmqpJobManager } from './emqp/job-manager.js';
export type { EmqpJobManagerEvents } from './emqp/job-manager.js';
export type { EmqpJobManagerOptions } from './emqp/options.js';
export type {
  FromJobHost as EmqpFromJobHost,
  JobHost as EmqpJobHost,
  JobHostListener as EmqpJobHostListener,
  StartJobHost as EmqpStartJobHost,
  ToJobHost as EmqpToJobHost,
} from './emqp/job-host.js';
export { EmqpJobManagerSession } from './emqp/engine/session.js';
export type { EmqpJobManagerSessionOptions } from './emqp/engine/session.js';
export type {
  EmqpFromJobManager,
  EmqpJobManagerDropReason,
  EmqpJobManagerEffect,
  EmqpJobManagerEvent,
  EmqpJobManagerNote,
  EmqpJobManagerStats,
  EmqpLeaveReason,
  EmqpLossReason,
  EmqpRequestRefusal,
  EmqpRun,
  EmqpRunOutcome,
} from './emqp/engine/events.js';
export type { BodyInput, Frame } from '@proj/transport';
export type { FrameReply, Handler, HandlerContext } from '@proj/transport/service';
export type { LossReason } from './shared/events.js';
export { isProjError, ProjError } from '@proj/transport';
export type { ProjErrorCode } from '@proj/transport';
export { defineService, encodeFault } from '@proj/frames/service';
export type { Service, ServiceFault } from '@proj/frames/service';
