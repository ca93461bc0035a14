/** ZMTP, the wire protocol of ZeroMQ, in TypeScript: a transport for every broker, worker and client of the project. */
import type { Transport } from '@proj/transport';
import { ZmtpTransport } from './transport.js';

export { ZMTP_LIMITS } from './limits.js';
export type { Failure, FailureCode } from './engine/failure.js';
export type { PlainOptions } from './engine/plain.js';
export { ZmtpTransport } from './transport.js';
export type { ConnectionFailure, ZmtpOptions } from './transport.js';

let shared: Transport | undefined;

/** The transport of this process with default settings, shared by all its brokers, workers and clients. */
export function zmtpTransport(): Transport {
  return (shared ??= new ZmtpTransport());
}

/**
 * What a facade runs on: the given transport, else {@link zmtpTransport}, ready for sockets, and for CURVE where the facade has it.
 * Rejects with `UNAVAILABLE` where it cannot run.
 */
export async function loadTransport(given: Transport | undefined, curve: object | undefined): Promise<Transport> {
  const transport = given ?? zmtpTransport();
  await transport.load({ curve: curve !== undefined });
  return transport;
}
