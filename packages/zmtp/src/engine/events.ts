/** The settings of a connection's engine, and the calls it makes. */
import type { Allocate, Reuse } from './framing/bytes.js';
import type { SocketType } from './framing/commands.js';
import type { Failure } from './failure.js';
import type { Security } from './mechanisms/mechanism.js';
import type { ReaderLimits } from './framing/reader.js';

/** Shared by all connections of a socket. */
export interface ConnectionSettings extends ReaderLimits {
  readonly socketType: SocketType;
  /** The routing id to announce. */
  readonly identity?: Uint8Array | undefined;
  /** Whether to offer lanes to connecting peers; default: no. */
  readonly offersLanes?: boolean | undefined;
  /** How both sides authenticate; default: NULL. */
  readonly security?: Security | undefined;
  /** Time limit for the handshake. Milliseconds. */
  readonly handshakeMs: number;
  /** Silence in either direction before a PING; 0 for no PINGs. Milliseconds. */
  readonly heartbeatMs: number;
  /** Time limit for any answer after a PING. Milliseconds. */
  readonly timeoutMs: number;
  readonly allocate: Allocate;
  /** Memory for long bodies; default: {@link allocate}. */
  readonly reuse?: Reuse | undefined;
}

/** Called from inside `receive`, `resume` and `tick`. Nothing is called after `onFailure`. */
export interface ConnectionSink {
  /** Whether to accept a message now; called before each. */
  readonly accepting: boolean;
  /** Whether to execute a command now; called before each. Usually true even while no message is accepted. */
  readonly obeying: boolean;
  /** A command was executed; `work` is its cost in messages. */
  onObeyed(work: number): void;
  /** The handshake is complete. The identity is empty if the peer announced none; the key is set with CURVE. */
  onReady(identity: Uint8Array, publicKey: Uint8Array | undefined): void;
  /** A message or command waits for `resume`, with everything after it. Do not receive more until then. */
  onHeld(): void;
  /** A message. The sink owns its frames. */
  onMessage(frames: Uint8Array[]): void;
  /** A publisher's peer subscribes to a prefix or cancels it. The prefix is a view: copy it to keep it. */
  onSubscription(prefix: Uint8Array, wanted: boolean): void;
  /** A message exceeds the limits; the rest of it is skipped. */
  onRejected(reason: 'too-many-frames' | 'too-large'): void;
  /** There is output to take soon. */
  onOutput(): void;
  /** Cut the connection after sending its last output. */
  onFailure(failure: Failure): void;
}
