/** {@link Primitives} of this machine: Curve25519 and randomness of OpenSSL through `node:crypto`, XSalsa20-Poly1305 of `@noble/ciphers`. */
import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { hsalsa, xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import type { CurveKeys } from '@proj/transport';
import { KEY_BYTES } from './parts/primitives.js';
import type { KeyPair, Primitives } from './parts/primitives.js';

/** A private key of X25519 in DER up to the key itself: RFC 8410. */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
/** "expand 32-byte k" */
const SIGMA = new Uint32Array(new Uint8Array(Buffer.from('expand 32-byte k', 'latin1')).buffer);
const NO_INPUT = new Uint32Array(4);
/** What opening needs beside the box. */
const OPEN_SCRATCH_BYTES = 32;
/** What stands in front of the opened text. */
const OPENED_AT = 48;

/** The pair of these raw keys. Throws what OpenSSL throws for keys that are none. */
export function pairOf({ publicKey, secretKey }: CurveKeys): KeyPair {
  const der = Buffer.concat([PKCS8, secretKey]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  der.fill(0);
  return pair(Uint8Array.from(publicKey), key);
}

/** The primitives of Node. */
export const nodePrimitives: Primitives = {
  random: (bytes) => randomBytes(bytes),
  newPair() {
    const { publicKey, privateKey } = generateKeyPairSync('x25519');
    return pair(Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url'), privateKey);
  },
  seal(key, nonce, space) {
    xsalsa20poly1305(key, nonce).encrypt(space.subarray(OPEN_SCRATCH_BYTES), space);
  },
  open(key, nonce, box) {
    const space = Buffer.allocUnsafe(box.length + OPEN_SCRATCH_BYTES);
    try {
      xsalsa20poly1305(key, nonce).decrypt(box, space);
    } catch {
      return undefined;
    }
    return space.subarray(OPENED_AT);
  },
  equal: (one, other) => one.length === other.length && timingSafeEqual(one, other),
};

function pair(publicKey: Uint8Array, privateKey: KeyObject): KeyPair {
  return {
    publicKey,
    agree(theirs) {
      const secret = shared(privateKey, theirs);
      if (secret === undefined) return undefined;
      const key = new Uint32Array(KEY_BYTES / 4);
      // A copy: the words must lie at a multiple of four.
      const words = new Uint32Array(new Uint8Array(secret).buffer);
      hsalsa(SIGMA, words, NO_INPUT, key);
      words.fill(0);
      secret.fill(0);
      return new Uint8Array(key.buffer);
    },
  };
}

/** OpenSSL refuses points of small order, as it should. */
function shared(privateKey: KeyObject, theirs: Uint8Array): Buffer | undefined {
  try {
    const x = Buffer.from(theirs).toString('base64url');
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' });
    return diffieHellman({ privateKey, publicKey });
  } catch {
    return undefined;
  }
}
