/**
 * What the Paranoid Pirate engines are told and what they say: the vocabulary between `engine.ts` and `queue.ts`, and
 * between `engine-pool.ts` and `pool.ts`. The workers' side, called backend, is the same in both.
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
import type { Access, Peer, RejectReason, UndeliverableReason } from '@proj/transport';

/** The two sockets of a queue. A pool has the backend only. Routing ids of one mean nothing at the other. */
export type PppSocket = 'frontend' | 'backend';

interface PeerGone<Socket extends PppSocket> {
  readonly kind: 'peer-gone';
  readonly socket: Socket;
  readonly peer: Peer;
}

/** A message over the socket's limits was dropped undecoded. */
interface Rejected<Socket extends PppSocket> {
  readonly kind: 'rejected';
  readonly socket: Socket;
  readonly peer: Peer;
  readonly reason: RejectReason;
}

/** A fact about workers. */
export type PppBackendEvent =
  | { readonly kind: 'message'; readonly socket: 'backend'; readonly peer: Peer; readonly command: PppToQueue }
  | PeerGone<'backend'>
  | Rejected<'backend'>
  /** What an earlier `send` was to bring to a worker. */
  | {
      readonly kind: 'undeliverable';
      readonly socket: 'backend';
      readonly peer: Peer;
      readonly command: PppToWorker;
      readonly reason: UndeliverableReason;
    };

/** A fact about clients. */
export type PppFrontendEvent =
  | { readonly kind: 'message'; readonly socket: 'frontend'; readonly peer: Peer; readonly command: PppToFrontend }
  | PeerGone<'frontend'>
  | Rejected<'frontend'>
  /** A reply did not reach its client. */
  | {
      readonly kind: 'undeliverable';
      readonly socket: 'frontend';
      readonly peer: Peer;
      readonly reason: UndeliverableReason;
    };

/** Come to an end: rule 19. */
export interface PppDrain {
  readonly kind: 'drain';
}

/** Who may do what from here on: rule 20. */
export interface PppAccess {
  readonly kind: 'access';
  readonly access: Access;
}

/** The process has no room for what would have to wait, or has again: rule 14. */
export interface PppMemory {
  readonly kind: 'memory';
  readonly isTight: boolean;
}

/** Everything a queue is told. Timer events come from the driver. */
export type PppQueueEvent = PppBackendEvent | PppFrontendEvent | PppAccess | PppMemory | PppDrain;

/** Everything a pool is told. Timer events come from the driver. */
export type PppPoolEvent =
  | PppBackendEvent
  /** The process wants this done. Ids are never used twice, not even by a pool that is started anew. */
  | { readonly kind: 'request'; readonly id: number; readonly content: PppContent; readonly timeoutMs: number }
  /** It does not want it any more. */
  | { readonly kind: 'abort'; readonly id: number }
  | PppAccess
  | PppMemory
  | PppDrain;

/** Why a worker is no longer registered. */
export type PppWorkerLoss =
  /** Silent for too long. */
  | 'expired'
  /** It had a job for longer than `jobTimeoutMs`. */
  | 'job-timeout'
  /** READY while it had a job: it has forgotten it. */
  | 'restarted'
  /** Its connection ended. */
  | 'gone'
  /** The rules of access have changed, and its key may not serve any more. */
  | 'not-allowed'
  /** A message to it did not go out. */
  | UndeliverableReason
  /** Queue or pool are closing. */
  | 'drained';

/** Why a request was not accepted. */
export type PppRefusal = 'draining' | 'queue-full';

/** Why a request of a queue's client was not accepted: `not-allowed`, its key may not ask. */
export type PppClientRefusal = PppRefusal | 'not-allowed';

/** Why an accepted request will not be answered. */
export type PppRequestLoss =
  /** It waited for longer than `requestTtlMs` (queue), or took longer than its time-out (pool). */
  | 'expired'
  /** It was lost with `maxAttempts` workers. */
  | 'attempts-exhausted'
  /** Queue: its client left. */
  | 'client-gone'
  /** Pool: its caller aborted it. */
  | 'aborted'
  /** Queue or pool closed first. */
  | 'drained';

/** Why a message was dropped without a further look. */
export type PppMessageDrop =
  | PppMalformedReason
  /** More frames or bytes than the limits. */
  | 'too-large'
  /** Anything well formed but READY, from a peer that is not registered. */
  | 'unregistered'
  /** A reply by a worker that has no job. */
  | 'reply-unexpected'
  /** A reply to somebody else than the one whose job the worker has. */
  | 'reply-address'
  /** READY over `workersMax`. */
  | 'workers-limit'
  /** At the backend, from somebody whose key may not serve. */
  | 'not-allowed';

/** Any reason for which something was dropped: the labels of the drop counters. */
export type PppDropReason = PppMessageDrop | PppRefusal | PppRequestLoss | 'reply-undeliverable';

/** Something worth a log line. At most one per reason and peer per minute; the counters hold every occurrence. */
export type PppNote =
  | {
      readonly kind: 'note';
      readonly code: 'message-dropped';
      readonly reason: PppMessageDrop;
      readonly socket: PppSocket;
      readonly peer: Peer;
    }
  /** `peer` is the client. A pool tells its callers instead. */
  | {
      readonly kind: 'note';
      readonly code: 'request-dropped';
      readonly reason: PppClientRefusal | PppRequestLoss;
      readonly socket: 'frontend';
      readonly peer: Peer;
    }
  /** The client is gone, or reads too slowly for its queue. */
  | {
      readonly kind: 'note';
      readonly code: 'reply-dropped';
      readonly reason: 'reply-undeliverable';
      readonly socket: 'frontend';
      readonly peer: Peer;
    }
  /** A live worker is silent for more than half its expiry; the two sides' intervals may not fit. Once per worker. */
  | {
      readonly kind: 'note';
      readonly code: 'spacing-hint';
      readonly socket: 'backend';
      readonly peer: Peer;
      readonly silentMs: number;
      readonly expiryMs: number;
    }
  /** This process could not keep up for longer than a heartbeat interval; expiry was put off by as much. */
  | { readonly kind: 'note'; readonly code: 'running-late'; readonly lateMs: number };

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

/** What queue and pool have in common to do, or to know, after a step. */
export type PppBackendEffect =
  | {
      readonly kind: 'send';
      readonly socket: 'backend';
      readonly peer: Peer;
      readonly command: PppRequest | PppHeartbeat;
    }
  | PppWorkerReadyNotice
  | PppWorkerLostNotice
  | PppNote
  /** Nothing more will be sent; further events are ignored. */
  | { readonly kind: 'drained' };

/** What is to be done after a step of a queue. */
export type PppQueueEffect =
  | PppBackendEffect
  | { readonly kind: 'send'; readonly socket: 'frontend'; readonly peer: Peer; readonly command: PppClientReply };

/** What is to be done after a step of a pool. Each request that was not aborted has one `answer` or one `fail`. */
export type PppPoolEffect =
  | PppBackendEffect
  | { readonly kind: 'answer'; readonly id: number; readonly content: PppContent }
  | { readonly kind: 'fail'; readonly id: number; readonly reason: PppRefusal | PppRequestLoss };
