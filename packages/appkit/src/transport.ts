/** Which sockets the programs run on: decided here and nowhere else. */
import type { Transport } from '@proj/transport';
import { zmqTransport } from '@proj/transport/zmq';

/** The sockets, clock and randomness of this process. */
export function processTransport(): Transport {
  return zmqTransport();
}
