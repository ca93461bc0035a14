/** The PZQ queue of the benchmark, as a separate process: folder in PROJ_BENCH_FOLDER, `zmq` or `zmtp` in PROJ_BENCH_TRANSPORT. */
import { PzqServer } from '@proj/pzq';
import { zmqTransport } from '@proj/transport/zmq';
import { zmtpTransport } from '@proj/zmtp';
import { serveMeasurements } from './process-under-test.js';

const any = 'tcp://127.0.0.1:*';
const store = `lmdb:${process.env['PROJ_BENCH_FOLDER'] ?? ''}`;
const transport = process.env['PROJ_BENCH_TRANSPORT'] === 'zmtp' ? zmtpTransport() : zmqTransport();
const queue = new PzqServer({ receive: any, send: any, monitor: any, store, transport });
const { receive, send } = await queue.start();
serveMeasurements(
  { clients: receive[0] ?? '', workers: send[0] ?? '' },
  () => 0,
  () => queue.close(),
);
