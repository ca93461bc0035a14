/** What an MDP worker session has to tell: the source of events, log lines and counters. */
import type { MdpMalformed } from '@proj/frames/mdp';
import type { RejectReason } from '@proj/transport';
import type { WorkerNote } from '../../shared/events.js';

/** Why a message was dropped: the decoder's reason, the port's, or a command in the version that we do not speak. */
export type MdpWorkerDropReason = MdpMalformed['reason'] | RejectReason | 'wrong-version';

/** Why a worker ended a conversation by its own wish. */
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
