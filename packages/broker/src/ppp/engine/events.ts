/**
 * Events and effects of the Paranoid Pirate engines, shared by `engine.ts` and `queue.ts`, and by `pool-engine.ts` and `pool.ts`. Both have the
 * same workers' side, the backend.
 */
import type {
  PppClientReply,
  PppContent,
  PppHeartbeat,
  PppMalformedReason,
  PppRequest,
  PppToFrontend,
  PppToQueue,
  PppToWorker,
} from '@proj/frames/ppp';
import type { Peer, UndeliverableReason } from '@proj/transport';
import type { DropNote, ControlEvent, LateNote, Rejected, SpacingNote, Undeliverable } from '../../shared/events.js';

/** The two sockets of a queue; a pool has only the backend. A routing id means nothing at the other socket. */
export type PppSocket = 'frontend' | 'backend';

/** A peer at one of the sockets. */
interface At<Socket extends PppSocket> {
  readonly socket: Socket;
  readonly peer: Peer;
}

/** An event at the workers' socket. */
export type PppBackendEvent =
  | (At<'backend'> & { readonly kind: 'message'; readonly command: PppToQueue })
  | (At<'backend'> & { readonly kind: 'peer-gone' })
  | Rejected<At<'backend'>>
  | Undeliverable<At<'backend'> & { readonly command: PppToWorker }>;

/** An event at the clients' socket. */
export type PppFrontendEvent =
  | (At<'frontend'> & { readonly kind: 'message'; readonly command: PppToFrontend })
  | (At<'frontend'> & { readonly kind: 'peer-gone' })
  | Rejected<At<'frontend'>>
  | Undeliverable<At<'frontend'>>;

/** An operator ends a worker, at once or when its job has ended: rule 21. */
export interface PppDismissal {
  readonly kind: 'dismiss';
  /** Its routing id, as text or in hex. */
  readonly worker: string;
  readonly isGraceful: boolean;
}

/** A queue's events. The driver adds timer events. */
export type PppQueueEvent =
  | PppBackendEvent
  | PppFrontendEvent
  | PppDismissal
  /** Rules 14, 19 and 20. */
  | ControlEvent;

/** A pool's events. The driver adds timer events. */
export type PppPoolEvent =
  | PppBackendEvent
  | PppDismissal
  | ControlEvent
  /** A call of the process. Ids are never reused, not even by a restarted pool. */
  | { readonly kind: 'request'; readonly id: number; readonly content: PppContent; readonly timeoutMs: number }
  /** The process no longer wants the answer. */
  | { readonly kind: 'abort'; readonly id: number };

/** Why a worker is no longer registered. */
export type PppWorkerLoss =
  /** It was silent for too long. */
  | 'expired'
  /** It had a job for longer than `jobTimeoutMs`. */
  | 'job-timeout'
  /** It sent READY while it had a job, so it has forgotten the job. */
  | 'restarted'
  /** Its connection ended. */
  | 'gone'
  /** An operator ended it. */
  | 'dismissed'
  /** The access rules changed, and its key may no longer serve. */
  | 'not-allowed'
  /** A message to it could not be sent. */
  | UndeliverableReason
  /** The queue or pool is closing. */
  | 'drained';

/** Why a request was not accepted. */
export type PppRefusal = 'draining' | 'queue-full';

/** Why a request of a queue's client was not accepted. `not-allowed`: its key may not request. */
export type PppClientRefusal = PppRefusal | 'not-allowed';

/** Why an accepted request will not be answered. */
export type PppRequestLoss =
  /** It waited longer than `requestTtlMs` (queue), or took longer than its timeout (pool). */
  | 'expired'
  /** `maxAttempts` workers were lost with it. */
  | 'attempts-exhausted'
  /** Queue: it made room for another client because its own had far more waiting. */
  | 'displaced'
  /** Queue: its client left. */
  | 'client-gone'
  /** Pool: its caller aborted it. */
  | 'aborted'
  /** The queue or pool closed first. */
  | 'drained';

/** Why a message was dropped. */
export type PppMessageDrop =
  | PppMalformedReason
  /** It had more frames or bytes than the limits allow. */
  | 'too-large'
  /** Well formed, but not READY, from a peer that is not registered. */
  | 'unregistered'
  /** A reply from a worker without a job. */
  | 'reply-unexpected'
  /** A reply whose address is not that of the worker's job. */
  | 'reply-address'
  /** READY beyond `workersMax`. */
  | 'workers-limit'
  /** READY beyond `registrationsPerSecondMax`. */
  | 'registrations-limit'
  /** At the backend, from a peer whose key may not serve. */
  | 'not-allowed';

/** All reasons for dropping something: the labels of the drop counters. */
export type PppDropReason = PppMessageDrop | PppRefusal | PppRequestLoss | 'reply-undeliverable';

/** A note for the log. At most one per reason and peer per minute; the counters include every occurrence. */
export type PppNote =
  | DropNote<'message-dropped', PppMessageDrop, At<PppSocket>>
  /** `peer` is the client. A pool informs its callers instead. */
  | DropNote<'request-dropped', PppClientRefusal | PppRequestLoss, At<'frontend'>>
  /** The client is gone, or reads too slowly for its queue. */
  | DropNote<'reply-dropped', 'reply-undeliverable', At<'frontend'>>
  | SpacingNote<At<'backend'>>
  | LateNote;

/** A worker has registered. */
export interface PppWorkerReadyNotice {
  readonly kind: 'worker-ready';
  readonly peer: Peer;
}

/** A worker is no longer registered. */
export interface PppWorkerLostNotice {
  readonly kind: 'worker-lost';
  readonly peer: Peer;
  readonly reason: PppWorkerLoss;
}

/** Effects of queue and pool. */
export type PppBackendEffect =
  | (At<'backend'> & { readonly kind: 'send'; readonly command: PppRequest | PppHeartbeat })
  | PppWorkerReadyNotice
  | PppWorkerLostNotice
  | PppNote
  /** Nothing more will be sent; further events are ignored. */
  | { readonly kind: 'drained' };

/** Effects of a queue. */
export type PppQueueEffect =
  | PppBackendEffect
  | (At<'frontend'> & { readonly kind: 'send'; readonly command: PppClientReply });

/** Effects of a pool. Each request that is not aborted has one `answer` or one `fail`. */
export type PppPoolEffect =
  | PppBackendEffect
  | { readonly kind: 'answer'; readonly id: number; readonly content: PppContent }
  | { readonly kind: 'fail'; readonly id: number; readonly reason: PppRefusal | PppRequestLoss };
