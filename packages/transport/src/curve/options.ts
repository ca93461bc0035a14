/** From what users say about CURVE to what a port is told. */
import { ProjError } from '../errors.js';
import type { CurveKeys, CurveOptions, HandshakeRefusal, KeyList } from '../port.js';
import { generateCurveKeys } from './keys.js';
import { decodeCurveKey, encodeZ85 } from './z85.js';

/** CURVE of a broker or queue, as its users write it. */
export interface ServerCurve {
  readonly keys: CurveKeys;
  /**
   * Asked once per handshake whether the client of this key, 32 bytes, may come in; or a list of keys that may, whose changes end
   * the connections of keys that are no longer on it. Absent: any key may.
   */
  readonly authorize?: ((publicKey: Uint8Array) => boolean) | KeyList | undefined;
}

/** CURVE of a worker, client, producer or consumer, as its users write it. */
export interface ClientCurve {
  /** Absent, a pair is made up: right where the server lets any key in. */
  readonly keys?: CurveKeys | undefined;
  /** The server's public key: 32 bytes, or their 40 characters of Z85. */
  readonly serverKey: Uint8Array | string;
}

/** What to spread into the options of a server's port. */
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

/** What to spread into the options of a client's ports. Throws `OPTIONS_INVALID` for a text that is no key. */
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
  'server-key': 'the client expects a server of another key',
  mechanism: 'the peer does not use CURVE',
  unknown: 'the peer broke it off',
};
const SERVERS = {
  'server-key': 'the server has another key than the one expected',
  mechanism: 'the server does not use CURVE',
  unknown: 'the server hung up; most likely it has another key than the one expected, or does not use CURVE',
};
