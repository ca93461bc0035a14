/** PZQ: the queue engine's events, effects and notes. */
import type {
  PzqDelivery,
  PzqFromConsumer,
  PzqFromMonitor,
  PzqFromProducer,
  PzqMalformedReason,
  PzqMonitorReply,
  PzqProducerAck,
} from '@proj/frames/pzq';
import type { Access, Peer, RejectReason, UndeliverableReason } from '@proj/transport';
import type {
  Batch,
  Committed,
  DeadMessage,
  DeathReason,
  DueMessages,
  OpenedStore,
  QueueStore,
  Removal,
  StoredMessage,
} from '../store/store.js';

/** Where messages leave: the queue itself, or the endpoint for dead letters. */
export type PzqOutletName = 'queue' | 'dead-letters';

/** Where messages arrive from peers. */
export type PzqSocket = 'receive' | 'monitor' | PzqOutletName;

/** The state of the opened store. */
export interface PzqStoreInfo extends OpenedStore, Pick<QueueStore, 'name'> {
  /** Several servers use it: messages are leased instead of scanned. */
  readonly shared: boolean;
}

/** How the store failed. */
export interface PzqStoreFailure {
  readonly code: string;
  /** In the store's words. */
  readonly what?: string;
}

/**
 * A fact reported to the engine. Exactly one event answers each effect that requests something: `committed` or `commit-failed` answers `commit`,
 * `delivered` or `blocked` answers `deliver`, and so on. `code` is that of the store's error, such as `ENOSPC`. `CORRUPT` means that the store
 * must no longer be used; `what` says why.
 */
export type PzqEvent =
  /** The sockets are up. Once, first. */
  | { readonly kind: 'start' }
  /** From a producer. `acksWaiting`: answers that the socket still holds because the producer does not read. */
  | { readonly kind: 'produce'; readonly peer: Peer; readonly command: PzqFromProducer; readonly acksWaiting: number }
  /** The answer of an earlier `send-ack` was not delivered, nor were `others` behind it; default 0. */
  | {
      readonly kind: 'ack-undeliverable';
      readonly peer: Peer;
      readonly reason: UndeliverableReason;
      readonly others?: number;
    }
  /** From a consumer; `peer` if the transport reports it. */
  | {
      readonly kind: 'consumer';
      readonly outlet: PzqOutletName;
      readonly peer?: Peer;
      readonly command: PzqFromConsumer;
    }
  /** A message over a socket's limits was dropped undecoded. */
  | { readonly kind: 'rejected'; readonly socket: PzqSocket; readonly peer: Peer; readonly reason: RejectReason }
  /** The socket has taken the delivery: its lease begins. `peer`: the consumer, if the transport reports it. */
  | { readonly kind: 'delivered'; readonly outlet: PzqOutletName; readonly peer?: Peer }
  /** A consumer has connected or disconnected, if the transport distinguishes them. */
  | { readonly kind: 'consumer-came' | 'consumer-gone'; readonly outlet: PzqOutletName; readonly peer: Peer }
  /** No consumer took it in time. */
  | { readonly kind: 'blocked'; readonly outlet: PzqOutletName }
  | { readonly kind: 'committed'; readonly result: Committed }
  | ({ readonly kind: 'commit-failed' } & PzqStoreFailure)
  | {
      readonly kind: 'loaded';
      readonly outlet: PzqOutletName;
      readonly messages: readonly (StoredMessage | DeadMessage)[];
    }
  | ({ readonly kind: 'load-failed'; readonly outlet: PzqOutletName } & PzqStoreFailure)
  | { readonly kind: 'due'; readonly messages: DueMessages }
  | ({ readonly kind: 'due-failed' } & PzqStoreFailure)
  | { readonly kind: 'taken'; readonly messages: readonly StoredMessage[] }
  | ({ readonly kind: 'take-failed' } & PzqStoreFailure)
  | { readonly kind: 'probed' }
  | ({ readonly kind: 'probe-failed' } & PzqStoreFailure)
  | { readonly kind: 'monitor'; readonly peer: Peer; readonly command: PzqFromMonitor }
  /** Returns dead letters to the queue; `done` with this id answers. */
  | { readonly kind: 'revive'; readonly id: number; readonly seqs: readonly number[] }
  /** Removes dead letters; `done` with this id answers. */
  | { readonly kind: 'discard'; readonly id: number; readonly letters: readonly Removal[] }
  /** Rule 40: consumers get no messages of the queue from now on, or get them again. */
  | { readonly kind: 'pause'; readonly isPaused: boolean }
  /** Rule 41: removes all ready messages; `done` with this id answers. */
  | { readonly kind: 'purge'; readonly id: number }
  /** Rule 42: these consumers get nothing more. `consumer`: a routing id, as text or in hex. */
  | { readonly kind: 'dismiss'; readonly consumer: string }
  /** Rule 39: the access rules, and the queue's name in them. */
  | { readonly kind: 'access'; readonly access: Access; readonly name: string }
  /** Rule 18: the process is out of memory, or has room again. */
  | { readonly kind: 'memory'; readonly isTight: boolean }
  /** Rule 19: finish. */
  | { readonly kind: 'drain' };

