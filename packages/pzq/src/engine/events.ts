/** What the PZQ engine is told and what it says: the vocabulary between `engine.ts` and the server that performs it. */
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

/** The store as the engine finds it: a store that is open. */
export interface PzqStoreInfo extends OpenedStore, Pick<QueueStore, 'name'> {
  /** Several servers use it: messages are taken with a lease instead of being scanned. */
  readonly shared: boolean;
}

/** How the store has failed. */
export interface PzqStoreFailure {
  readonly code: string;
  /** In the store's words. */
  readonly what?: string;
}

/**
 * A fact reported to the engine. Timer events come from the driver.
 *
 * Each effect that asks for something is answered by exactly one event: `commit` by `committed` or `commit-failed`, `deliver`
 * by `delivered` or `blocked`, and so on. `code` is that of the store's error, such as `ENOSPC`; `CORRUPT` means that the store is not
 * to be used any more, and `what` says why.
 */
export type PzqEvent =
  /** The sockets are up. Once, first. */
  | { readonly kind: 'start' }
  /** From a producer. `acksWaiting`: answers to it that the socket still holds, since it does not read. */
  | { readonly kind: 'produce'; readonly peer: Peer; readonly command: PzqFromProducer; readonly acksWaiting: number }
  /** An answer of an earlier `send-ack` did not reach its producer. */
  | { readonly kind: 'ack-undeliverable'; readonly peer: Peer; readonly reason: UndeliverableReason }
  /** From a consumer. */
  | { readonly kind: 'consumer'; readonly outlet: PzqOutletName; readonly command: PzqFromConsumer }
  /** A message over a socket's limits was dropped undecoded. */
  | { readonly kind: 'rejected'; readonly socket: PzqSocket; readonly peer: Peer; readonly reason: RejectReason }
  /** The socket has taken the delivery over: its lease begins. `peer`: whom it is for, where the transport tells. */
  | { readonly kind: 'delivered'; readonly outlet: PzqOutletName; readonly peer?: Peer }
  /** A consumer has connected, or its connection has ended, where the transport tells them apart. */
  | { readonly kind: 'consumer-came' | 'consumer-gone'; readonly outlet: PzqOutletName; readonly peer: Peer }
  /** No consumer had room for it within the socket's patience, or there is none. */
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
  /** Dead letters back to the queue; answered by `done` with this id. */
  | { readonly kind: 'revive'; readonly id: number; readonly seqs: readonly number[] }
  /** Dead letters away; answered by `done` with this id. */
  | { readonly kind: 'discard'; readonly id: number; readonly letters: readonly Removal[] }
  /** Who may do what with the queue, which rules call by this name: rule 39. */
  | { readonly kind: 'access'; readonly access: Access; readonly name: string }
  /** The process has no room for more, or has again: rule 18. */
  | { readonly kind: 'memory'; readonly isTight: boolean }
  /** Come to an end: see rule 19. */
  | { readonly kind: 'drain' };

/** Why a producer's message is answered `0`; the words are counter labels, the sentences are in `refusals.ts`. */
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
  /** Its producer leaves too many answers unread: rule 4. */
  | 'producer-stalled'
  /** At the monitor: its key may not ask. */
  | 'not-allowed'
  /** From a consumer: not a key of this store, or of a message it does not hold. */
  | 'key-unknown'
  /** From a consumer: a key without status while `extendLease` is off, or of a message that is not in flight. */
  | 'extension-ignored';

/** Any reason for which something was dropped or refused: the labels of the drop counters. */
export type PzqDropReason = PzqMessageDrop | PzqRefusal | 'ack-undeliverable';

/**
 * Something worth a log line. At most one per reason and peer per minute where peers can cause it; the counters hold every
 * occurrence.
 */
export type PzqNote =
  | {
      readonly kind: 'note';
      readonly code: 'message-dropped';
      readonly reason: PzqMessageDrop;
      readonly socket: PzqSocket;
      /** Absent at outlets, whose sockets do not tell consumers apart. */
      readonly peer?: Peer;
    }
  | { readonly kind: 'note'; readonly code: 'message-refused'; readonly reason: PzqRefusal; readonly peer: Peer }
  | {
      readonly kind: 'note';
      readonly code: 'ack-undeliverable';
      readonly reason: UndeliverableReason;
      readonly peer: Peer;
    }
  /** Reading from the store failed; it is tried again. */
  | { readonly kind: 'note'; readonly code: 'read-failed'; readonly reason: string }
  /** There are `deadLettersMax` of them: messages that should join them stay in the queue. */
  | { readonly kind: 'note'; readonly code: 'dead-letters-full' }
  /** This process could not keep up; leases were put off by as much. */
  | { readonly kind: 'note'; readonly code: 'running-late'; readonly lateMs: number };

/**
 * The store does not take messages: producers are refused until it does. Of a store that fails and works in turn at most once a
 * minute, with the `resumed` that belongs to it. Rule 9.
 */
export interface PzqRefusingNotice {
  readonly kind: 'refusing';
  readonly code: string;
}

/** The store takes messages again. */
export interface PzqResumedNotice {
  readonly kind: 'resumed';
}

/** The store is damaged: it is not read or written to any more, and producers are refused. Once. Rule 9. */
export interface PzqCorruptNotice {
  readonly kind: 'corrupt';
  /** What was found, and what to do. */
  readonly what: string;
}

/** A message is among the dead letters now. */
export interface PzqDeadLetterNotice {
  readonly kind: 'dead-letter';
  readonly seq: number;
  readonly reason: DeathReason;
}

/** What the world is to do, or to know, after a step. */
export type PzqEffect =
  /** To the producer, at the receive socket; queued behind earlier ones, never dropped before `producerAckMax`. */
  | { readonly kind: 'send-ack'; readonly peer: Peer; readonly command: PzqProducerAck }
  /** Offer it to the consumers, once; one at a time per outlet. */
  | { readonly kind: 'deliver'; readonly outlet: PzqOutletName; readonly command: PzqDelivery }
  /** This consumer is to get nothing while it is held: others take its turns. No answer. */
  | { readonly kind: 'hold'; readonly outlet: PzqOutletName; readonly peer: Peer; readonly held: boolean }
  /** One at a time. */
  | { readonly kind: 'commit'; readonly batch: Batch }
  /** `scan`, or `dead` for the outlet of dead letters; one at a time per outlet. */
  | {
      readonly kind: 'load';
      readonly outlet: PzqOutletName;
      readonly after: number;
      readonly limit: number;
      readonly maxBytes: number;
    }
  | { readonly kind: 'due'; readonly nowMicros: number; readonly limit: number }
  | { readonly kind: 'take'; readonly limit: number; readonly maxBytes: number; readonly leaseMs: number }
  /** No answer: a release that fails is a lease that expires by itself. */
  | { readonly kind: 'release'; readonly seqs: readonly number[]; readonly delayMs: number }
  /** No answer. */
  | { readonly kind: 'extend'; readonly seqs: readonly number[]; readonly leaseMs: number }
  | { readonly kind: 'probe' }
  | { readonly kind: 'monitor-reply'; readonly peer: Peer; readonly command: PzqMonitorReply }
  /** The request of this id is durable, or failed with the store's code. */
  | { readonly kind: 'done'; readonly id: number; readonly code?: string }
  | PzqRefusingNotice
  | PzqResumedNotice
  | PzqCorruptNotice
  | PzqDeadLetterNotice
  | PzqNote
  /** Nothing more will be asked or sent; further events are ignored. What is queued for producers still goes out. */
  | { readonly kind: 'drained' };
