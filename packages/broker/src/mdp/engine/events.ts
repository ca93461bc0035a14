/** Events and effects of the Majordomo engines, shared by `engine.ts` and `broker.ts`, and by `pool-engine.ts` and `pool.ts`. */
import type {
  MdpBody,
  MdpClientReply,
  MdpClientRequest,
  MdpCommand,
  MdpDisconnect,
  MdpHeartbeat,
  MdpMalformedReason,
  MdpToBroker,
  MdpVersion,
  MdpWorkerRequest,
} from '@proj/frames/mdp';
import type { Peer, RejectReason, UndeliverableReason } from '@proj/transport';
import type { DropNote, ControlEvent, LateNote, PeerEvent, SpacingNote } from '../../shared/events.js';
import type { OwnServiceSpec } from './records.js';

/** A broker's events. The driver adds timer events. */
export type MdpBrokerEvent =
  | { readonly kind: 'message'; readonly peer: Peer; readonly command: MdpToBroker }
  | PeerEvent<MdpCommand>
  | MdpOwnEvent
  /** Rules 18, 24 and 28. */
  | ControlEvent;

/** Why nobody waits for a reply any more; the second and third, in a pool. */
export type MdpLostClient = 'client-gone' | 'expired' | 'aborted';

/** Events from the process itself. */
export type MdpOwnEvent =
  /** Ends workers: rule 30. `isGraceful` lets them finish their jobs. */
  | ({ readonly kind: 'dismiss'; readonly isGraceful: boolean } & MdpWorkerChoice)
  /** A request of a pool's process, from an invented peer. Access rules do not apply. */
  | { readonly kind: 'own-request'; readonly peer: Peer; readonly command: MdpClientRequest }
  /** A pool's process no longer wants the reply. */
  | { readonly kind: 'own-abandoned'; readonly peer: Peer; readonly reason: MdpLostClient }
  | MdpOwnServiceEvent;

/** The process's events about services inside the broker: rule 29. Events of a run that has ended are ignored. */
export type MdpOwnServiceEvent =
  /** Adds these services. None of their names is reserved or served inside the broker already. */
  | { readonly kind: 'serve'; readonly services: readonly OwnServiceSpec[] }
  /** The service accepts no more requests. */
  | { readonly kind: 'withdraw'; readonly service: number }
  /** A handler gave a partial reply. Only for 0.2 clients. */
  | { readonly kind: 'own-partial'; readonly run: number; readonly body: MdpBody }
  /** The handler ended with this reply. */
  | { readonly kind: 'own-final'; readonly run: number; readonly body: MdpBody }
  /** The handler ended without a reply. */
  | { readonly kind: 'own-failed'; readonly run: number };

/** Everything a broker sends. */
export type MdpFromBroker = MdpClientReply | MdpWorkerRequest | MdpHeartbeat | MdpDisconnect;

/** Some workers: one, by its routing id as text or in hex, or all of a service. */
export type MdpWorkerChoice = { readonly worker: string } | { readonly service: string };

/** Why a worker is no longer registered. */
export type MdpWorkerLoss =
  /** It was silent for too long. */
  | 'expired'
  /** It sent DISCONNECT. */
  | 'disconnected'
  /** Its connection ended. */
  | 'gone'
  /** A message to it could not be sent. */
  | UndeliverableReason
  /** It sent a malformed message, or one over the limits. */
  | 'invalid'
  /** It sent a valid command at the wrong time. */
  | 'unexpected'
  /** The access rules changed, and its key may no longer serve. */
  | 'not-allowed'
  /** An operator has ended it: `disconnectWorker`, `drainWorker` or `drainService`. */
  | 'dismissed'
  /** The broker is closing. */
  | 'drained';

/** Why a request was not accepted. */
export type MdpRefusal =
  | 'draining'
  | 'not-allowed'
  | 'service-invalid'
  | 'services-limit'
  | 'client-limit'
  | 'queue-full'
  | 'memory';

/** Why an accepted request will not be answered. */
export type MdpRequestLoss =
  /** Its service had no worker for `requestTtlMs`. */
  | 'expired-unserved'
  /** All workers were busy for `busyTtlMs`. */
  | 'expired-busy'
  /** Its client left while it waited. */
  | 'client-gone'
  /** `maxAttempts` workers were lost with it. */
  | 'attempts-exhausted'
  /** Its worker was lost after the client had received part of the reply. */
  | 'lost-after-partial'
  /** It made room for a request of a client with far less waiting. */
  | 'displaced'
  /** The broker closed first. */
  | 'drained';

