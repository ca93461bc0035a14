/** ZMTP, the wire protocol of ZeroMQ, in TypeScript: a transport for every broker, worker and client of the project. */
import type { Transport } from '@proj/transport';
import { ZmtpTransport } from './transport.js';

export { ZMTP_LIMITS } from './limits.js';
export type { Failure, FailureCode } from './engine/failure.js';
export type { PlainOptions } from './engine/plain.js';
export { ZmtpTransport } from './transport.js';
export type { ConnectionFailure, ZmtpOptions } from './transport.js';

/** The part of a facade's settings that {@link loadTransport} needs. */
export interface TransportSettings {
  readonly transport?: Transport | undefined;
  readonly curve?: object | undefined;
}

let shared: Transport | undefined;

/** The transport of this process with default settings, shared by all its brokers, workers and clients. */
export function zmtpTransport(): Transport {
  return (shared ??= new ZmtpTransport());
}

/**
 * The transport of a facade, by its settings: the given one, else {@link zmtpTransport}, ready for sockets, and for CURVE where the
 * settings have it. Rejects with `UNAVAILABLE` where it cannot run.
 */
export async function loadTransport(settings: TransportSettings): Promise<Transport> {
  const transport = settings.transport ?? zmtpTransport();
  await transport.load({ curve: settings.curve !== undefined });
  return transport;
}
