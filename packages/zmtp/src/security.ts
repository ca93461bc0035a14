/** The security mechanism that the options of a socket and of its transport ask for. */
import type { CurveOptions } from '@proj/transport';
import type { Allocate } from './engine/bytes.js';
import { curve } from './engine/curve.js';
import type { Security } from './engine/mechanism.js';
import { plain } from './engine/plain.js';
import type { PlainOptions } from './engine/plain.js';
import { loadBoxes, nodePrimitives, pairOf } from './primitives.js';

/** CURVE where the socket has it, else PLAIN where the transport has it, else `undefined` for NULL. */
export function securityOf(
  options: CurveOptions | undefined,
  fallback: PlainOptions | undefined,
  allocate: Allocate,
): Security | undefined {
  if (options === undefined) return fallback && plain(fallback);
  const { role } = options;
  void loadBoxes();
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