/** Why a producer's message is answered `0`. Counter labels; the sentences are in `output.ts`. */
export type PzqRefusal =
  | 'not-allowed'
  | 'no-delimiter'
  | 'no-body'
  | 'queue-full-messages'
  | 'queue-full-bytes'
  | 'too-large'
  | 'too-many-parts'
  | 'invalid-header'
  | 'store-unavailable'
  | 'draining';

/** Why a message was dropped without an answer. */
export type PzqMessageDrop =
  | PzqMalformedReason
  | RejectReason
  /** Rule 4: its producer leaves too many answers unread. */
  | 'producer-stalled'
  /** At the monitor: the rules of `access` do not allow it. */
  | 'not-allowed'
  /** From a consumer: the key of another store, or of a message that this one does not hold. */
  | 'key-unknown'
  /** From a consumer: only a key while `extendLease` is off, or for a message that is not in flight. */
  | 'extension-ignored';

/** Why something was dropped or rejected: the labels of the drop counters. */
export type PzqDropReason = PzqMessageDrop | PzqRefusal | 'ack-undeliverable';

/** A note for the log. If peers can cause it, at most one per reason, peer and minute; the counters include every occurrence. */
export type PzqNote =
  | {
      readonly kind: 'note';
      readonly code: 'message-dropped';
      readonly reason: PzqMessageDrop;
      readonly socket: PzqSocket;
      /** Absent if the socket does not distinguish consumers. */
      readonly peer?: Peer;
    }
  | { readonly kind: 'note'; readonly code: 'message-refused'; readonly reason: PzqRefusal; readonly peer: Peer }
  | {
      readonly kind: 'note';
      readonly code: 'ack-undeliverable';
      readonly reason: UndeliverableReason;
      readonly peer: Peer;
    }
  /** A read from the store failed; it will be retried. */
  | { readonly kind: 'note'; readonly code: 'read-failed'; readonly reason: string }
  /** There are `deadLettersMax` dead letters: further messages stay in the queue. */
  | { readonly kind: 'note'; readonly code: 'dead-letters-full' }
  /** Our process could not keep up; leases were extended by as much. */
  | { readonly kind: 'note'; readonly code: 'running-late'; readonly lateMs: number };

/**
 * Rule 9: the store accepts no messages, so producers are rejected until it does. If it keeps failing and recovering, reported at most once a
 * minute, with the `resumed` that follows.
 */
export interface PzqRefusingNotice {
  readonly kind: 'refusing';
  readonly code: string;
}

/** The store accepts messages again. */
export interface PzqResumedNotice {
  readonly kind: 'resumed';
}

/** Rule 9: the store is damaged. It is no longer read or written, and producers are rejected. Reported once. */
export interface PzqCorruptNotice {
  readonly kind: 'corrupt';
  /** What was found, and what to do. */
  readonly what: string;
}

/** A message has become a dead letter. */
export interface PzqDeadLetterNotice {
  readonly kind: 'dead-letter';
  readonly seq: number;
  readonly reason: DeathReason;
}

