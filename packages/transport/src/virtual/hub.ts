/** The network and a bound socket, as sockets see them. */
import type { Clock } from '@proj/heartbeat';
import type { CurveOptions, HandshakeRefusal } from '../port.js';
import type { ConnectionEnd, ConnectionOwner, VirtualConnection } from './connection.js';
import type { NetworkEvent, SocketKind } from './events.js';
import type { Process } from './process.js';
import type { VirtualWire } from './virtual-wire.js';

/** The network as its sockets see it. */
export interface Hub {
  readonly clock: Clock;
  /** Whether sockets learn of lost connections (`onPeerGone`). */
  readonly disconnectNotices: boolean;
  readonly reconnectIntervalMs: number;
  /** Registers the port under its endpoint, with a wildcard port resolved. Throws `ADDRESS_IN_USE`. */
  bind(endpoint: string, port: BoundSide): string;
  unbind(port: BoundSide): void;
  lookup(endpoint: string): BoundSide | undefined;
  link(a: Process, b: Process): VirtualWire;
  connect(active: ConnectionOwner, passive: ConnectionOwner): VirtualConnection;
  /** Called by an end that no longer needs the connection. It is dropped once both ends have called. */
  forget(connection: VirtualConnection): void;
  record(event: NetworkEvent): void;
}

/** A bound socket, as connecting sockets see it. */
export interface BoundSide extends ConnectionOwner {
  readonly socket: SocketKind;
  /** The routing id it announces; routers choose one for a peer without one. */
  readonly routingId: Uint8Array | undefined;
  readonly curve: CurveOptions | undefined;
  /** A handshake failed; `undefined` if this side does not notice. */
  onRefused(refusal: HandshakeRefusal | undefined): void;
  /** Accepts its end of a connection, and the routing id that the other side announces. */
  accept(end: ConnectionEnd, routingId: Uint8Array | undefined): void;
}

/** How a socket leaves its connections: delivering what it sent, dropping it, or vanishing. */
export type Farewell = 'close' | 'abort' | 'vanish';
