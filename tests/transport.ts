/** The socket implementation of our side in tests with other processes; Python peers always use libzmq. */
import { HAS_LIBZMQ } from '@proj/testkit/libzmq';
import type { Transport } from '@proj/transport';
import { zmqTransport } from '@proj/transport/zmq';
import { zmtpTransport } from '@proj/zmtp';

/** As in the programs' option `--transport`; the project `tests on zmtp` sets the variable. */
export const TRANSPORT: 'zmtp' | 'zmq' = process.env['PROJ_TRANSPORT'] === 'zmtp' || !HAS_LIBZMQ ? 'zmtp' : 'zmq';

/** As in the facades' option `transport`. */
export const transport: Transport = TRANSPORT === 'zmtp' ? zmtpTransport() : zmqTransport();
