/** EventMQ client: what its engine is told, what it wants done, what it reports. */
import type { EmqpMalformedReason, EmqpRequest, EmqpScheduling, EmqpToClient } from '@proj/frames/emqp';
import type { RejectReason } from '@proj/transport';

/** Settings of an {@link EmqpClientSession}. */
export interface EmqpClientSessionOptions {
  /** Brokers, in order of preference; at least one. */
  readonly endpoints: readonly string[];
  /** Most commands without outcome, awaited results included. At least 1. */
  readonly openMax: number;
  /** How long the acceptance of a command may take: milliseconds, at least 1. */
  readonly timeoutMs: number;
  /** How long the result of an accepted job may take: milliseconds, at least 1. */
  readonly resultTimeoutMs: number;
}

/** A command to send. Its `Ticket` comes back with the outcome. */
export interface EmqpOrder<Ticket> {
  readonly ticket: Ticket;
  /** Its id must not be that of another command without outcome. */
  readonly command: EmqpRequest | EmqpScheduling;
  /** Whether a result follows the acceptance. REQUEST only. */
  readonly wantsResult: boolean;
  /** Whether it may be sent again when nobody knows whether it arrived. REQUEST only. */
  readonly mayRepeat: boolean;
}

/** A fact reported to a client's session. Events of a closed socket are ignored. */
export type EmqpClientEvent<Ticket> =
  | { readonly kind: 'order'; readonly order: EmqpOrder<Ticket> }
  /** The caller has given up. The job may still run. */
  | { readonly kind: 'abort'; readonly id: string }
  | { readonly kind: 'message'; readonly socket: number; readonly message: EmqpToClient }
  /** A message over the socket's limits was dropped. */
  | { readonly kind: 'rejected'; readonly socket: number; readonly reason: RejectReason }
  /** The transport has the command with this id. */
  | { readonly kind: 'sent'; readonly socket: number; readonly id: string }
  /** The command with this id did not go out. */
  | { readonly kind: 'unsent'; readonly socket: number; readonly id: string }
  /** The connection ended, or the socket broke. */
  | { readonly kind: 'lost'; readonly socket: number }
  /** The socket could not be opened. */
  | { readonly kind: 'refused'; readonly socket: number; readonly cause: unknown }
  | { readonly kind: 'close' };

/** Why a command has no good outcome, as far as we know. Only `QUEUE_FULL` says that it was not sent. */
export type EmqpClientFailure = 'TIMEOUT' | 'QUEUE_FULL' | 'PEER_LOST' | 'UNREACHABLE' | 'CLOSED';

/** Why a broker's message was dropped. */
export type EmqpClientDropReason = EmqpMalformedReason | RejectReason;

/** Something worth a log line. */
export type EmqpClientNote =
  /** The connection ended with so many commands open; those that may run twice go on at the next endpoint. */
  | { readonly code: 'connection-lost'; readonly endpoint: string; readonly commands: number }
  /** The broker said farewell, which is a lost connection to its open commands; or, with `told`, DISCONNECT, and they go on there. New ones go to the next endpoint. */
  | { readonly code: 'broker-left'; readonly endpoint: string; readonly commands: number; readonly told: boolean }
  /** Nothing came for `timeoutMs`: new commands go to the next endpoint. */
  | { readonly code: 'connection-silent'; readonly endpoint: string }
  /** A broker's message is no answer. Once per reason and minute. */
  | { readonly code: 'message-dropped'; readonly reason: EmqpClientDropReason; readonly endpoint: string };

/** What a session wants done. */
export type EmqpClientEffect<Ticket> =
  | { readonly kind: 'open'; readonly socket: number; readonly endpoint: string }
  /** `linger`: whatever it has not sent may still go out. */
  | { readonly kind: 'close'; readonly socket: number; readonly linger: boolean }
  | {
      readonly kind: 'send';
      readonly socket: number;
      readonly ticket: Ticket;
      readonly command: EmqpRequest | EmqpScheduling;
    }
  /** Say KBAI there. */
  | { readonly kind: 'bye'; readonly socket: number }
  /** The REQUEST was accepted, or the transport has SCHEDULE or UNSCHEDULE. */
  | { readonly kind: 'taken'; readonly ticket: Ticket }
  /** Always after `taken`. */
  | { readonly kind: 'result'; readonly ticket: Ticket; readonly result: Uint8Array }
  /** Instead of `taken`, or after it instead of `result`. */
  | { readonly kind: 'failed'; readonly ticket: Ticket; readonly code: EmqpClientFailure; readonly cause: unknown }
  | { readonly kind: 'note'; readonly note: EmqpClientNote };

/** Counters since construction and gauges of now. */
export interface EmqpClientStats {
  /** Gauge: commands that are not accepted yet. */
  readonly untaken: number;
  /** Gauge: accepted jobs whose result is awaited. */
  readonly awaitingResult: number;
  /** Commands the broker accepted, or the transport took where no acceptance exists. */
  readonly taken: number;
  readonly results: number;
  readonly aborts: number;
  /** Connections opened. */
  readonly connections: number;
  /** Commands that were sent once more. */
  readonly repeats: number;
  /** Replies to commands that are over or unknown. */
  readonly lateReplies: number;
  readonly failures: Readonly<Record<EmqpClientFailure, number>>;
  readonly dropped: Readonly<Partial<Record<EmqpClientDropReason, number>>>;
}
