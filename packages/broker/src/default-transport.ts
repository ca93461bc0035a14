/** What a broker runs on unless it is told otherwise. */
import type { Transport } from '@proj/transport';

/** The given transport, or ZeroMQ, which is not loaded before somebody asks. */
export async function transportOr(given: Transport | undefined): Promise<Transport> {
  return given ?? (await import('@proj/transport/zmq')).zmqTransport();
}
