/** Security mechanisms: what a handshake is to the connection, whether NULL, PLAIN or CURVE. 37/ZMTP, "Security Mechanisms". */
import type { Failure } from './failure.js';
import { HANDSHAKE } from './legality.js';
import type { HandshakeCommand, HandshakeState } from './legality.js';

/** The result of one command of a handshake. `say` is sent first in any case. */
export interface Step {
  /** A whole command frame. */
  readonly say?: Uint8Array;
  readonly failure?: Failure;
  /** The handshake is complete. */
  readonly met?: Met;
}

/** The result of a complete handshake. */
export interface Met {
  /** The peer's properties as they came: see `decodeProperties`. */
  readonly properties: Uint8Array;
  /** The long-term key that the peer proved to own. */
  readonly publicKey?: Uint8Array;
  /** Encrypts all traffic from now on. */
  readonly cipher?: Cipher;
}

/** Our side of one handshake. Takes commands until it is complete or has failed. */
export interface Mechanism {
  /** The first command frame, sent once both greetings are complete; `undefined` for the side that waits. */
  begin(): Uint8Array | undefined;
  /** Takes the peer's next command. */
  step(name: string, data: Uint8Array): Step;
}

/** The same for all connections of one socket. */
export interface Security {
  /** As in the greeting. */
  readonly name: 'NULL' | 'PLAIN' | 'CURVE';
  /** True for the side that decides who is let in. */
  readonly asServer: boolean;
  /** Begins a handshake that announces these encoded properties. */
  handshake(properties: Uint8Array): Mechanism;
}

/** A frame that is encrypted slice by slice. */
export interface SealingFrame {
  /** Encrypts about so many bytes more; returns how many, 0 when all is done. */
  step(bytes: number): number;
  /** On the wire, once all is done. */
  readonly frame: Uint8Array;
}

/** A frame that is decrypted while it comes, in the memory where it is put together. */
export interface OpeningFrame {
  /** The first `filled` bytes of the frame are in this memory, what was decrypted before included. */
  advance(body: Uint8Array, filled: number): void;
  /** The whole frame has come: as {@link Cipher.open}, but in the same memory. */
  finish(body: Uint8Array): Uint8Array | undefined;
}

/** Encrypts the traffic of one connection. */
export interface Cipher {
  /** Bytes that encryption adds to a body. */
  readonly overhead: number;
  /** A frame on the wire for this body. Frames must be sent in the order of the calls. */
  seal(flags: number, body: Uint8Array): Uint8Array;
  /** Flags and behind them the plain body of a frame from the wire, in new memory; `undefined` if it is forged, old or cut short. */
  open(body: Uint8Array): Uint8Array | undefined;
  /** As {@link seal}, in slices. Nothing else may be encrypted, and the body must not change, until it is complete. */
  sealing(flags: number, body: Uint8Array): SealingFrame;
  /** As {@link open}, in slices, for a frame whose first {@link overhead} bytes have come. */
  opening(body: Uint8Array): OpeningFrame | undefined;
}

/** The reason that a server gives to those whom it does not let in, as libzmq does. */
export const REFUSED = '400';

/** A flag inside an encrypted frame, where flags are not those of ZMTP: more frames follow. */
export const SEALED_MORE = 0x01;
/** The encrypted frame is a command. */
export const SEALED_COMMAND = 0x02;

/** A handshake that failed because of what the peer sent. */
export function broken(text: string): Step {
  return { failure: { code: 'security', text } };
}

/** The mechanism, protected from commands that {@link HANDSHAKE} does not allow. */
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
