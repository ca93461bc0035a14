/** What a client runs on unless it is told otherwise. */
import type { Transport } from '@proj/transport';

/** The given transport, or ZeroMQ, ready for sockets. Rejects with `UNAVAILABLE` where it cannot run. */
export async function loadTransport(given: Transport | undefined): Promise<Transport> {
  const transport = given ?? (await import('@proj/transport/zmq')).zmqTransport();
  await transport.load();
  return transport;
}
