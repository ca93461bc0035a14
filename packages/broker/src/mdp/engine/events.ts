/** What the Majordomo broker engine is told and what it says: the vocabulary between `engine.ts` and `broker.ts`. */
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
import type { Access, Peer, RejectReason, UndeliverableReason } from '@proj/transport';
import type { OwnServiceSpec } from './own-services.js';

/** A fact reported to the engine. Timer events come from the driver. */
export type MdpBrokerEvent =
  | { readonly kind: 'message'; readonly peer: Peer; readonly command: MdpToBroker }
  /** The peer's connection ended. */
  | { readonly kind: 'peer-gone'; readonly peer: Peer }
  /** A command of an earlier `send` did not reach the peer. */
  | {
      readonly kind: 'undeliverable';
      readonly peer: Peer;
      readonly command: MdpCommand;
      readonly reason: UndeliverableReason;
    }
  /** A message over the socket's limits was dropped undecoded. */
  | { readonly kind: 'rejected'; readonly peer: Peer; readonly reason: RejectReason }
  | MdpOwnEvent
  /** Who may do what from now on: see rule 28. */
  | { readonly kind: 'access'; readonly access: Access }
  /** The process has no room for what would have to wait, or has again: see rule 18. */
  | { readonly kind: 'memory'; readonly isTight: boolean }
  /** Come to an end: see rule 24. */
  | { readonly kind: 'drain' };

/** What the process itself says: of its services inside the broker (rule 29), and of what it asks. A run that the engine does not know any more is ignored. */
export type MdpOwnEvent =
  /** The process asks, in the name of a peer that is none of the socket's: a pool. Rights are no matter then. */
  | { readonly kind: 'own-request'; readonly peer: Peer; readonly command: MdpClientRequest }
  /** These can be asked for from now on. None of them is served under its name already, or reserved. */
  | { readonly kind: 'serve'; readonly services: readonly OwnServiceSpec[] }
  /** It takes no more requests. */
  | { readonly kind: 'withdraw'; readonly service: number }
  /** A handler has given a partial reply. Only for clients that speak 0.2. */
  | { readonly kind: 'own-partial'; readonly run: number; readonly body: MdpBody }
  /** It has ended with this reply. */
  | { readonly kind: 'own-final'; readonly run: number; readonly body: MdpBody }
  /** It has ended without a reply. */
  | { readonly kind: 'own-failed'; readonly run: number };

/** Everything a broker sends. */
export type MdpFromBroker = MdpClientReply | MdpWorkerRequest | MdpHeartbeat | MdpDisconnect;

/** Why a worker is no longer registered. */
export type MdpWorkerLoss =
  /** Silent for too long. */
  | 'expired'
  /** It said DISCONNECT. */
  | 'disconnected'
  /** Its connection ended. */
  | 'gone'
  /** A message to it did not go out. */
  | UndeliverableReason
  /** It sent something that is no message, or one over the limits. */
  | 'invalid'
  /** It sent a valid command that it had no right to send. */
  | 'unexpected'
  /** The rules of access do not let it serve any more. */
  | 'not-allowed'
  /** The broker is closing. */
  | 'drained';

/** Why a request was not accepted. */
export type MdpRefusal =
  'draining' | 'not-allowed' | 'service-invalid' | 'services-limit' | 'client-limit' | 'queue-full' | 'memory';

/** Why an accepted request will not be answered. */
export type MdpRequestLoss =
  /** Its service had no worker for `requestTtlMs`. */
  | 'expired-unserved'
  /** All workers were busy for `busyTtlMs`. */
  | 'expired-busy'
  /** Its client left while it waited. */
  | 'client-gone'
  /** It was lost with `maxAttempts` workers. */
  | 'attempts-exhausted'
  /** Its worker was lost when the client had had a part of the reply. */
  | 'lost-after-partial'
  /** The broker closed first. */
  | 'drained';

