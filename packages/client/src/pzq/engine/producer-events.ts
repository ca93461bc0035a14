/** PZQ producer: the engine's events, effects and notes. Rule 23 of docs/protocols/pzq.md. */
import type { PzqBody, PzqMalformedReason, PzqProduce, PzqToProducer } from '@proj/frames/pzq';
import type { RejectReason } from '@proj/transport';
import type { SocketEvent } from '../../shared/client-events.js';
import type { PzqProducerSettings } from '../options.js';

/** Settings of a `PzqProducerSession`; options.ts explains them. */
export interface PzqProducerSessionOptions extends Pick<
  PzqProducerSettings,
  'window' | 'windowBytes' | 'waitingMax' | 'ackTimeoutMs' | 'timeoutMs'
> {
  /** Queues, in order of preference; at least one. */
  readonly endpoints: readonly string[];
}

/** A message to store. Its `Ticket` comes back with the outcome. */
export interface PzqOrder<Ticket> {
  readonly ticket: Ticket;
  /** Not empty, and different from those of all messages without an outcome. */
  readonly id: Uint8Array;
  readonly headers: readonly Uint8Array[];
  readonly body: PzqBody;
  /** Bytes of the body. */
  readonly bytes: number;
}

/** A fact reported to a producer's session. */
export type PzqProducerEvent<Ticket> =
  | { readonly kind: 'produce'; readonly order: PzqOrder<Ticket> }
  /** The caller has given up. The message may have been stored. */
  | { readonly kind: 'abort'; readonly id: Uint8Array }
  | SocketEvent<PzqToProducer>
  | { readonly kind: 'close' };

/** Why a message is not stored, as far as we know. */
export type PzqProducerFailure = 'REJECTED' | 'TIMEOUT' | 'QUEUE_FULL' | 'UNREACHABLE' | 'CLOSED';

/** Why a queue's message was dropped. */
export type PzqProducerDropReason = PzqMalformedReason | RejectReason;

/** A note for the log. */
export type PzqProducerNote =
  /** This many messages were sent again, to this endpoint: after silence, or because their connection ended. */
  | {
      readonly code: 'messages-resent';
      readonly cause: 'silence' | 'connection-lost';
      readonly endpoint: string;
      readonly messages: number;
    }
  | { readonly code: 'connection-lost'; readonly endpoint: string }
  /** A queue's message is not a valid answer. Once per reason and minute. */
  | { readonly code: 'message-dropped'; readonly reason: PzqProducerDropReason; readonly endpoint: string };

/** The session's effects. */
export type PzqProducerEffect<Ticket> =
  | { readonly kind: 'open'; readonly socket: number; readonly endpoint: string }
  /** At once; unsent messages are discarded. */
  | { readonly kind: 'close'; readonly socket: number }
  | { readonly kind: 'send'; readonly socket: number; readonly ticket: Ticket; readonly command: PzqProduce }
  | { readonly kind: 'stored'; readonly ticket: Ticket }
  | {
      readonly kind: 'failed';
      readonly ticket: Ticket;
      readonly code: PzqProducerFailure;
      /** The queue's own words, for `REJECTED`. */
      readonly reason: string;
      readonly sends: number;
      readonly cause: unknown;
    }
  | { readonly kind: 'note'; readonly note: PzqProducerNote };

/** Counters since construction and current gauges. */
export interface PzqProducerStats {
  /** Gauge: sent and not acknowledged. */
  readonly unacknowledged: number;
  /** Gauge: waiting for the window. */
  readonly waiting: number;
  /** Sends, including repeated ones. */
  readonly sends: number;
  /** Messages stored by the queue. */
  readonly stored: number;
  readonly aborts: number;
  /** Connections opened. */
  readonly connections: number;
  /** Answers to messages that already have an outcome, for example because they were sent twice. */
  readonly lateAcks: number;
  readonly failures: Readonly<Record<PzqProducerFailure, number>>;
  readonly dropped: Readonly<Partial<Record<PzqProducerDropReason, number>>>;
}
