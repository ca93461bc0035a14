/** Why a connection failed: whatever a peer does ends as one of these values, never as an exception. */

/** What was wrong, as a closed set. */
export type FailureCode =
  /** The peer does not speak ZMTP. */
  | 'not-zmtp'
  /** It speaks a version before 3.0. */
  | 'version'
  /** Its security mechanism is not ours. */
  | 'mechanism'
  /** Bytes that no ZMTP peer sends. */
  | 'malformed'
  /** A frame or command far over the limit. */
  | 'too-large'
  /** One connection or handshake over the limit. */
  | 'too-many'
  /** Memory was short, and the connection held some of it: `MemoryBudget`. */
  | 'memory'
  /** Its socket type cannot talk to ours: 37/ZMTP, "The Socket-Type Property". */
  | 'socket-type'
  /** It sent an ERROR command. */
  | 'refused'
  /** It did not prove what its security mechanism asks for, or sent what nobody with the right keys sends. */
  | 'security'
  /** It proved who it is and is not let in; or it says so of us (status 400, as libzmq does). */
  | 'denied'
  /** It did not complete the handshake in time. */
  | 'handshake-timeout'
  /** It gave no sign of life when asked for one, or was silent for longer than it had announced. */
  | 'silent'
  /** The network reported an error, such as a refused connection. */
  | 'network';

/** A connection that failed. */
export interface Failure {
  readonly code: FailureCode;
  /** One sentence with the offending value. */
  readonly text: string;
  /** With `security`: the peer expects a server with another key. */
  readonly expectsOther?: boolean;
  /** The CURVE key of the peer, if it got that far. */
  readonly publicKey?: Uint8Array;
}
