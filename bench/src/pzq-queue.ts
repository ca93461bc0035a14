/** The PZQ queue of the benchmark, as a process of its own, over the folder that PROJ_BENCH_FOLDER names. */
import { PzqServer } from '@proj/pzq';
import { serveMeasurements } from './process-under-test.js';

const any = 'tcp://127.0.0.1:*';
const store = `lmdb:${process.env['PROJ_BENCH_FOLDER'] ?? ''}`;
const queue = new PzqServer({ receive: any, send: any, monitor: any, store });
const { receive, send } = await queue.start();
serveMeasurements(
  { clients: receive[0] ?? '', workers: send[0] ?? '' },
  () => 0,
  () => queue.close(),
);
