/** What clients of all protocols emit, and what their engines hear of sockets. */
import type { HandshakeRefusal, RejectReason } from '@proj/transport';

/** Events of every client's facade. */
export interface ClientEvents<Note> {
  /** A note for a log line or a counter. */
  note: Note;
  /** A handshake with a server failed, because of its key or ours; it will be retried. */
  refused: HandshakeRefusal;
}

/** An engine's events about one of its sockets. Those of unknown or closed sockets are ignored. */
export type SocketEvent<Message> =
  | { readonly kind: 'message'; readonly socket: number; readonly message: Message }
  /** A message over the socket's limits was dropped before decoding. */
  | { readonly kind: 'rejected'; readonly socket: number; readonly reason: RejectReason }
  /** The connection ended, a message was not delivered, or the socket failed. */
  | { readonly kind: 'lost'; readonly socket: number }
  /** The socket could not be opened: its endpoint or the machine is at fault, and a retry would not help. */
  | { readonly kind: 'refused'; readonly socket: number; readonly cause: unknown };
