/** Why a connection came to nothing: whatever a peer does ends as one of these values, never as an exception. */

/** What was wrong, as a closed set. */
export type FailureCode =
  /** The other side does not speak ZMTP. */
  | 'not-zmtp'
  /** It speaks a version before 3.0. */
  | 'version'
  /** Its security mechanism is not ours. */
  | 'mechanism'
  /** Bytes that no ZMTP peer sends. */
  | 'malformed'
  /** A frame or command far over the limit. */
  | 'too-large'
  /** One connection or handshake more than may be at a time. */
  | 'too-many'
  /** Memory was short, and it held some of it: `MemoryBudget`. */
  | 'memory'
  /** Its socket type cannot talk to ours: 37/ZMTP, "The Socket-Type Property". */
  | 'socket-type'
  /** It sent an ERROR command. */
  | 'refused'
  /** It could not prove what its security mechanism asks for, or sent what nobody with the right keys sends. */
  | 'security'
  /** It proved who it is, and is not let in; or it says so of us (status 400, as libzmq does). */
  | 'denied'
  /** It did not complete the handshake in time. */
  | 'handshake-timeout'
  /** It was silent although it was asked for a sign of life, or for longer than it had announced. */
  | 'silent'
  /** The network reported an error, such as a refused connection. */
  | 'network';

/** A connection that failed. */
export interface Failure {
  readonly code: FailureCode;
  /** One sentence with the offending value. */
  readonly text: string;
  /** Of `security`: the peer expects a server of another key. */
  readonly expectsOther?: boolean;
  /** The CURVE key of the peer, where it got that far. */
  readonly publicKey?: Uint8Array;
}
