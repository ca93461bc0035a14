/** EventMQ client: the engine's events, effects and notes. */
import type { EmqpMalformedReason, EmqpRequest, EmqpScheduling, EmqpToClient } from '@proj/frames/emqp';
import type { RejectReason } from '@proj/transport';
import type { SocketEvent } from '../../shared/client-events.js';
import type { EmqpClientSettings } from '../options.js';

/** Settings of an {@link EmqpClientSession}; options.ts explains them. */
export interface EmqpClientSessionOptions extends Pick<
  EmqpClientSettings,
  'openMax' | 'timeoutMs' | 'resultTimeoutMs'
> {
  /** Brokers, in order of preference; at least one. */
  readonly endpoints: readonly string[];
}

/** A command to send. Its `Ticket` comes back with the outcome. */
export interface EmqpOrder<Ticket> {
  readonly ticket: Ticket;
  /** Must differ from the ids of all commands without an outcome. */
  readonly command: EmqpRequest | EmqpScheduling;
  /** Whether a result follows the acceptance. REQUEST only. */
  readonly wantsResult: boolean;
  /** Whether it may be sent again if it is unknown whether it arrived. REQUEST only. */
  readonly mayRepeat: boolean;
}

/** A fact reported to a client's session. */
export type EmqpClientEvent<Ticket> =
  | { readonly kind: 'order'; readonly order: EmqpOrder<Ticket> }
  /** The caller has given up. The job may still run. */
  | { readonly kind: 'abort'; readonly id: string }
  | SocketEvent<EmqpToClient>
  /** The transport has taken the command with this id. */
  | { readonly kind: 'sent'; readonly socket: number; readonly id: string }
  /** The command with this id was not delivered. */
  | { readonly kind: 'unsent'; readonly socket: number; readonly id: string }
  | { readonly kind: 'close' };

/** Why a command failed, as far as we know. Only `QUEUE_FULL` means that it was not sent. */
export type EmqpClientFailure = 'TIMEOUT' | 'QUEUE_FULL' | 'PEER_LOST' | 'UNREACHABLE' | 'CLOSED';

/** Why a broker's message was dropped. */
export type EmqpClientDropReason = EmqpMalformedReason | RejectReason;

/** A note for the log. */
export type EmqpClientNote =
  /** The connection ended with this many commands open; those that may run twice continue at the next endpoint. */
  | { readonly code: 'connection-lost'; readonly endpoint: string; readonly commands: number }
  /**
   * The broker said farewell: its open commands lose their connection. With `told` it said DISCONNECT, and they continue there. New commands go
   * to the next endpoint.
   */
  | { readonly code: 'broker-left'; readonly endpoint: string; readonly commands: number; readonly told: boolean }
  /** Nothing arrived for `timeoutMs`: new commands go to the next endpoint. */
  | { readonly code: 'connection-silent'; readonly endpoint: string }
  /** A broker's message is not a valid answer. Once per reason and minute. */
  | { readonly code: 'message-dropped'; readonly reason: EmqpClientDropReason; readonly endpoint: string };

/** The session's effects. */
export type EmqpClientEffect<Ticket> =
  | { readonly kind: 'open'; readonly socket: number; readonly endpoint: string }
  /** `linger`: unsent messages may still be sent. */
  | { readonly kind: 'close'; readonly socket: number; readonly linger: boolean }
  | {
      readonly kind: 'send';
      readonly socket: number;
      readonly ticket: Ticket;
      readonly command: EmqpRequest | EmqpScheduling;
    }
  /** Say KBAI there. */
  | { readonly kind: 'bye'; readonly socket: number }
  /** The REQUEST was accepted, or the transport has taken SCHEDULE or UNSCHEDULE. */
  | { readonly kind: 'taken'; readonly ticket: Ticket }
  /** Always after `taken`. */
  | { readonly kind: 'result'; readonly ticket: Ticket; readonly result: Uint8Array }
  /** Instead of `taken`, or after it instead of `result`. */
  | { readonly kind: 'failed'; readonly ticket: Ticket; readonly code: EmqpClientFailure; readonly cause: unknown }
  | { readonly kind: 'note'; readonly note: EmqpClientNote };

/** Counters since construction and current gauges. */
export interface EmqpClientStats {
  /** Gauge: commands not yet accepted. */
  readonly untaken: number;
  /** Gauge: accepted jobs whose result is awaited. */
  readonly awaitingResult: number;
  /** Commands accepted by the broker, or taken by the transport if there is no acceptance. */
  readonly taken: number;
  readonly results: number;
  readonly aborts: number;
  /** Connections opened. */
  readonly connections: number;
  /** Commands sent again. */
  readonly repeats: number;
  /** Replies to unknown or finished commands. */
  readonly lateReplies: number;
  readonly failures: Readonly<Record<EmqpClientFailure, number>>;
  readonly dropped: Readonly<Partial<Record<EmqpClientDropReason, number>>>;
}