/** Why (a part of) a reply did not get to its client. */
export type MdpReplyLoss =
  /** The client is gone, or reads too slowly for its queue. */
  | 'reply-undeliverable'
  /** `bridge`: the collected parts exceed the message limits. */
  | 'reply-too-large';

/** Why a message was dropped without a further look. */
export type MdpMessageDrop =
  | MdpMalformedReason
  | RejectReason
  /** Decodes, but in the other version than its sender registered with. */
  | 'wrong-version'
  /** A valid worker command at the wrong time. */
  | 'unexpected'
  /** A worker command from a peer that is not registered. */
  | 'unknown-worker'
  /** READY for a name under `mmi.`. */
  | 'reserved-service'
  /** A worker command from somebody who may not serve that service. */
  | 'not-allowed'
  /** READY over a limit. */
  | 'services-limit'
  | 'workers-limit'
  /** READY of a worker for which nothing waits, while the process has no room. */
  | 'memory';

/** Any reason for which something was dropped: the labels of the drop counters. */
export type MdpDropReason = MdpMessageDrop | MdpRefusal | MdpRequestLoss | MdpReplyLoss;

/**
 * Something worth a log line. At most one per reason and peer per minute; the counters hold every occurrence.
 * `peer` is the sender of a dropped message, the client of a dropped request or reply.
 */
export type MdpBrokerNote =
  | { readonly kind: 'note'; readonly code: 'message-dropped'; readonly reason: MdpMessageDrop; readonly peer: Peer }
  | {
      readonly kind: 'note';
      readonly code: 'request-dropped';
      readonly reason: MdpRefusal | MdpRequestLoss;
      readonly peer: Peer;
      readonly service: string;
    }
  | {
      readonly kind: 'note';
      readonly code: 'reply-dropped';
      readonly reason: MdpReplyLoss;
      readonly peer: Peer;
      readonly service: string;
    }
  /** Rule 23: a live worker is silent for more than half its expiry; the two sides' intervals may not fit. Once per worker. */
  | {
      readonly kind: 'note';
      readonly code: 'spacing-hint';
      readonly peer: Peer;
      readonly service: string;
      readonly silentMs: number;
      readonly expiryMs: number;
    }
  /** This process could not keep up for longer than a heartbeat interval; expiry was put off by as much. */
  | { readonly kind: 'note'; readonly code: 'running-late'; readonly lateMs: number };

/** A worker has registered. */
export interface MdpWorkerReadyNotice {
  readonly kind: 'worker-ready';
  readonly peer: Peer;
  readonly service: string;
  readonly version: MdpVersion;
}

/** A worker is no longer registered. */
export interface MdpWorkerLostNotice {
  readonly kind: 'worker-lost';
  readonly peer: Peer;
  readonly service: string;
  readonly version: MdpVersion;
  readonly reason: MdpWorkerLoss;
}

/** What the world is to do, or to know, after a step. */
export type MdpBrokerEffect =
  | { readonly kind: 'send'; readonly peer: Peer; readonly command: MdpFromBroker }
  /** A body that came in is needed no more, but by what is being sent. Only of long ones. */
  | { readonly kind: 'release'; readonly body: MdpBody }
  /** Start a handler of a service inside the broker; its end is an event. The body is the handler's for good. */
  | {
      readonly kind: 'run';
      readonly run: number;
      readonly service: number;
      /** Who has asked, and in which version. */
      readonly client: Peer;
      readonly version: MdpVersion;
      readonly body: MdpBody;
    }
  /** Nobody waits for this handler any more: its client is gone, or the broker has come to its end. */
  | { readonly kind: 'cancel'; readonly run: number; readonly reason: 'client-gone' | 'drained' }
  | MdpWorkerReadyNotice
  | MdpWorkerLostNotice
  | MdpBrokerNote
  /** Nothing more will be sent; further events are ignored. */
  | { readonly kind: 'drained' };
