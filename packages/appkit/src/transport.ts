/** The sockets that all programs run on. See docs/adr/0006-zmtp-in-typescript.md. */
import type { Transport } from '@proj/transport';
import { zmqTransport } from '@proj/transport/zmq';
import { zmtpTransport } from '@proj/zmtp';
import { encrypted } from './encryption.js';
import { oneOf } from './fields.js';

const TRANSPORTS = { zmq: zmqTransport, zmtp: zmtpTransport };

/** The option `--transport` of a program. Makes no difference to peers. */
export function transportOption() {
  return oneOf(['zmtp', 'zmq'])
    .default('zmtp')
    .describe('socket implementation: ZMTP in TypeScript, or libzmq, which limits peers less');
}

/** The sockets, clock and randomness of this process, with the command's encryption. */
export function processTransport(kind: keyof typeof TRANSPORTS = 'zmtp'): Transport {
  return encrypted(TRANSPORTS[kind](), kind);
}

/** The same for messages without replies: one without a connection counts as not sent, or delays `close`. */
export function unansweredTransport(kind: keyof typeof TRANSPORTS): Transport {
  return encrypted(kind === 'zmq' ? zmqTransport({ connectedOnly: true }) : zmtpTransport(), kind);
}
