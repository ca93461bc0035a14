/** What a client, worker or scheduler of one protocol gives its `SessionHost`: its engine, its sockets, and what to do with effects. */
import type { Engine } from './engine/engine.js';
import type { HandshakeRefusal, Peer, PortOptions, RejectReason } from './port.js';

/** Why a socket is of no more use: its connection ended, a message did not go out, or it broke. */
export type SocketLoss = 'peer-gone' | 'undeliverable' | 'socket-failed';

/** What every peer reports besides what its engine does. */
export interface SessionEvents {
  /** A CURVE handshake failed; it is tried again. */
  refused: HandshakeRefusal;
  /** A socket could not be opened, or failed for good. */
  error: unknown;
}

/** What a peer of one protocol plugs in. A handler that is absent or returns `undefined` makes no event. */
export interface SessionProgram<Event, Effect> {
  readonly engine: Engine<Event, Effect>;
  perform(effect: Effect): void;
  onMessage(socket: number, frames: Uint8Array[], peer: Peer): Event | undefined;
  /** A message over the socket's limits was dropped before decoding. */
  onRejected?(socket: number, reason: RejectReason): Event | undefined;
  onLost?(socket: number, reason: SocketLoss): Event | undefined;
  /** Default: {@link onLost} with `undeliverable`. */
  onUndeliverable?(socket: number, frames: readonly Uint8Array[]): Event | undefined;
  /** A socket could not be opened or bound. Default: {@link onLost} with `socket-failed`, and {@link onError}. */
  onUnopened?(socket: number, cause: unknown): Event | undefined;
  /** A socket of `SessionHost.bind` is bound. */
  onBound?(socket: number): Event | undefined;
  /** When absent, the port does not report it, which costs nothing. */
  onSent?(socket: number, frames: readonly Uint8Array[]): Event | undefined;
  /** As {@link SessionEvents.refused}. Default: the host's event. */
  onRefused?(refusal: HandshakeRefusal): void;
  /** As {@link SessionEvents.error}. Default: the host's event. */
  onError?(error: unknown): void;
}

/** How to make one socket. */
export interface SocketRequest {
  /** Endpoints to connect to, or to bind. */
  readonly endpoints: readonly string[];
  /** Default: the transport's defaults. */
  readonly port?: PortOptions;
  /** Default: `dealer`. */
  readonly kind?: 'dealer' | 'router';
}

/** An endpoint where no connection stands, and why: the refused handshake, or the reason that the transport gives. */
export interface Unmet {
  readonly endpoint: string;
  readonly reason: HandshakeRefusal | string;
}

/** What `SessionHost.life` does by itself. */
export interface SessionLife<Event> {
  /** Opened by `start`, and numbered from 0. */
  readonly sockets: readonly SocketRequest[];
  /** Delivered by `start`, once the sockets are open. Default: none. */
  readonly started?: Event;
  /** Delivered by `drain`. The engine answers with an effect, on which `perform` calls `SessionHost.ended`. Default: `drain` is `close`. */
  readonly drain?: Event;
  /** Delivered by `close`, as the last event. Default: the same as on a drain. */
  readonly close?: Event;
}
