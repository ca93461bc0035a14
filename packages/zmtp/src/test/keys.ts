/** CURVE keys, and a transport whose sockets all use them. */
import { generateKeyPairSync } from 'node:crypto';
import type { CurveKeys, Transport } from '@proj/transport';

/** A new raw key pair. */
export function newKeys(): CurveKeys {
  const { d = '', x = '' } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  return { publicKey: Buffer.from(x, 'base64url'), secretKey: Buffer.from(d, 'base64url') };
}

const Z85 = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';

/** The key in the form that libzmq's bindings take: 32/Z85. */
export function z85(key: Uint8Array): string {
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  let text = '';
  for (let at = 0; at < key.length; at += 4) {
    const word = view.getUint32(at);
    for (let power = 85 ** 4; power >= 1; power /= 85) text += Z85[Math.floor(word / power) % 85]!;
  }
  return text;
}

/** The same transport, encrypted: routers and publishers are servers, dealers and subscribers are clients that share one key. */
export function curved(transport: Transport, keys: CurveKeys = newKeys()): Transport {
  const server = { role: 'server', keys } as const;
  const client = { role: 'client', keys: newKeys(), serverKey: keys.publicKey } as const;
  return {
    clock: transport.clock,
    entropy: transport.entropy,
    load: () => transport.load(),
    router: (options) => transport.router({ ...options, curve: server }),
    dealer: (options) => transport.dealer({ ...options, curve: client }),
    publisher: (options) => transport.publisher({ ...options, curve: server }),
    subscriber: (options) => transport.subscriber({ ...options, curve: client }),
  };
}
