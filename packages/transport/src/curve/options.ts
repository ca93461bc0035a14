/** Converts users' CURVE options to those of a port. */
import { ProjError } from '../errors.js';
import type { CurveKeys, CurveOptions, HandshakeRefusal, KeyList } from '../port.js';
import { generateCurveKeys } from './keys.js';
import { decodeCurveKey, encodeZ85 } from './z85.js';

/** CURVE options of a broker or queue. */
export interface ServerCurve {
  readonly keys: CurveKeys;
  /**
   * Whether the client with this 32-byte key may connect, called once per handshake; or a list of authorized keys, whose changes end the
   * connections of removed keys. Absent: any key may.
   */
  readonly authorize?: ((publicKey: Uint8Array) => boolean) | KeyList | undefined;
}

/** CURVE options of a worker, client, producer or consumer. */
export interface ClientCurve {
  /** Default: a new pair, for servers that accept any key. */
  readonly keys?: CurveKeys | undefined;
  /** The server's public key: 32 bytes, or their 40 characters of Z85. */
  readonly serverKey: Uint8Array | string;
}

/** Spread this into the options of a server's port. */
export function serverCurve(curve: ServerCurve | undefined): { readonly curve?: CurveOptions } {
  if (curve === undefined) return {};
  const { keys, authorize } = curve;
  if (authorize === undefined) return { curve: { role: 'server', keys } };
  if (typeof authorize === 'function') return { curve: { role: 'server', keys, authorize } };
  return {
    curve: {
      role: 'server',
      keys,
      authorize: (publicKey) => authorize.has(publicKey),
      onAuthorizeChange: (listener) => authorize.onChange(listener),
    },
  };
}

/** Spread this into the options of a client's ports. Throws `OPTIONS_INVALID` for an invalid key. */
export function clientCurve(curve: ClientCurve | undefined): { readonly curve?: CurveOptions } {
  if (curve === undefined) return {};
  const { keys = generateCurveKeys(), serverKey } = curve;
  const key = typeof serverKey === 'string' ? decodeCurveKey(serverKey) : serverKey;
  if (key === undefined)
    throw new ProjError('OPTIONS_INVALID', 'option curve.serverKey: must be 32 bytes, or 40 characters of Z85');
  return { curve: { role: 'client', keys, serverKey: key } };
}

/** The likely meaning of a refusal, as one sentence for a log line on this `side`. */
export function explainRefusal({ reason, cause, publicKey }: HandshakeRefusal, side: 'server' | 'client'): string {
  const key = publicKey === undefined ? '' : ` ${encodeZ85(publicKey)}`;
  if (reason === 'key')
    return side === 'server'
      ? `a client was refused: its key${key} is not on the list of authorized keys`
      : `the server refused our key${key}: it is not on its list of authorized keys`;
  if (side === 'server') return `a handshake failed: ${ATTEMPTS[cause ?? 'unknown']}`;
  return `the handshake failed: ${SERVERS[cause ?? 'unknown']}`;
}

const ATTEMPTS = {
  'server-key': 'the client expects a server with another key',
  mechanism: 'the peer does not use CURVE',
  unknown: 'the peer ended it',
};
const SERVERS = {
  'server-key': 'the key of the server is not the expected one',
  mechanism: 'the server does not use CURVE',
  unknown: 'the server closed the connection; most likely its key is not the expected one, or it does not use CURVE',
};
