/** The cryptography that CURVE needs, as functions that the platform provides. None of it is our own. */

/** Length of all keys. */
export const KEY_BYTES = 32;
/** Length of a nonce. */
export const NONCE_BYTES = 24;
/** Bytes that sealing adds in front: the authenticator. */
export const TAG_BYTES = 16;
/** Scratch space in front of the authenticator: see {@link Primitives.seal}. */
export const SCRATCH_BYTES = 16;

/** Block size: every slice of a box except the last is a multiple of it. */
export const BLOCK_BYTES = 64;

/** A box that is sealed or opened in slices, in place. Its space is as in {@link Primitives.seal}: 32 free bytes, then the text. */
export interface SlicedBox {
  /**
   * Processes the next bytes of the space: whole blocks, except for the last call. The first slice includes the 32 free bytes, with any content
   * before and after.
   */
  next(slice: Uint8Array): void;
  /** The authenticator, after the last slice. Compare it before you trust anything that was opened. */
  tag(): Uint8Array;
}

/** One pair of keys of Curve25519. */
export interface KeyPair {
  readonly publicKey: Uint8Array;
  /** The key of boxes between this pair and a public key (`crypto_box_beforenm`); `undefined` for a point that no honest pair has. */
  agree(publicKey: Uint8Array): Uint8Array | undefined;
}

/** Curve25519, XSalsa20 and Poly1305, combined as in NaCl's `crypto_box`. */
export interface Primitives {
  random(bytes: number): Uint8Array;
  /** A new pair. */
  newPair(): KeyPair;
  /**
   * Encrypts and authenticates in place. `space` holds 32 free bytes and the plaintext; afterwards 16 free bytes, the authenticator and the
   * ciphertext. Aligned to four bytes.
   */
  seal(key: Uint8Array, nonce: Uint8Array, space: Uint8Array): void;
  /** The plaintext of a box, in its own memory; `undefined` if it was not made with this key and nonce. */
  open(key: Uint8Array, nonce: Uint8Array, box: Uint8Array): Uint8Array | undefined;
  /** Begins a box that is too long for one step. Copies the key and nonce. */
  slices(key: Uint8Array, nonce: Uint8Array, way: 'seal' | 'open'): SlicedBox;
  /** Whether two byte strings are equal, in constant time. */
  equal(one: Uint8Array, other: Uint8Array): boolean;
}
