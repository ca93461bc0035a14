/** Events, effects and notes of an MDP worker session. */
import type { MdpDisconnect, MdpHeartbeat, MdpMalformed, MdpToWorker } from '@proj/frames/mdp';
import type { MdpWorkerReady, MdpWorkerReply } from '@proj/frames/mdp';
import type { RejectReason } from '@proj/transport';
import type { WorkerEffect, WorkerEvent, WorkerNote } from '../../shared/events.js';

/** What a worker sends. */
export type MdpFromWorker = MdpWorkerReady | MdpWorkerReply | MdpHeartbeat | MdpDisconnect;

/** Events of an `MdpWorkerSession`. */
export type MdpWorkerEvent = WorkerEvent<MdpToWorker>;

/** Effects of an `MdpWorkerSession`. */
export type MdpWorkerEffect = WorkerEffect<MdpFromWorker, MdpWorkerNote>;

/** Why a message was dropped: the decoder's reason, the port's, or a command in another version than this worker's. */
export type MdpWorkerDropReason = MdpMalformed['reason'] | RejectReason | 'wrong-version';

/** Why a worker ended a conversation. */
export type MdpWorkerLeaveReason =
  /** `drain()`, with nothing left to do. */
  | 'drained'
  /** `drain()`, but the job took too long. */
  | 'drain-timeout'
  /** `close()`. */
  | 'closed'
  /** The handler gave no reply, and MDP has no other way to say so. */
  | 'handler-failed'
  /** The preferred endpoint is back. */
  | 'first-answers';

/** A note. Dropped or discarded requests are not lost: the broker gives them to another worker. */
export type MdpWorkerNote = WorkerNote<MdpWorkerDropReason, MdpWorkerLeaveReason>;
