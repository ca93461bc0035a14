/** EventMQ client: what its engine is told and what it wants done. */
import type { EmqpMalformedReason, EmqpRequest, EmqpScheduling, EmqpToClient } from '@proj/frames/emqp';
import type { RejectReason } from '@proj/transport';

/** Settings of an {@link EmqpClientSession}. */
export interface EmqpClientSessionOptions {
  /** Brokers, in order of preference; at least one. */
  readonly endpoints: readonly string[];
  /** Most commands without outcome, awaited results included. At least 1. */
  readonly openMax: number;
  /** How long a command may be untaken: milliseconds, at least 1. */
  readonly timeoutMs: number;
  /** How long the result of an accepted job may take: milliseconds, at least 1. */
  readonly resultTimeoutMs: number;
}

/** A command to send, and whose it is: `Ticket` comes back with the outcome. */
export interface EmqpOrder<Ticket> {
  readonly ticket: Ticket;
  /** Its id is not that of another command that has no outcome yet. */
  readonly command: EmqpRequest | EmqpScheduling;
  /** Whether a result follows the acceptance. Only of a REQUEST. */
  readonly wantsResult: boolean;
  /** Whether it may be sent again when nobody knows whether it arrived. Only of a REQUEST. */
  readonly mayRepeat: boolean;
}

/** A fact reported to a client's session. Events of a socket that was closed are ignored. */
export type EmqpClientEvent<Ticket> =
  | { readonly kind: 'order'; readonly order: EmqpOrder<Ticket> }
  /** The caller has lost interest. The job may run all the same. */
  | { readonly kind: 'abort'; readonly id: string }
  | { readonly kind: 'message'; readonly socket: number; readonly message: EmqpToClient }
  /** A message over the limits of the socket was dropped. */
  | { readonly kind: 'rejected'; readonly socket: number; readonly reason: RejectReason }
  /** The transport has taken the command with this id over. */
  | { readonly kind: 'sent'; readonly socket: number; readonly id: string }
  /** The command with this id did not go out. */
  | { readonly kind: 'unsent'; readonly socket: number; readonly id: string }
  /** Its connection ended, or it broke. */
  | { readonly kind: 'lost'; readonly socket: number }
  /** It could not be opened. */
  | { readonly kind: 'refused'; readonly socket: number; readonly cause: unknown }
  | { readonly kind: 'close' };

/** Why a command has no good outcome, as far as we know. `QUEUE_FULL` alone tells that it was not sent. */
export type EmqpClientFailure = 'TIMEOUT' | 'QUEUE_FULL' | 'PEER_LOST' | 'UNREACHABLE' | 'CLOSED';

/** Why something a broker sent was dropped. */
export type EmqpClientDropReason = EmqpMalformedReason | RejectReason;

/** Something worth a log line. */
export type EmqpClientNote =
  /** The connection ended, with so many commands without outcome: those that may run twice go on at the next endpoint. */
  | { readonly code: 'connection-lost'; readonly endpoint: string; readonly commands: number }
  /** The broker said farewell with so many commands open, as when it is lost; or it told us to disconnect, and they go on there. New ones go to the next endpoint. */
  | { readonly code: 'broker-left'; readonly endpoint: string; readonly commands: number; readonly told: boolean }
  /** It brought nothing for `timeoutMs`: new commands go to the next endpoint. */
  | { readonly code: 'connection-silent'; readonly endpoint: string }
  /** What a broker sent is no answer. Once per reason and minute. */
  | { readonly code: 'message-dropped'; readonly reason: EmqpClientDropReason; readonly endpoint: string };

/** What a session wants done. */
export type EmqpClientEffect<Ticket> =
  | { readonly kind: 'open'; readonly socket: number; readonly endpoint: string }
  /** `linger`: what was given to it may still go out, else not. */
  | { readonly kind: 'close'; readonly socket: number; readonly linger: boolean }
  | { readonly kind: 'send'; readonly socket: number; readonly command: EmqpRequest | EmqpScheduling }
  /** Say KBAI there. */
  | { readonly kind: 'bye'; readonly socket: number }
  /** The REQUEST was accepted, or the transport has SCHEDULE or UNSCHEDULE. */
  | { readonly kind: 'taken'; readonly ticket: Ticket }
  /** Always behind `taken`. */
  | { readonly kind: 'result'; readonly ticket: Ticket; readonly result: Uint8Array }
  /** Instead of `taken`, or behind it instead of `result`. */
  | { readonly kind: 'failed'; readonly ticket: Ticket; readonly code: EmqpClientFailure; readonly cause: unknown }
  | { readonly kind: 'note'; readonly note: EmqpClientNote };

/** Counters since construction and gauges of now. */
export interface EmqpClientStats {
  /** Gauge: commands that were not taken yet. */
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
  /** Answers to commands that are over or unknown. */
  readonly lateReplies: number;
  readonly failures: Readonly<Record<EmqpClientFailure, number>>;
  readonly dropped: Readonly<Partial<Record<EmqpClientDropReason, number>>>;
}
