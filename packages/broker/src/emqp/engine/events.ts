/** EventMQ broker: the engine's events and effects, shared by `engine.ts` and `broker.ts`. */
import type {
  EmqpAccepted,
  EmqpAck,
  EmqpAdminReply,
  EmqpBye,
  EmqpHeartbeat,
  EmqpRequest,
  EmqpResult,
  EmqpScheduling,
  EmqpToAdminPort,
  EmqpToBroker,
} from '@proj/frames/emqp';
import type { Peer, UndeliverableReason } from '@proj/transport';
import type { DropNote, ControlEvent, LateNote, Rejected, SpacingNote, Undeliverable } from '../../shared/events.js';
import type { EmqpMessageDrop, EmqpRefusal, EmqpReplyLoss, EmqpRequestLoss } from './counters.js';
import type { EmqpKeptJob } from './guarantee/records.js';

/** The two ports with the same commands: clients and schedulers usually use the frontend, workers the backend. */
export type EmqpPort = 'frontend' | 'backend';

/** A peer at one of the ports. The same routing id at another port is another peer. */
export interface EmqpParty {
  readonly port: EmqpPort | 'admin';
  readonly peer: Peer;
}

/** The engine's events. Timer events come from the driver. */
export type EmqpBrokerEvent =
  | { readonly kind: 'message'; readonly port: EmqpPort; readonly peer: Peer; readonly command: EmqpToBroker }
  | { readonly kind: 'admin'; readonly peer: Peer; readonly command: EmqpToAdminPort }
  /** The peer's connection ended. */
  | { readonly kind: 'peer-gone'; readonly port: EmqpPort; readonly peer: Peer }
  | Undeliverable<{ readonly port: EmqpPort; readonly peer: Peer; readonly command: EmqpFromBroker }>
  | Rejected<EmqpParty>
  /** Guaranteed jobs found in the store, in order: rule 35. */
  | { readonly kind: 'restore'; readonly jobs: readonly EmqpKeptJob[] }
  /** The write of an earlier `store` has ended. `error`: why it failed completely. */
  | { readonly kind: 'stored'; readonly write: number; readonly error: string | undefined }
  /** An operator ends these workers and schedulers, at once or when their jobs have ended: rule 37. */
  | ({ readonly kind: 'dismiss'; readonly isGraceful: boolean } & EmqpWorkerChoice)
  /** From now on the queue is paused, or no longer: rule 38. */
  | { readonly kind: 'pause'; readonly queue: string; readonly isPaused: boolean }
  /** All waiting jobs of the queue are given up: rule 39. */
  | { readonly kind: 'purge'; readonly queue: string }
  /** Rules 15, 27 and 33. */
  | ControlEvent;

/** An operator's choice of peers: one by its routing id, as text or in hex, or all workers of a queue. */
export type EmqpWorkerChoice = { readonly worker: string } | { readonly queue: string };

/** Everything a broker sends. */
export type EmqpFromBroker =
  | EmqpAck
  | EmqpHeartbeat
  | EmqpRequest
  | EmqpAccepted
  | EmqpResult
  | EmqpScheduling
  | EmqpBye
  | EmqpAdminReply;

/** The role of a registered peer. */
export type EmqpRole = 'worker' | 'scheduler';

/** Why a worker or scheduler is no longer registered. */
export type EmqpPeerLoss =
  /** It was silent too long. */
  | 'expired'
  /** It said KBYE or KBAI. */
  | 'bye'
  /** It said INFORM again: a new conversation. */
  | 'informed-again'
  /** Its connection ended. */
  | 'gone'
  /** A message to it could not be delivered. */
  | UndeliverableReason
  /** An operator ended it. */
  | 'dismissed'
  /** The access rules no longer let it serve. */
  | 'not-allowed'
  /** The broker is closing. */
  | 'drained';

export type { EmqpDropReason } from './counters.js';

/**
 * A note for the log. At most one per reason and peer per minute; the counters include every occurrence. `port` and `peer` are those of the
 * sender of a dropped message, or of the client of a dropped request or reply.
 */
export type EmqpBrokerNote =
  | DropNote<'message-dropped', EmqpMessageDrop, EmqpParty>
  | DropNote<'request-dropped', EmqpRefusal | EmqpRequestLoss, EmqpParty & { readonly queue: string }>
  | DropNote<'reply-dropped', EmqpReplyLoss, EmqpParty>
  | SpacingNote<EmqpParty>
  /** Guaranteed jobs were found in the store. */
  | { readonly kind: 'note'; readonly code: 'jobs-restored'; readonly jobs: number }
  /** A write to the store failed: new jobs are refused, other changes are retried. Once per cause and minute. */
  | { readonly kind: 'note'; readonly code: 'store-failed'; readonly error: string }
  | LateNote;

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

/** An atomic write to the store, answered by `stored`. One at a time. */
export interface EmqpStoreEffect {
  readonly kind: 'store';
  readonly write: number;
  readonly puts: readonly (readonly [key: string, value: Uint8Array])[];
  readonly removes: readonly string[];
}

/** What to do or report after a step. */
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