/** What to do or report after a step. */
export type PzqEffect =
  /** To the producer, after earlier answers; never dropped below `producerAckMax`. */
  | { readonly kind: 'send-ack'; readonly peer: Peer; readonly command: PzqProducerAck }
  /** Offer this message to the consumers once; one at a time per outlet. */
  | { readonly kind: 'deliver'; readonly outlet: PzqOutletName; readonly command: PzqDelivery }
  /** While it is held, this consumer gets nothing and others take its turns. No answer. */
  | { readonly kind: 'hold'; readonly outlet: PzqOutletName; readonly peer: Peer; readonly held: boolean }
  /** One at a time. */
  | { readonly kind: 'commit'; readonly batch: Batch }
  /** `scan` of the store, or `dead` for dead letters; one at a time per outlet. */
  | {
      readonly kind: 'load';
      readonly outlet: PzqOutletName;
      readonly after: number;
      readonly limit: number;
      readonly maxBytes: number;
    }
  | { readonly kind: 'due'; readonly nowMicros: number; readonly limit: number }
  | { readonly kind: 'take'; readonly limit: number; readonly maxBytes: number; readonly leaseMs: number }
  /** No answer: if it fails, the lease expires by itself. */
  | { readonly kind: 'release'; readonly seqs: readonly number[]; readonly delayMs: number }
  /** No answer. */
  | { readonly kind: 'extend'; readonly seqs: readonly number[]; readonly leaseMs: number }
  | { readonly kind: 'probe' }
  | { readonly kind: 'monitor-reply'; readonly peer: Peer; readonly command: PzqMonitorReply }
  /** The request with this id is durable, or failed with the store's code. `count`: number of messages that a purge removed. */
  | { readonly kind: 'done'; readonly id: number; readonly code?: string; readonly count?: number }
  | PzqRefusingNotice
  | PzqResumedNotice
  | PzqCorruptNotice
  | PzqDeadLetterNotice
  | PzqNote
  /** The engine has ended and ignores further events. Queued answers to producers are still sent. */
  | { readonly kind: 'drained' };

/** Running totals since construction. */
export interface PzqCounters {
  /** Messages stored and acknowledged `1`. */
  stored: number;
  /** Acknowledged `1` without a second copy. */
  deduplicated: number;
  /** Messages answered `0`; also in `dropped` by reason. */
  refused: number;
  /** Deliveries that the socket has taken, including repeated ones. */
  delivered: number;
  /** Repeated deliveries among them, as far as this process knows. */
  redelivered: number;
  /** Positive acknowledgements of messages that the queue held. */
  acked: number;
  /** Those among them for messages that were no longer in flight. */
  ackedLate: number;
  /** Negative acknowledgements that returned a message. */
  nacked: number;
  /** Leases that ran out. */
  timedOut: number;
  /** Leases that consumers extended. */
  extended: number;
  /** Expired messages. */
  expired: number;
  /** Messages removed by an operator. */
  purged: number;
  /** Messages that became dead letters. */
  buried: number;
  /** Dead letters that were returned to the queue. */
  revived: number;
  /** Completed group commits. */
  commits: number;
  commitsFailed: number;
  /** Header frames of producers, which are dropped unless `headers` is on. */
  headersDropped: number;
  monitorReplies: number;
  /** Notes withheld because the same note had been sent within the minute. */
  notesWithheld: number;
  /** Everything dropped or rejected, by reason. */
  readonly dropped: Record<PzqDropReason, number>;
}

/** A snapshot: current sizes, totals so far. */
export interface PzqStats {
  readonly counters: Readonly<PzqCounters>;
  /** Everything in the queue: ready, delayed and in flight. As of the last commit. */
  readonly messages: number;
  /** Bytes of their bodies. */
  readonly bytes: number;
  /** Delivered and unanswered. */
  readonly inFlight: number;
  readonly inFlightBytes: number;
  /** Waiting for a consumer, in memory or in the store. */
  readonly ready: number;
  /** Not ready yet: delayed by their producer, or resting after a negative acknowledgement. */
  readonly delayed: number;
  readonly dead: number;
  /** Bytes of the store on disk. */
  readonly storeBytes: number;
  /** Ready messages in memory. */
  readonly window: number;
  /** Producers' messages waiting for a commit and their answer. */
  readonly producerAcksPending: number;
  readonly store: 'memory' | 'lmdb' | 'postgres';
  /** `refusing`: it accepts no messages now; `corrupt`: it is damaged and no longer used. */
  readonly storeState: 'ok' | 'refusing' | 'corrupt';
}
