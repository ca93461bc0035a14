/** CURVE key pairs (X25519), from the platform's own cryptography, without libzmq. */
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { CurveKeys } from '../port.js';

/** PKCS #8 prefix of a 32-byte X25519 key (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex');
/** The same for SubjectPublicKeyInfo. */
const SPKI_PREFIX_BYTES = 12;

/** A new pair from the system's randomness. */
export function generateCurveKeys(): CurveKeys {
  const { privateKey } = generateKeyPairSync('x25519');
  const secretKey = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(PKCS8_PREFIX.length);
  return { publicKey: publicBytes(privateKey), secretKey: Uint8Array.from(secretKey) };
}

/** The public key that belongs to a secret key of 32 bytes. */
export function publicKeyOf(secretKey: Uint8Array): Uint8Array {
  return publicBytes(createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, secretKey]), format: 'der', type: 'pkcs8' }));
}

function publicBytes(privateKey: KeyObject): Uint8Array {
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return Uint8Array.from(spki.subarray(SPKI_PREFIX_BYTES));
}
