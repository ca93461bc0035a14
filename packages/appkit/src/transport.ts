/** Which sockets the programs run on: decided here and nowhere else. See docs/adr/0006-zmtp-in-typescript.md. */
import type { Transport } from '@proj/transport';
import { zmqTransport } from '@proj/transport/zmq';
import { zmtpTransport } from '@proj/zmtp';
import { encrypted } from './encryption.js';
import { oneOf } from './fields.js';

const TRANSPORTS = { zmq: zmqTransport, zmtp: zmtpTransport };

/** The option `--transport` of a program. Peers notice no difference. */
export function transportOption() {
  return oneOf(['zmtp', 'zmq'])
    .default('zmtp')
    .describe('what the sockets are made of: ZMTP in TypeScript, or libzmq, which bounds less of what peers may do');
}

/** The sockets, clock and randomness of this process, encrypted if its command says so. */
export function processTransport(kind: keyof typeof TRANSPORTS = 'zmtp'): Transport {
  return encrypted(TRANSPORTS[kind](), kind);
}

/** The same for what nobody answers: a message that found no connection by which to go counts as not sent, or holds up `close`. */
export function unansweredTransport(kind: keyof typeof TRANSPORTS): Transport {
  return encrypted(kind === 'zmq' ? zmqTransport({ connectedOnly: true }) : zmtpTransport(), kind);
}
