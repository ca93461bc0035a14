/** Security mechanisms: what the connection needs from a handshake, for NULL, PLAIN and CURVE. 37/ZMTP, "Security Mechanisms". */
import type { Failure } from '../failure.js';
import { HANDSHAKE } from '../legality.js';
import type { HandshakeCommand, HandshakeState } from '../legality.js';

/** The result of one handshake command. `say` is always sent first. */
export interface Step {
  /** A complete command frame. */
  readonly say?: Uint8Array;
  readonly failure?: Failure;
  /** The handshake is complete. */
  readonly met?: Met;
}

/** The result of a complete handshake. */
export interface Met {
  /** The peer's encoded properties: see `decodeProperties`. */
  readonly properties: Uint8Array;
  /** The proven long-term key of the peer. */
  readonly publicKey?: Uint8Array;
  /** Encrypts all traffic from now on. */
  readonly cipher?: Cipher;
}

/** Our side of one handshake. Takes commands until it completes or fails. */
export interface Mechanism {
  /** The first command frame, sent once both greetings are complete; `undefined` on the side that waits. */
  begin(): Uint8Array | undefined;
  /** Takes the peer's next command. */
  step(name: string, data: Uint8Array): Step;
}

/** Shared by all connections of a socket. */
export interface Security {
  /** As in the greeting. */
  readonly name: 'NULL' | 'PLAIN' | 'CURVE';
  /** True for the side that authorizes the other. */
  readonly asServer: boolean;
  /** Begins a handshake that announces these encoded properties. */
  handshake(properties: Uint8Array): Mechanism;
}

/** A frame that is encrypted in slices. */
export interface SealingFrame {
  /** Encrypts about `bytes` more; returns how many, 0 when done. */
  step(bytes: number): number;
  /** The frame for the wire, once encryption is done. */
  readonly frame: Uint8Array;
}

/** A frame that is decrypted while it arrives, in the memory it is assembled in. */
export interface OpeningFrame {
  /** The memory holds the first `filled` bytes of the frame, including those already decrypted. */
  advance(body: Uint8Array, filled: number): void;
  /** The whole frame has arrived: as {@link Cipher.open}, but in place. */
  finish(body: Uint8Array): Uint8Array | undefined;
}

/** Encrypts the traffic of one connection. */
export interface Cipher {
  /** Bytes that encryption adds to a body. */
  readonly overhead: number;
  /** The frame on the wire for this body. Send frames in the order of the calls. */
  seal(flags: number, body: Uint8Array): Uint8Array;
  /** Decrypts a frame from the wire into new memory: flags, then the plain body; `undefined` if it is forged, replayed or cut short. */
  open(body: Uint8Array): Uint8Array | undefined;
  /** As {@link seal}, in slices. Encrypt nothing else and do not change the body until it is complete. */
  sealing(flags: number, body: Uint8Array): SealingFrame;
  /** As {@link open}, in slices, once the first {@link overhead} bytes of a frame have arrived. */
  opening(body: Uint8Array): OpeningFrame | undefined;
}

/** The reason a server sends to a client it does not authorize, as in libzmq. */
export const REFUSED = '400';

/** Flag inside an encrypted frame, distinct from ZMTP's flags: more frames follow. */
export const SEALED_MORE = 0x01;
/** The encrypted frame is a command. */
export const SEALED_COMMAND = 0x02;

/** A handshake that failed because of the peer's bytes. */
export function broken(text: string): Step {
  return { failure: { code: 'security', text } };
}

/** The mechanism, guarded against commands that {@link HANDSHAKE} does not allow. */
export function inOrder(state: HandshakeState, mechanism: Mechanism): Mechanism {
  let now = state;
  return {
    begin: () => mechanism.begin(),
    step(name, data) {
      const [verdict, next = now] = HANDSHAKE[now][receivedAs(name)];
      if (verdict === 'fail')
        return { failure: { code: 'malformed', text: `${JSON.stringify(name)} came before ${awaited(now)}` } };
      now = next;
      return mechanism.step(name, data);
    },
  };
}

function receivedAs(name: string): HandshakeCommand {
  return name === 'HELLO' || name === 'WELCOME' || name === 'INITIATE' || name === 'READY' ? name : 'another';
}

function awaited(state: HandshakeState): string {
  const [command = 'traffic'] = Object.entries(HANDSHAKE[state]).find(([, [verdict]]) => verdict === 'accept') ?? [];
  return command;
}
