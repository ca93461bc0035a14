/**
 * Events and effects between a worker's session, which decides, and its host, which owns sockets and handlers. Commands and notes are the
 * protocol's own. Numbers of sockets and jobs are never reused.
 */
import type { RejectReason } from '@proj/transport';

/** One or more body frames. */
export type Frames = readonly Uint8Array[];

/** Why a conversation ended that the worker wanted to keep. */
export type LossReason =
  /** The other side was silent for interval x liveness. */
  | 'silent'
  /** The other side said so. */
  | 'disconnected'
  /** The connection ended. The transport would reconnect by itself, but the other side would not know us. */
  | 'peer-gone'
  /** A message of ours was not delivered. */
  | 'undeliverable'
  /** A message over the limits arrived: if it was a request, the other side would wait for its reply for ever. */
  | 'unreadable'
  /** The socket could not be opened, or failed. */
  | 'socket-failed';

/** Losses that were reported to the worker: it reconnects at once. Others were inferred, and wait for the back-off. */
export const TOLD: ReadonlySet<string> = new Set<LossReason>(['disconnected', 'peer-gone', 'unreadable']);

/** Why a running handler is told to stop: its result has nowhere to go. */
export type CancelReason = LossReason | 'drain-timeout' | 'closed';

/** The host's events to a session. `timer` events come from the driver. */
export type WorkerEvent<Command> =
  /** Starts. First and once. */
  | { readonly kind: 'start' }
  | { readonly kind: 'message'; readonly socket: number; readonly command: Command }
  /** A message was dropped before decoding. */
  | { readonly kind: 'rejected'; readonly socket: number; readonly reason: RejectReason }
  | { readonly kind: 'lost'; readonly socket: number; readonly reason: LossReason }
  /** The socket is bound and can send. Only if workers bind. */
  | { readonly kind: 'bound'; readonly socket: number }
  /** A connection of a bound socket has taken a message. */
  | { readonly kind: 'sent'; readonly socket: number }
  /** One of several replies. Only if the protocol has them; otherwise the host joins them into `final`. */
  | { readonly kind: 'partial'; readonly job: number; readonly body: Frames }
  /** The handler has ended with this last reply. `final` or `failed` comes exactly once per `run`, cancelled or not. */
  | { readonly kind: 'final'; readonly job: number; readonly body: Frames }
  /** The handler has ended without a reply. */
  | { readonly kind: 'failed'; readonly job: number }
  /** Finish current work, then end. */
  | { readonly kind: 'drain' }
  /** End now. */
  | { readonly kind: 'close' };

/** The overhead of a reply besides its body: how much smaller than a whole message a handler's reply must be. */
export interface Envelope {
  readonly frames: number;
  readonly bytes: number;
}

/** The effects of every session, in order. */
export type SessionEffect<Command, Note> =
  | { readonly kind: 'send'; readonly socket: number; readonly command: Command }
  /** `flush`: first hand over what is pending (bounded linger); otherwise nothing more is sent. */
  | { readonly kind: 'close'; readonly socket: number; readonly flush: boolean }
  | { readonly kind: 'note'; readonly note: Note }
  /** Nothing follows; later events have no effect. */
  | { readonly kind: 'ended' };

/** Additional effects of a session with one handler. */
export type HandlerEffect =
  | { readonly kind: 'open'; readonly socket: number; readonly endpoint: string }
  | { readonly kind: 'run'; readonly job: number; readonly body: Frames; readonly envelope: Envelope }
  | { readonly kind: 'cancel'; readonly job: number; readonly reason: CancelReason };

/** The effects of a session with one handler. */
export type WorkerEffect<Command, Note> = SessionEffect<Command, Note> | HandlerEffect;

/** A note, distinguished by `code`: the source of events, log lines and counters. `Drop` and `Leave` are the protocol's reasons. */
export type WorkerNote<Drop extends string, Leave extends string> =
  /** READY was sent. The host reports it once the broker has sent something: no protocol answers READY. */
  | { readonly code: 'ready'; readonly endpoint: string }
  /** The conversation has ended; the next one begins in `retryInMs`, or never if that is `undefined`. */
  | { readonly code: 'lost'; readonly endpoint: string; readonly reason: LossReason; readonly retryInMs?: number }
  /** The worker ended the conversation. */
  | { readonly code: 'left'; readonly endpoint: string; readonly reason: Leave }
  /** A request was not started: too many were already here, or the worker was leaving. */
  | { readonly code: 'request-dropped'; readonly reason: 'busy' | 'leaving' }
  | { readonly code: 'message-dropped'; readonly reason: Drop }
  /** A result arrived after its conversation had ended. */
  | { readonly code: 'result-discarded'; readonly job: number };
