/** Sockets of libzmq through `zeromq`, for Node.js. */
import type { Transport } from '../port.js';
import { ZmqTransport } from './transport.js';
import type { ZmqOptions } from './transport.js';

export { systemEntropy } from '../entropy.js';
export type { ZmqOptions } from './transport.js';

let shared: Transport | undefined;

/** The transport of this process: one libzmq context shared by all brokers, workers and clients. With options, a separate one. Loads nothing yet. */
export function zmqTransport(options?: ZmqOptions): Transport {
  return options === undefined ? (shared ??= new ZmqTransport()) : new ZmqTransport(undefined, options);
}
