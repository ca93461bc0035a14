/** The same broker on ZMTP in TypeScript. */
import { MdpBroker } from '@proj/broker';
import { zmtpTransport } from '@proj/zmtp';
import { serveMeasurements } from './process-under-test.js';

/** Workers that do nothing must not expire while they are counted. */
const heartbeatMs = process.env['PROJ_BENCH_HEARTBEAT_MS'];
const broker = new MdpBroker({
  endpoint: 'tcp://127.0.0.1:*',
  transport: zmtpTransport(),
  ...(heartbeatMs === undefined ? {} : { heartbeatIntervalMs: Number(heartbeatMs) }),
});
const [endpoint = ''] = await broker.start();
serveMeasurements(
  { clients: endpoint, workers: endpoint },
  () => broker.stats().workers,
  () => broker.close(),
);
