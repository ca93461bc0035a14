/**
 * {@link Primitives} of this machine: Curve25519 and randomness from OpenSSL through `node:crypto`, XSalsa20-Poly1305 from libsodium or
 * `@noble/ciphers`.
 */
import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { hsalsa } from '@noble/ciphers/salsa.js';
import type { CurveKeys } from '@proj/transport';
import { nobleBoxes } from './boxes/noble.js';
import { loadSodium } from './boxes/sodium.js';
import { KEY_BYTES } from './engine/mechanisms/primitives.js';
import type { KeyPair, Primitives } from './engine/mechanisms/primitives.js';
import { isOn } from './fast/switch.js';

/** DER prefix of an X25519 private key: RFC 8410. */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
/** "expand 32-byte k" */
const SIGMA = new Uint32Array(new Uint8Array(Buffer.from('expand 32-byte k', 'latin1')).buffer);
const NO_INPUT = new Uint32Array(4);

let boxes = nobleBoxes;
let loading: Promise<void> | undefined;

/** Loads libsodium for boxes. Until it is loaded, and without WebAssembly, `@noble/ciphers` makes them. */
export function loadBoxes(): Promise<void> {
  if (!isOn('sodium')) return Promise.resolve();
  return (loading ??= loadSodium().then((loaded) => {
    if (loaded !== undefined) boxes = loaded;
  }));
}

/** The key pair for these raw keys. Throws OpenSSL's error for invalid keys. */
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
  seal: (key, nonce, space) => {
    boxes.seal(key, nonce, space);
  },
  open: (key, nonce, box) => boxes.open(key, nonce, box),
  slices: (key, nonce, way) => boxes.slices(key, nonce, way),
  equal: (one, other) => one.length === other.length && timingSafeEqual(one, other),
};

function pair(publicKey: Uint8Array, privateKey: KeyObject): KeyPair {
  return {
    publicKey,
    agree(theirs) {
      const secret = shared(privateKey, theirs);
      if (secret === undefined) return undefined;
      const key = new Uint32Array(KEY_BYTES / 4);
      // A copy, because the words must be aligned to four bytes.
      const words = new Uint32Array(new Uint8Array(secret).buffer);
      hsalsa(SIGMA, words, NO_INPUT, key);
      words.fill(0);
      secret.fill(0);
      return new Uint8Array(key.buffer);
    },
  };
}

/** OpenSSL rejects points of small order, as it should. */
function shared(privateKey: KeyObject, theirs: Uint8Array): Buffer | undefined {
  try {
    const x = Buffer.from(theirs).toString('base64url');
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' });
    return diffieHellman({ privateKey, publicKey });
  } catch {
    return undefined;
  }
}
