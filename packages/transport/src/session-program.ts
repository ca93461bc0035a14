/** What one protocol's client, worker or scheduler gives its `SessionHost`: engine, sockets, and the handling of effects. */
import type { Engine } from './engine/engine.js';
import type { HandshakeRefusal, Peer, PortOptions, RejectReason } from './port.js';

/** Why a socket became useless: its connection ended, a message was not delivered, or it failed. */
export type SocketLoss = 'peer-gone' | 'undeliverable' | 'socket-failed';

/** What every peer reports, besides its engine's notes. */
export interface SessionEvents {
  /** A CURVE handshake failed; it will be retried. */
  refused: HandshakeRefusal;
  /** A socket could not be opened, or failed permanently. */
  error: unknown;
}

/** What one protocol's peer supplies. A handler that is absent or returns `undefined` makes no event. */
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
  /** If absent, the port does not report it, which saves time. */
  onSent?(socket: number, frames: readonly Uint8Array[]): Event | undefined;
  /** As {@link SessionEvents.refused}. Default: the host's event. */
  onRefused?(refusal: HandshakeRefusal): void;
  /** As {@link SessionEvents.error}. Default: the host's event. */
  onError?(error: unknown): void;
}

/** The settings of one socket. */
export interface SocketRequest {
  /** Endpoints to connect to, or to bind. */
  readonly endpoints: readonly string[];
  /** Default: the transport's defaults. */
  readonly port?: PortOptions;
  /** Default: `dealer`. */
  readonly kind?: 'dealer' | 'router';
}

/** An endpoint without a connection, and why: the refused handshake, or the transport's reason. */
export interface Unmet {
  readonly endpoint: string;
  readonly reason: HandshakeRefusal | string;
}

/** The part of the life cycle that `SessionHost.life` handles. */
export interface SessionLife<Event> {
  /** Opened by `start`, and numbered from 0. */
  readonly sockets: readonly SocketRequest[];
  /** Delivered by `start`, once the sockets are open. Default: none. */
  readonly started?: Event;
  /** Delivered by `drain`. The engine answers with an effect for which `perform` calls `SessionHost.ended`. Default: `drain` equals `close`. */
  readonly drain?: Event;
  /** Delivered by `close`, as the last event. Default: the same as for `drain`. */
  readonly close?: Event;
}
