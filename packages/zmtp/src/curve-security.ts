/** CURVE for sockets, with its ciphers. A separate module, loaded only when a socket uses CURVE. */
import type { CurveOptions } from '@proj/transport';
import type { Allocate } from './engine/framing/bytes.js';
import { curve } from './engine/mechanisms/curve.js';
import type { Security } from './engine/mechanisms/mechanism.js';
import { nodePrimitives, pairOf } from './primitives.js';

export { loadBoxes } from './primitives.js';

/** The mechanism of one socket. */
export function curveSecurity(options: CurveOptions, allocate: Allocate): Security {
  const { role } = options;
  return curve({
    primitives: nodePrimitives,
    allocate,
    pair: pairOf(options.keys),
    side:
      role === 'server'
        ? { role, authorize: options.authorize ?? (() => true) }
        : { role, serverKey: Uint8Array.from(options.serverKey) },
  });
}
