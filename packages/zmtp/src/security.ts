/** Chooses the security mechanism from the options of a socket and its transport. */
import { ProjError } from '@proj/transport';
import type { CurveOptions } from '@proj/transport';
import type * as Curve from './curve-security.js';
import type { Allocate } from './engine/framing/bytes.js';
import type { Security } from './engine/mechanisms/mechanism.js';
import { plain } from './engine/mechanisms/plain.js';
import type { PlainOptions } from './engine/mechanisms/plain.js';

let loading: Promise<void> | undefined;
let loaded: typeof Curve | undefined;

/** Loads CURVE with the fastest ciphers that run here. Idempotent; rejects with `UNAVAILABLE` and may be retried. */
export function loadCurve(): Promise<void> {
  return (loading ??= load().catch((cause: unknown) => {
    loading = undefined;
    throw new ProjError('UNAVAILABLE', 'CURVE could not be loaded', { cause });
  }));
}

async function load(): Promise<void> {
  const module = await import('./curve-security.js');
  await module.loadBoxes();
  loaded = module;
}

/** CURVE if the socket has it, else PLAIN if the transport has it, else `undefined` for NULL. Throws `UNAVAILABLE` before {@link loadCurve}. */
export function securityOf(
  options: CurveOptions | undefined,
  fallback: PlainOptions | undefined,
  allocate: Allocate,
): Security | undefined {
  if (options === undefined) return fallback && plain(fallback);
  if (loaded === undefined)
    throw new ProjError('UNAVAILABLE', 'CURVE is not loaded; await load() before you open a socket with CURVE');
  return loaded.curveSecurity(options, allocate);
}
