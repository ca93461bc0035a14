/**
 * Clients of protocols whose replies carry no correlation: the engine's events, effects and notes. The *request socket*, with at most one open
 * request, is the correlation. A *call* is what a user started; a *send* is one try.
 */
import type { RejectReason } from '@proj/transport';
import type { SocketEvent } from './client-events.js';

/** How one protocol reads what arrives on a socket. Both functions are total and keep nothing. */
export interface RequestProtocol<Request, Message, Reply extends object, Reason extends string> {
  /** The message as a reply to its socket's open request, or the reason why it is not. */
  readonly match: (request: Request, message: Message) => Reply | Reason;
  /** True for the last reply; false for one of several. */
  readonly isFinal: (reply: Reply) => boolean;
}

/** What a call asks for. */
export interface CallTerms<Request> {
  readonly request: Request;
  /** Silence after which a send counts as lost, restarted by every partial reply. Milliseconds, at least 1. */
  readonly timeoutMs: number;
  /** Total number of sends, at least 1. */
  readonly tries: number;
  /** True: partial replies go to the caller, and after the first one the request is not sent again. False: they only show life. */
  readonly streaming: boolean;
}

/** A fact reported to the engine. */
export type RequestEvent<Request, Message> =
  /** `id` is the caller's choice, unique among its calls. */
  | ({ readonly kind: 'request'; readonly id: number } & CallTerms<Request>)
  | SocketEvent<Message>
  /** The caller has given up and gets no more of this call. */
  | { readonly kind: 'abort'; readonly id: number }
  | { readonly kind: 'close' };

/** Why a call failed. */
export type RequestFailure = 'TIMEOUT' | 'PEER_LOST' | 'QUEUE_FULL' | 'UNREACHABLE' | 'CLOSED';

/** What was tried before a call failed. */
export interface RequestAttempts {
  /** Where the request was sent, in order, one entry per send; empty if it never was. */
  readonly endpoints: readonly string[];
  /** Milliseconds from the first send to the end. */
  readonly totalMs: number;
}

/** Why a message was dropped: the protocol's reasons, the socket's, and `late` if nobody waits for it. */
export type RequestDropReason<Reason extends string> = Reason | RejectReason | 'late';

/** A note for a log line or a counter. */
export type RequestNote<Reason extends string> =
  | { readonly code: 'message-dropped'; readonly reason: RequestDropReason<Reason>; readonly endpoint: string }
  | { readonly code: 'connection-lost'; readonly endpoint: string }
  /** A request is sent again: send number `send`, to `endpoint`. */
  | {
      readonly code: 'request-resent';
      readonly cause: 'silence' | 'connection-lost';
      readonly endpoint: string;
      readonly send: number;
    };

/** The engine's effects. */
export type RequestEffect<Request, Reply, Reason extends string> =
  | { readonly kind: 'open'; readonly socket: number; readonly endpoint: string }
  /** At once; unsent messages are discarded. The number is not reused. */
  | { readonly kind: 'close'; readonly socket: number }
  | { readonly kind: 'send'; readonly socket: number; readonly id: number; readonly request: Request }
  | { readonly kind: 'partial'; readonly id: number; readonly reply: Reply }
  | { readonly kind: 'final'; readonly id: number; readonly reply: Reply }
  | {
      readonly kind: 'fail';
      readonly id: number;
      readonly code: RequestFailure;
      readonly attempts: RequestAttempts;
      /** With `UNREACHABLE`: why the socket could not be opened. */
      readonly cause: unknown;
    }
  | { readonly kind: 'note'; readonly note: RequestNote<Reason> };

/** Counters since construction and current gauges. */
export interface RequestStats {
  /** Open sockets, and those of them with a request. */
  readonly lanes: number;
  readonly busy: number;
  /** Calls waiting for a socket. */
  readonly waiting: number;
  readonly calls: number;
  /** Sends, including repeated ones. */
  readonly sends: number;
  readonly finals: number;
  readonly partials: number;
  readonly aborts: number;
  /** Calls that failed, by code. */
  readonly failures: Readonly<Record<RequestFailure, number>>;
  /** Messages dropped, by reason; a reason appears with its first message. */
  readonly dropped: Readonly<Record<string, number>>;
}
