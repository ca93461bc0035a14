/** Why a connection failed. Whatever a peer does ends as one of these values, never as an exception. */

/** The closed set of causes. */
export type FailureCode =
  /** The peer does not speak ZMTP. */
  | 'not-zmtp'
  /** It speaks a version before 3.0. */
  | 'version'
  /** Its security mechanism differs from ours. */
  | 'mechanism'
  /** It sent bytes that no ZMTP peer sends. */
  | 'malformed'
  /** A frame or command far over the limit. */
  | 'too-large'
  /** One connection or handshake too many. */
  | 'too-many'
  /** Memory was short, and the connection held some of it: `MemoryBudget`. */
  | 'memory'
  /** Its socket type cannot talk to ours: 37/ZMTP, "The Socket-Type Property". */
  | 'socket-type'
  /** It sent an ERROR command. */
  | 'refused'
  /** It did not prove what its security mechanism requires, or sent what no peer with the right keys sends. */
  | 'security'
  /** It authenticated but is not authorized; or it rejected us (status 400, as libzmq sends). */
  | 'denied'
  /** It did not complete the handshake in time. */
  | 'handshake-timeout'
  /** It did not answer a probe, or was silent for longer than it had announced. */
  | 'silent'
  /** The network reported an error, for example a refused connection. */
  | 'network';

/** A connection that failed. */
export interface Failure {
  readonly code: FailureCode;
  /** One sentence, with the offending value. */
  readonly text: string;
  /** With `security`: the peer expects a server with another key. */
  readonly expectsOther?: boolean;
  /** The CURVE key of the peer, if it got that far. */
  readonly publicKey?: Uint8Array;
}
