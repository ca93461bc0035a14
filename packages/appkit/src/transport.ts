/** Which sockets the programs run on: decided here and nowhere else. See docs/adr/0006-zmtp-in-typescript.md. */
import { ProjError } from '@proj/transport';
import type { Transport } from '@proj/transport';
import { zmqTransport } from '@proj/transport/zmq';
import { ZmtpTransport, zmtpTransport } from '@proj/zmtp';
import { encrypted } from './encryption.js';
import { oneOf, wholeNumber } from './fields.js';

const TRANSPORTS = { zmq: zmqTransport, zmtp: zmtpTransport };

/** The option `--transport` of a program. Peers notice no difference. */
export function transportOption() {
  return oneOf(['zmtp', 'zmq'])
    .default('zmtp')
    .describe('what the sockets are made of: ZMTP in TypeScript, or libzmq, which bounds less of what peers may do');
}

/** The option `--poll-us` of a program that peers connect to. See docs/adr/0014-a-hub-looks-before-it-sleeps.md. */
export function pollOption() {
  return wholeNumber({ min: 0, max: 10_000 })
    .optional()
    .describe(
      'microseconds to look for the next message before sleeping, with --transport zmtp, where that is measured to bring it sooner; 0 is never (default: 200, with one core 0)',
    );
}

/**
 * The sockets, clock and randomness of this process, encrypted if its command says so. Throws `OPTIONS_INVALID` where there is a
 * {@link pollOption} for libzmq.
 */
export function processTransport(kind: keyof typeof TRANSPORTS = 'zmtp', pollUs?: number): Transport {
  if (pollUs === undefined) return encrypted(TRANSPORTS[kind](), kind);
  if (kind === 'zmq') throw new ProjError('OPTIONS_INVALID', '--poll-us: needs --transport zmtp; libzmq always sleeps');
  return encrypted(new ZmtpTransport({ pollUs }), kind);
}

/** The same for what nobody answers: a message that found no connection by which to go counts as not sent, or holds up `close`. */
export function unansweredTransport(kind: keyof typeof TRANSPORTS): Transport {
  return encrypted(kind === 'zmq' ? zmqTransport({ connectedOnly: true }) : zmtpTransport(), kind);
}
