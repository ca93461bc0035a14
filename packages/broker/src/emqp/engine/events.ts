/** What the EventMQ broker engine is told and what it says: the vocabulary between `engine.ts` and `broker.ts`. */
import type {
  EmqpAccepted,
  EmqpAck,
  EmqpAdminReply,
  EmqpBye,
  EmqpHeartbeat,
  EmqpMalformedReason,
  EmqpRequest,
  EmqpResult,
  EmqpScheduling,
  EmqpToAdminPort,
  EmqpToBroker,
} from '@proj/frames/emqp';
import type { EmqpKeptJob } from './records.js';
import type { Access, Peer, RejectReason, UndeliverableReason } from '@proj/transport';

/** The ports that understand the same: clients and schedulers usually use the one, workers the other. */
export type EmqpPort = 'frontend' | 'backend';

/** Somebody at one of the ports. The same routing id at another port is somebody else. */
export interface EmqpParty {
  readonly port: EmqpPort | 'admin';
  readonly peer: Peer;
}

/** A fact reported to the engine. Timer events come from the driver. */
export type EmqpBrokerEvent =
  | { readonly kind: 'message'; readonly port: EmqpPort; readonly peer: Peer; readonly command: EmqpToBroker }
  | { readonly kind: 'admin'; readonly peer: Peer; readonly command: EmqpToAdminPort }
  /** The peer's connection ended. */
  | { readonly kind: 'peer-gone'; readonly port: EmqpPort; readonly peer: Peer }
  /** A command of an earlier `send` did not reach the peer. */
  | {
      readonly kind: 'undeliverable';
      readonly port: EmqpPort;
      readonly peer: Peer;
      readonly command: EmqpFromBroker;
      readonly reason: UndeliverableReason;
    }
  /** A message over the socket's limits was dropped undecoded. */
  | {
      readonly kind: 'rejected';
      readonly port: EmqpPort | 'admin';
      readonly peer: Peer;
      readonly reason: RejectReason;
    }
  /** Who may do what from now on: see rule 33. */
  | { readonly kind: 'access'; readonly access: Access }
  /** The process has no room for what would have to wait, or has again: see rule 15. */
  | { readonly kind: 'memory'; readonly isTight: boolean }
  /** Guaranteed jobs of an earlier life, in their order: see rule 35. */
  | { readonly kind: 'restore'; readonly jobs: readonly EmqpKeptJob[] }
  /** The write of an earlier `store` has ended. `error`: nothing of it was kept, and why. */
  | { readonly kind: 'stored'; readonly write: number; readonly error: string | undefined }
  /** Come to an end: see rule 27. */
  | { readonly kind: 'drain' };

/** Everything a broker sends. */
export type EmqpFromBroker =
  EmqpAck | EmqpHeartbeat | EmqpRequest | EmqpAccepted | EmqpResult | EmqpScheduling | EmqpBye | EmqpAdminReply;

/** What a registered peer is. */
export type EmqpRole = 'worker' | 'scheduler';

/** Why a worker or scheduler is no longer registered. */
export type EmqpPeerLoss =
  /** Silent for too long. */
  | 'expired'
  /** It said KBYE or KBAI. */
  | 'bye'
  /** It said INFORM again: a new conversation. */
  | 'informed-again'
  /** Its connection ended. */
  | 'gone'
  /** A message to it did not go out. */
  | UndeliverableReason
  /** The rules of access do not let it serve any more. */
  | 'not-allowed'
  /** The broker is closing. */
  | 'drained';

/** Why a message was dropped without a further look. */
export type EmqpMessageDrop =
  | EmqpMalformedReason
  | RejectReason
  /** READY, HEARTBEAT or REPLY from somebody who is not registered. */
  | 'unknown-peer'
  /** READY or REPLY from a scheduler. */
  | 'unexpected'
  /** REPLY to a job that this worker does not have, or has no more. */
  | 'reply-unknown'
  /** REPLY that does not say to which of several jobs. */
  | 'reply-ambiguous'
  /** READY beyond 100,000 slots of one worker. */
  | 'slots-capped'
  /** INFORM over a limit. */
  | 'queues-limit'
  | 'peers-limit'
  /** INFORM while the broker stops. */
  | 'stopping'
  /** DISCONNECT from somebody who may not stop the broker. */
  | 'disconnect-refused'
  /** The rules of access do not let its sender do that. */
  | 'not-allowed'
  /** SCHEDULE or UNSCHEDULE whose body names no job. */
  | 'job-invalid'
  /** SCHEDULE or UNSCHEDULE while there is no scheduler. */
  | 'no-scheduler'
  /** PUBLISH to a broker without a pub-sub device. */
  | 'publish-unserved';

