/** The outcome of a handshake between two in-memory sockets: nothing is encrypted, and keys are compared by value. */
import type { CurveOptions, HandshakeRefusal } from '../port.js';

/** What the two sides of a failed handshake learn; a side without CURVE notices nothing. */
export interface FailedHandshake {
  readonly active: HandshakeRefusal | undefined;
  readonly passive: HandshakeRefusal | undefined;
}

type Curve = CurveOptions | undefined;

/** `undefined` if the connecting side (active) and the bound one (passive) may talk. Calls `authorize` once. */
export function shakeHands(active: Curve, passive: Curve): FailedHandshake | undefined {
  if (active === undefined && passive === undefined) return undefined;
  if (active?.role === 'client' && passive?.role === 'server') return meet(active, passive, 'client');
  if (active?.role === 'server' && passive?.role === 'client') return meet(passive, active, 'server');
  return { active: mismatch(active), passive: mismatch(passive) };
}

function mismatch(curve: Curve): HandshakeRefusal | undefined {
  return curve === undefined ? undefined : { reason: 'handshake', cause: 'mechanism' };
}

function meet(
  client: Extract<CurveOptions, { role: 'client' }>,
  server: Extract<CurveOptions, { role: 'server' }>,
  active: CurveOptions['role'],
): FailedHandshake | undefined {
  const { publicKey } = client.keys;
  const told = (toServer: HandshakeRefusal): FailedHandshake => {
    const toClient = { ...toServer, publicKey };
    return active === 'client' ? { active: toClient, passive: toServer } : { active: toServer, passive: toClient };
  };
  if (!isSame(client.serverKey, server.keys.publicKey)) return told({ reason: 'handshake', cause: 'server-key' });
  const isWelcome = server.authorize === undefined || server.authorize(publicKey);
  return isWelcome ? undefined : told({ reason: 'key', publicKey });
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
