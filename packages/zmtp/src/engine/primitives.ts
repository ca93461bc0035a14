/** The cryptography that CURVE stands on, as functions that the platform brings. Nothing of it is our own. */

/** Length of all keys. */
export const KEY_BYTES = 32;
/** Length of a nonce. */
export const NONCE_BYTES = 24;
/** What sealing adds in front: the authenticator. */
export const TAG_BYTES = 16;
/** Scratch space in front of the authenticator: see {@link Primitives.seal}. */
export const SCRATCH_BYTES = 16;

/** Slices of a box are whole blocks of so many bytes, but for the last. */
export const BLOCK_BYTES = 64;

/** A box that is made or opened slice by slice, in place. Its space is as in {@link Primitives.seal}: 32 free bytes, then the text. */
export interface SlicedBox {
  /** The next bytes of the space. All but the last are whole blocks; the first ones hold the 32 free bytes, of any content before and after. */
  next(slice: Uint8Array): void;
  /** The authenticator that belongs to it, after the last slice. Nothing that was opened is to be believed before it was compared. */
  tag(): Uint8Array;
}

/** One pair of keys of Curve25519. */
export interface KeyPair {
  readonly publicKey: Uint8Array;
  /** The key of the boxes between this pair and another's public key (`crypto_box_beforenm`); `undefined` for a point that no honest pair has. */
  agree(publicKey: Uint8Array): Uint8Array | undefined;
}

/** Curve25519, XSalsa20 and Poly1305 as NaCl combines them in `crypto_box`. */
export interface Primitives {
  random(bytes: number): Uint8Array;
  /** A new pair. */
  newPair(): KeyPair;
  /**
   * Encrypts and authenticates in place: `space` holds 32 free bytes and the plain text; afterwards 16 free bytes, the
   * authenticator and the cipher text. Its place in memory is a multiple of four.
   */
  seal(key: Uint8Array, nonce: Uint8Array, space: Uint8Array): void;
  /** The plain text of a box, in memory of its own; `undefined` when it was not made with this key and nonce. */
  open(key: Uint8Array, nonce: Uint8Array, box: Uint8Array): Uint8Array | undefined;
  /** Begins a box that is too long for one step. Key and nonce may change afterwards. */
  slices(key: Uint8Array, nonce: Uint8Array, way: 'seal' | 'open'): SlicedBox;
  /** Whether two byte strings are the same, in a time that does not tell where they differ. */
  equal(one: Uint8Array, other: Uint8Array): boolean;
}
