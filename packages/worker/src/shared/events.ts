/**
 * What passes between a worker's session, which decides, and its host, which owns sockets and handlers. Commands and notes are the
 * protocol's own. Sockets and jobs go by numbers that are never used again.
 */
import type { RejectReason } from '@proj/transport';

/** One or more body frames. */
export type Frames = readonly Uint8Array[];

/** Why a conversation ended that the worker wanted to keep. */
export type LossReason =
  /** Nothing was heard for interval x liveness. */
  | 'silent'
  /** The other side said so. */
  | 'disconnected'
  /** The connection ended. The transport would reconnect by itself, but the other side would not know us. */
  | 'peer-gone'
  /** A message of ours did not go out. */
  | 'undeliverable'
  /** A message over the limits arrived: if it was a request, the other side would wait for its reply for ever. */
  | 'unreadable'
  /** The socket could not be opened, or broke. */
  | 'socket-failed';

/** Losses that the worker was told of: it tries to come back at once. Others are conclusions, and wait for the back-off. */
export const TOLD: ReadonlySet<string> = new Set<LossReason>(['disconnected', 'peer-gone', 'unreadable']);

/** Why a running handler is told to stop: its result has nowhere to go. */
export type CancelReason = LossReason | 'drain-timeout' | 'closed';

/** What a host tells a session. `timer` events come from the driver. */
export type WorkerEvent<Command> =
  /** Begin. First and once. */
  | { readonly kind: 'start' }
  | { readonly kind: 'message'; readonly socket: number; readonly command: Command }
  /** A message was dropped before decoding. */
  | { readonly kind: 'rejected'; readonly socket: number; readonly reason: RejectReason }
  | { readonly kind: 'lost'; readonly socket: number; readonly reason: LossReason }
  /** The socket is bound and can send. Only where workers bind. */
  | { readonly kind: 'bound'; readonly socket: number }
  /** A connection of a bound socket has taken a message. */
  | { readonly kind: 'sent'; readonly socket: number }
  /** One of several replies. Only where the protocol has them; elsewhere the host joins them into `final`. */
  | { readonly kind: 'partial'; readonly job: number; readonly body: Frames }
  /** The handler is done; this is its last reply. `final` or `failed` comes exactly once per `run`, cancelled or not. */
  | { readonly kind: 'final'; readonly job: number; readonly body: Frames }
  /** The handler is done and there is no reply. */
  | { readonly kind: 'failed'; readonly job: number }
  /** Finish what runs, then end. */
  | { readonly kind: 'drain' }
  /** End now. */
  | { readonly kind: 'close' };

/** The most a reply has besides its body: how much less than a whole message a handler may return. */
export interface Envelope {
  readonly frames: number;
  readonly bytes: number;
}

/** What every session has its host do, in order. */
export type SessionEffect<Command, Note> =
  | { readonly kind: 'send'; readonly socket: number; readonly command: Command }
  /** `flush`: first hand over what is pending (bounded linger); otherwise nothing more goes out. */
  | { readonly kind: 'close'; readonly socket: number; readonly flush: boolean }
  | { readonly kind: 'note'; readonly note: Note }
  /** Nothing follows; events from now on change nothing. */
  | { readonly kind: 'ended' };

/** What a session with one handler has its host do besides. */
export type HandlerEffect =
  | { readonly kind: 'open'; readonly socket: number; readonly endpoint: string }
  | { readonly kind: 'run'; readonly job: number; readonly body: Frames; readonly envelope: Envelope }
  | { readonly kind: 'cancel'; readonly job: number; readonly reason: CancelReason };

/** The effects of a session with one handler. */
export type WorkerEffect<Command, Note> = SessionEffect<Command, Note> | HandlerEffect;

/** A notice, told apart by `code`: the source of events, log lines and counters. `Drop` and `Leave` are the protocol's reasons. */
export type WorkerNote<Drop extends string, Leave extends string> =
  /** READY went out. The host passes this on once the broker was heard: no protocol answers READY. */
  | { readonly code: 'ready'; readonly endpoint: string }
  /** The conversation is over; the next one begins in `retryInMs`, or never when that is `undefined`. */
  | { readonly code: 'lost'; readonly endpoint: string; readonly reason: LossReason; readonly retryInMs?: number }
  /** The worker ended the conversation. */
  | { readonly code: 'left'; readonly endpoint: string; readonly reason: Leave }
  /** A request was not started: too many were here already, or the worker was leaving. */
  | { readonly code: 'request-dropped'; readonly reason: 'busy' | 'leaving' }
  | { readonly code: 'message-dropped'; readonly reason: Drop }
  /** A result came after its conversation had ended. */
  | { readonly code: 'result-discarded'; readonly job: number };
