/** What an MDP worker session is told, what it wants done and what it reports. */
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

/** Why a message was dropped: the decoder's reason, the port's, or a command in the version that this worker does not speak. */
export type MdpWorkerDropReason = MdpMalformed['reason'] | RejectReason | 'wrong-version';

/** Why a worker ended a conversation. */
export type MdpWorkerLeaveReason =
  /** `drain()`, with nothing left to do. */
  | 'drained'
  /** `drain()`, and the job took too long. */
  | 'drain-timeout'
  /** `close()`. */
  | 'closed'
  /** The handler gave no reply, and MDP has no other word for that. */
  | 'handler-failed'
  /** The preferred endpoint is back. */
  | 'first-answers';

/** A notice. What is dropped or discarded is not lost: the broker gives it to another worker. */
export type MdpWorkerNote = WorkerNote<MdpWorkerDropReason, MdpWorkerLeaveReason>;
