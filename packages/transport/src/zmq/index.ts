/** Sockets of libzmq through `zeromq`, for Node.js. */
import type { Transport } from '../port.js';
import { ZmqTransport } from './transport.js';

export { systemEntropy } from './entropy.js';

let shared: Transport | undefined;

/** The transport of this process: one libzmq context for all its brokers, workers and clients. Loads nothing yet. */
export function zmqTransport(): Transport {
  return (shared ??= new ZmqTransport());
}
