/** What a connection's engine is made with, and what it tells. */
import type { Allocate, Reuse } from './bytes.js';
import type { SocketType } from './commands.js';
import type { Failure } from './failure.js';
import type { Security } from './mechanism.js';
import type { ReaderLimits } from './reader.js';

/** The same for all connections of a socket. */
export interface ConnectionSettings extends ReaderLimits {
  readonly socketType: SocketType;
  /** The routing id to announce. */
  readonly identity?: Uint8Array | undefined;
  /** Whether to offer lanes to those who connect; default: no. */
  readonly offersLanes?: boolean | undefined;
  /** How both sides prove who they are; default: NULL. */
  readonly security?: Security | undefined;
  /** Milliseconds from the start until the peer's READY must have come. */
  readonly handshakeMs: number;
  /** Milliseconds of silence, in either direction, before a PING; 0 for none. */
  readonly heartbeatMs: number;
  /** Milliseconds after a PING in which anything must come. */
  readonly timeoutMs: number;
  readonly allocate: Allocate;
  /** Where long bodies are put together; default: {@link allocate}. */
  readonly reuse?: Reuse | undefined;
}

/** What an engine calls, from inside `receive`, `resume` and `tick`. Nothing comes after `onFailure`. */
export interface ConnectionSink {
  /** Whether a message may come now; asked before each. */
  readonly accepting: boolean;
  /** Whether a command may be obeyed now; asked before each. Usually true also while no message is accepted. */
  readonly obeying: boolean;
  /** A command was obeyed: as much work as so many messages. */
  onObeyed(work: number): void;
  /** The handshake is complete. The identity is empty if the peer announced none; the key is there with CURVE. */
  onReady(identity: Uint8Array, publicKey: Uint8Array | undefined): void;
  /** A message or command waits for `resume`, with all that comes after it: nothing more may be received until then. */
  onHeld(): void;
  /** A message; its frames are the sink's. */
  onMessage(frames: Uint8Array[]): void;
  /** A peer of a publisher asks for messages with this prefix, or no longer wants them. The prefix is a view: copy it to keep it. */
  onSubscription(prefix: Uint8Array, wanted: boolean): void;
  /** A message is over the limits; the rest of it will be skipped. */
  onRejected(reason: 'too-many-frames' | 'too-large'): void;
  /** There is output to take soon. */
  onOutput(): void;
  /** The connection must be cut after its last output was sent. */
  onFailure(failure: Failure): void;
}
