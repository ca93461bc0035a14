/** Our job manager as a measured process: eight slots, real processes, otherwise default settings. */
import { EmqpJobManager } from '@proj/worker';
import { zmqTransport } from '@proj/transport/zmq';
import { serveMeasurements } from './process-under-test.js';

const workers = process.env['PROJ_BENCH_BACKEND'] ?? '';
const manager = new EmqpJobManager({
  transport: zmqTransport(),
  endpoints: [workers],
  handlers: new URL('./emqp-jobs.js', import.meta.url),
  concurrency: 8,
});
await manager.start();
serveMeasurements(
  { clients: '', workers },
  () => manager.stats()?.free ?? 0,
  () => manager.close(),
);