/** Why a reply, or part of one, did not reach its client. */
export type MdpReplyLoss =
  /** The client is gone, or reads too slowly for its queue. */
  | 'reply-undeliverable'
  /** `bridge`: the collected parts exceed the message limits. */
  | 'reply-too-large';

/** Why a message was dropped. */
export type MdpMessageDrop =
  | MdpMalformedReason
  | RejectReason
  /** It is valid, but not in the version its sender registered with. */
  | 'wrong-version'
  /** A valid worker command at the wrong time. */
  | 'unexpected'
  /** A worker command from a peer that is not registered. */
  | 'unknown-worker'
  /** READY for a name under `mmi.`. */
  | 'reserved-service'
  /** A worker command from a peer whose key may not serve that service. */
  | 'not-allowed'
  /** READY beyond a limit. */
  | 'services-limit'
  | 'workers-limit'
  | 'registrations-limit';

/** All reasons for dropping something: the labels of the drop counters. */
export type MdpDropReason = MdpMessageDrop | MdpRefusal | MdpRequestLoss | MdpReplyLoss;

/**
 * A note for the log. At most one per reason and peer per minute; the counters include every occurrence. `peer` is the sender of a dropped
 * message, or the client of a dropped request or reply.
 */
export type MdpBrokerNote =
  | DropNote<'message-dropped', MdpMessageDrop, { readonly peer: Peer }>
  | DropNote<'request-dropped', MdpRefusal | MdpRequestLoss, AtService>
  | DropNote<'reply-dropped', MdpReplyLoss, AtService>
  /** Rule 23. */
  | SpacingNote<AtService>
  | LateNote;

/** A peer, and the service it serves or has asked for. */
interface AtService {
  readonly peer: Peer;
  readonly service: string;
}

/** A worker has registered. */
export interface MdpWorkerReadyNotice extends AtService {
  readonly kind: 'worker-ready';
  readonly version: MdpVersion;
}

/** A worker is no longer registered. */
export interface MdpWorkerLostNotice extends AtService {
  readonly kind: 'worker-lost';
  readonly version: MdpVersion;
  readonly reason: MdpWorkerLoss;
}

/** Effects of a broker. */
export type MdpBrokerEffect =
  | { readonly kind: 'send'; readonly peer: Peer; readonly command: MdpFromBroker }
  /** The engine no longer needs a long body that it received; a send already under way may. */
  | { readonly kind: 'release'; readonly body: MdpBody }
  /** Starts a handler inside the broker; an event reports its end. The handler keeps the body. */
  | {
      readonly kind: 'run';
      readonly run: number;
      readonly service: number;
      /** The client, and its version. */
      readonly client: Peer;
      readonly version: MdpVersion;
      readonly body: MdpBody;
    }
  /** Nobody waits for this handler any more: its client has gone, or the broker is closing. */
  | { readonly kind: 'cancel'; readonly run: number; readonly reason: 'client-gone' | 'drained' }
  | MdpWorkerReadyNotice
  | MdpWorkerLostNotice
  | MdpBrokerNote
  /** Nothing more will be sent; further events are ignored. */
  | { readonly kind: 'drained' };

/** A pool's events. The driver adds timer events. */
export type MdpPoolEvent =
  | Exclude<MdpBrokerEvent, MdpOwnEvent>
  /** A call of the process. Ids are never reused, not even by a restarted pool. */
  | {
      readonly kind: 'request';
      readonly id: number;
      readonly service: string;
      readonly body: MdpBody;
      /** Of silence: each partial reply restarts it. */
      readonly timeoutMs: number;
    }
  /** The process no longer wants the reply. */
  | { readonly kind: 'abort'; readonly id: number };

/** Why a call failed. `expired`: silence for its timeout. */
export type MdpCallFailure = MdpRefusal | MdpRequestLoss | 'expired';

/** Effects of a pool. Each call that is not aborted has any number of `partial`, then one `answer` or one `fail`. */
export type MdpPoolEffect =
  | {
      readonly kind: 'send';
      readonly peer: Peer;
      readonly command: MdpWorkerRequest | MdpHeartbeat | MdpDisconnect;
    }
  | { readonly kind: 'partial'; readonly id: number; readonly body: MdpBody }
  | { readonly kind: 'answer'; readonly id: number; readonly body: MdpBody }
  | { readonly kind: 'fail'; readonly id: number; readonly reason: MdpCallFailure }
  | MdpWorkerReadyNotice
  | MdpWorkerLostNotice
  | MdpBrokerNote
  /** Nothing more will be sent; further events are ignored. */
  | { readonly kind: 'drained' };
