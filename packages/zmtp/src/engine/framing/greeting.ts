/** The greeting of 37/ZMTP, "Formal Grammar": 64 bytes that announce version and security mechanism. */
import { bytesOf, latin1 } from './bytes.js';
import type { Failure } from '../failure.js';

/** Length of a greeting. */
export const GREETING_BYTES = 64;
/** Length of the signature, which identifies ZMTP. */
export const SIGNATURE_BYTES = 10;

const MAJOR = 3;
const MINOR = 1;

// signature (0xFF, 8 bytes of padding, 0x7F), version-major, version-minor, mechanism (20), as-server, filler (31)
const SIGNATURE_END_AT = SIGNATURE_BYTES - 1;
const MAJOR_AT = SIGNATURE_BYTES;
const MINOR_AT = 11;
const MECHANISM_AT = 12;
const MECHANISM_END = 32;
const AS_SERVER_AT = MECHANISM_END;

/** The greeting we send: version 3.1. */
export function encodeGreeting(mechanism: string, asServer: boolean): Uint8Array {
  const greeting = new Uint8Array(GREETING_BYTES);
  greeting[0] = 0xff;
  greeting[SIGNATURE_END_AT] = 0x7f;
  greeting[MAJOR_AT] = MAJOR;
  greeting[MINOR_AT] = MINOR;
  greeting.set(bytesOf(mechanism), MECHANISM_AT);
  if (asServer) greeting[AS_SERVER_AT] = 1;
  return greeting;
}

/**
 * What is wrong with the first `length` bytes of a greeting, as early as possible: a peer of another protocol may never send all 64. Accepts
 * higher versions than ours (37/ZMTP, "Version Negotiation"). Ignores padding, filler and as-server, which libzmq never sets.
 */
export function greetingFault(greeting: Uint8Array, length: number, mechanism: string): Failure | undefined {
  const byte = (at: number): number => greeting[at] ?? 0;
  if (length > 0 && byte(0) !== 0xff)
    return {
      code: 'not-zmtp',
      text: `the first byte is 0x${hex(byte(0))} instead of 0xff: the peer does not speak ZMTP`,
    };
  if (length > SIGNATURE_END_AT && byte(SIGNATURE_END_AT) !== 0x7f)
    return { code: 'not-zmtp', text: `the signature ends with 0x${hex(byte(SIGNATURE_END_AT))} instead of 0x7f` };
  if (length > MAJOR_AT && byte(MAJOR_AT) < MAJOR)
    return { code: 'version', text: `the peer speaks ZMTP ${byte(MAJOR_AT)}; ${MAJOR}.0 or later is required` };
  if (length < MECHANISM_END) return undefined;
  const offered = latin1(greeting.subarray(MECHANISM_AT, MECHANISM_END)).replace(/\0+$/, '');
  if (offered === mechanism) return undefined;
  return {
    code: 'mechanism',
    text: `the peer's security mechanism is ${JSON.stringify(offered)}; ours is ${mechanism}`,
  };
}

/** True for a peer of ZMTP 3.1 or later; older ones know neither PING nor SUBSCRIBE. */
export function speaks31(greeting: Uint8Array): boolean {
  const major = greeting[MAJOR_AT] ?? 0;
  return major > MAJOR || (major === MAJOR && (greeting[MINOR_AT] ?? 0) >= MINOR);
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
