/** Security mechanisms: what a handshake is to the connection, whichever of NULL, PLAIN and CURVE it plays. 37/ZMTP, "Security Mechanisms". */
import type { Failure } from './failure.js';

/** What one command of a handshake leads to. `say` is sent in any case, before what else is here takes effect. */
export interface Step {
  /** A whole command frame. */
  readonly say?: Uint8Array;
  readonly failure?: Failure;
  /** The handshake is complete. */
  readonly met?: Met;
}

/** What a completed handshake has brought. */
export interface Met {
  /** The peer's properties as they came: see `decodeProperties`. */
  readonly properties: Uint8Array;
  /** The long-term key the peer proved to own. */
  readonly publicKey?: Uint8Array;
  /** What all traffic goes through from now on. */
  readonly cipher?: Cipher;
}

/** One handshake, from our side. Takes commands until it said that it is complete or failed. */
export interface Mechanism {
  /** The command frame to begin with, once both greetings are complete; `undefined` for the side that waits. */
  begin(): Uint8Array | undefined;
  /** The peer's next command. */
  step(name: string, data: Uint8Array): Step;
}

/** What one socket asks of all its connections. */
export interface Security {
  /** As it stands in the greeting. */
  readonly name: 'NULL' | 'PLAIN' | 'CURVE';
  /** The side that decides who comes in. */
  readonly asServer: boolean;
  /** A handshake that announces these properties, encoded. */
  handshake(properties: Uint8Array): Mechanism;
}

/** A frame that is sealed slice by slice. */
export interface SealingFrame {
  /** Seals about so many bytes more; returns how many, 0 when all is sealed. */
  step(bytes: number): number;
  /** On the wire, once all is sealed. */
  readonly frame: Uint8Array;
}

/** A frame that is opened while it comes, in the place where it is put together. */
export interface OpeningFrame {
  /** So many bytes of the frame have come, in this memory, where those before are as they were left. */
  advance(body: Uint8Array, filled: number): void;
  /** All of it, once that has come: as {@link Cipher.open}, but in the same memory. */
  finish(body: Uint8Array): Uint8Array | undefined;
}

/** Traffic of one connection, encrypted. */
export interface Cipher {
  /** Bytes that a sealed body has more than the plain one. */
  readonly overhead: number;
  /** A frame on the wire for this body. To be sent in the order in which it was asked for. */
  seal(flags: number, body: Uint8Array): Uint8Array;
  /** The body of a frame from the wire as flags and plain body behind them, new memory; `undefined` when it is forged, old or cut. */
  open(body: Uint8Array): Uint8Array | undefined;
  /** As {@link seal}, in slices. Nothing else is to be sealed before it is complete, for it is to be sent first. The body must not change until then. */
  sealing(flags: number, body: Uint8Array): SealingFrame;
  /** As {@link open}, in slices: of a frame whose first {@link overhead} bytes have come; `undefined` as there. Lasts until it is finished. */
  opening(body: Uint8Array): OpeningFrame | undefined;
}

/** What a server answers whom it does not let in, as libzmq does. */
export const REFUSED = '400';

/** Flags inside of a sealed frame, which are not those of ZMTP: more frames follow. */
export const SEALED_MORE = 0x01;
/** The sealed frame is a command. */
export const SEALED_COMMAND = 0x02;

/** A handshake that failed for what the peer sent. */
export function broken(text: string): Step {
  return { failure: { code: 'security', text } };
}

/** A handshake in which a command came at the wrong time. */
export function unexpected(name: string, awaited: string): Step {
  return { failure: { code: 'malformed', text: `${JSON.stringify(name)} came before ${awaited}` } };
}
