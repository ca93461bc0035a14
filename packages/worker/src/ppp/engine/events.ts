/** Events, effects and notes of a Paranoid Pirate worker session. */
import type { PppHeartbeat, PppMalformedReason, PppReady, PppReply, PppToWorker } from '@proj/frames/ppp';
import type { RejectReason } from '@proj/transport';
import type { WorkerEffect, WorkerEvent, WorkerNote } from '../../shared/events.js';

/** What a worker sends. */
export type PppFromWorker = PppReady | PppHeartbeat | PppReply;

/** Events of a `PppWorkerSession`. `partial` has no effect: PPP has one reply, into which the host joins the frames. */
export type PppWorkerEvent = WorkerEvent<PppToWorker>;

/** Effects of a `PppWorkerSession`. */
export type PppWorkerEffect = WorkerEffect<PppFromWorker, PppWorkerNote>;

/** Why a message was dropped: the decoder's reason or the port's. */
export type PppWorkerDropReason = PppMalformedReason | RejectReason;

/** Why a worker ended a conversation. 6/PPP cannot express it: the queue learns it from READY or from silence. */
export type PppWorkerLeaveReason =
  /** `drain()`, with nothing left to do. */
  | 'drained'
  /** `drain()`, but the jobs took too long. */
  | 'drain-timeout'
  /** `close()`. */
  | 'closed'
  /** The handler gave no reply. READY on the same connection starts a new conversation. */
  | 'handler-failed';

/** A note. Our queue gives dropped or discarded requests to another worker; the Guide's queue keeps no requests. */
export type PppWorkerNote = WorkerNote<PppWorkerDropReason, PppWorkerLeaveReason>;
