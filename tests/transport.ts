/** What the sockets of our side are made of in the tests that talk to other processes; peers in Python are on libzmq in any case. */
import { HAS_LIBZMQ } from '@proj/testkit/libzmq';
import type { Transport } from '@proj/transport';
import { zmqTransport } from '@proj/transport/zmq';
import { zmtpTransport } from '@proj/zmtp';

/** As the option `--transport` of the programs has it; the project `tests on zmtp` sets the variable. */
export const TRANSPORT: 'zmtp' | 'zmq' = process.env['PROJ_TRANSPORT'] === 'zmtp' || !HAS_LIBZMQ ? 'zmtp' : 'zmq';

/** As the option `transport` of the facades has it. */
export const transport: Transport = TRANSPORT === 'zmtp' ? zmtpTransport() : zmqTransport();
