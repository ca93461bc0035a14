/** ZMTP, ZeroMQ's wire protocol, in TypeScript: a transport for every broker, worker and client of the project. */
import type { Transport } from '@proj/transport';
import { ZmtpTransport } from './transport.js';

export { ZMTP_LIMITS } from './limits.js';
export type { Failure, FailureCode } from './engine/failure.js';
export type { PlainOptions } from './engine/mechanisms/plain.js';
export * from './transport.js';

let shared: Transport | undefined;

/** The default transport of this process, shared by all its brokers, workers and clients. */
export function zmtpTransport(): Transport {
  return (shared ??= new ZmtpTransport());
}

/**
 * The transport a facade runs on: the given one, or {@link zmtpTransport}. It is loaded, including CURVE if the facade uses it. Rejects with
 * `UNAVAILABLE` if it cannot run.
 */
export async function loadTransport(given: Transport | undefined, curve: object | undefined): Promise<Transport> {
  const transport = given ?? zmtpTransport();
  await transport.load({ curve: curve !== undefined });
  return transport;
}
