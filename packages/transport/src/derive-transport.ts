/** A transport derived from another one. */
import type { Transport } from './port.js';

/** The same transport with these members replaced. */
export function deriveTransport(base: Transport, changes: Partial<Transport>): Transport {
  const { clock, entropy, tellsKeys = false, encrypts = false, memory, probe } = base;
  return {
    clock,
    entropy,
    tellsKeys,
    encrypts,
    load: (options) => base.load(options),
    router: (options) => base.router(options),
    dealer: (options) => base.dealer(options),
    publisher: (options) => base.publisher(options),
    subscriber: (options) => base.subscriber(options),
    ...(memory === undefined ? {} : { memory }),
    ...(probe === undefined ? {} : { probe }),
    ...changes,
  };
}
