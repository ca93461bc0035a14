/** What a Paranoid Pirate worker session has to tell: the source of events, log lines and counters. */
import type { PppMalformedReason } from '@proj/frames/ppp';
import type { RejectReason } from '@proj/transport';
import type { WorkerNote } from '../../shared/events.js';

/** Why a message was dropped: the decoder's reason or the port's. */
export type PppWorkerDropReason = PppMalformedReason | RejectReason;

/** Why a worker ended a conversation by its own wish. 6/PPP has no word for that: the queue learns it by READY or by silence. */
export type PppWorkerLeaveReason =
  /** `drain()`, with nothing left to do. */
  | 'drained'
  /** `drain()`, and the jobs took too long. */
  | 'drain-timeout'
  /** `close()`. */
  | 'closed'
  /** The handler gave no reply. READY on the same connection begins anew. */
  | 'handler-failed';

/** A notice. A queue of ours gives what is dropped or discarded to another worker; the Guide's queue keeps no requests. */
export type PppWorkerNote = WorkerNote<PppWorkerDropReason, PppWorkerLeaveReason>;