/** Why a request was not taken. */
export type EmqpRefusal =
  | 'draining'
  | 'not-allowed'
  | 'queue-full'
  /** The process has no room for what would have to wait. */
  | 'memory'
  /** It is guaranteed, and the store could not take it. */
  | 'store-failed';

/** Why a request that was taken will not be done, or not for certain. */
export type EmqpRequestLoss =
  /** Its worker died, or its process; it was not guaranteed, and `retry-count` is used up. */
  | 'jobs-lost'
  /** It was lost with `guaranteeAttempts` workers. */
  | 'guarantee-exhausted'
  /** The broker closed first. */
  | 'drained';

/** Why a reply did not get to its client. */
export type EmqpReplyLoss =
  /** The client is gone, or reads too slowly for its queue. */
  | 'reply-undeliverable'
  /** The result took longer than `resultRouteTtlMs`. */
  | 'result-expired'
  /** More than `resultRouteMax` results were awaited. */
  | 'result-evicted';

/** Any reason for which something was dropped: the labels of the drop counters. */
export type EmqpDropReason = EmqpMessageDrop | EmqpRefusal | EmqpRequestLoss | EmqpReplyLoss;

/**
 * Something worth a log line. At most one per reason and peer per minute; the counters hold every occurrence. `port` and
 * `peer` are the sender's of a dropped message, the client's of a dropped request or reply.
 */
export type EmqpBrokerNote =
  | (EmqpParty & { readonly kind: 'note'; readonly code: 'message-dropped'; readonly reason: EmqpMessageDrop })
  | (EmqpParty & {
      readonly kind: 'note';
      readonly code: 'request-dropped';
      readonly reason: EmqpRefusal | EmqpRequestLoss;
      readonly queue: string;
    })
  | (EmqpParty & { readonly kind: 'note'; readonly code: 'reply-dropped'; readonly reason: EmqpReplyLoss })
  /** A live peer is silent for more than half its expiry; the two sides' intervals may not fit. Once per peer. */
  | (EmqpParty & {
      readonly kind: 'note';
      readonly code: 'spacing-hint';
      readonly silentMs: number;
      readonly expiryMs: number;
    })
  /** Guaranteed jobs of an earlier life were found in the store. */
  | { readonly kind: 'note'; readonly code: 'jobs-restored'; readonly jobs: number }
  /** A write to the store failed; what was new is refused, the rest is written again. Once per cause and minute. */
  | { readonly kind: 'note'; readonly code: 'store-failed'; readonly error: string }
  /** This process could not keep up for longer than a heartbeat interval; expiry was put off by as much. */
  | { readonly kind: 'note'; readonly code: 'running-late'; readonly lateMs: number };

/** A worker or scheduler has registered. */
export interface EmqpPeerJoinedNotice extends EmqpParty {
  readonly kind: 'peer-joined';
  readonly role: EmqpRole;
}

/** A worker or scheduler is no longer registered. */
export interface EmqpPeerLeftNotice extends EmqpParty {
  readonly kind: 'peer-left';
  readonly role: EmqpRole;
  readonly reason: EmqpPeerLoss;
}

/** Writes to the store, all of it or nothing; answered by `stored`. One at a time. */
export interface EmqpStoreEffect {
  readonly kind: 'store';
  readonly write: number;
  readonly puts: readonly (readonly [key: string, value: Uint8Array])[];
  readonly removes: readonly string[];
}

/** What the world is to do, or to know, after a step. */
export type EmqpBrokerEffect =
  | (EmqpParty & { readonly kind: 'send'; readonly command: EmqpFromBroker })
  | EmqpPeerJoinedNotice
  | EmqpPeerLeftNotice
  | EmqpBrokerNote
  | EmqpStoreEffect
  /** For the pub-sub device. */
  | { readonly kind: 'publish'; readonly topic: Uint8Array; readonly body: Uint8Array }
  /** Nothing more will be sent; further events are ignored. */
  | { readonly kind: 'drained' };
