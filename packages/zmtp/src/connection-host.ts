/** What a connection needs from the socket it belongs to. */
import type { MemoryBudget, Peer } from '@proj/transport';
import type { Connection } from './connection.js';
import type { ConnectionSettings } from './engine/events.js';
import type { Failure } from './engine/failure.js';
import type { Incoming } from './incoming.js';
import type { NodeSocket } from './node-socket.js';
import type { Pipe } from './pipe.js';
import type { Turns } from './turn.js';
import type { Watch } from './watch.js';

/** The socket that a connection belongs to. */
export interface ConnectionHost {
  readonly watch: Watch;
  readonly turns: Turns;
  readonly incoming: Incoming;
  readonly memory?: Pick<MemoryBudget, 'moved'> | undefined;
  readonly settings: ConnectionSettings;
  /** Whether messages may be delivered now. */
  readonly listening: boolean;
  /** A message waits until {@link Connection.listen} is called. */
  onHeld(link: Connection): void;
  /** The handshake is complete; called before {@link onReady}. */
  onMet(link: Connection): void;
  /** The handshake is complete: the host must give the connection a pipe or make it wait for one. */
  onReady(link: Connection, identity: Uint8Array, publicKey: Uint8Array | undefined): void;
  onMessage(link: Connection, frames: Uint8Array[]): void;
  onRejected(link: Connection, reason: 'too-many-frames' | 'too-large'): void;
  /** As `ConnectionSink.onSubscription`. */
  onSubscription(link: Connection, prefix: Uint8Array, wanted: boolean): void;
  /** A write from this pipe has finished. */
  onWritten(pipe: Pipe): void;
  /** The peer uses lanes: the host takes over the socket, with the bytes received so far. */
  onCarrier(link: Connection, socket: NodeSocket, chunk: Uint8Array): void;
  /** The connection has ended. */
  onClosed(link: Connection, failure: Failure | undefined): void;
}

/** A routing id that a connection waits for, with all connections that wait for it. */
export interface Claim {
  readonly rivals: Set<Connection>;
  readonly peer: Peer;
}
