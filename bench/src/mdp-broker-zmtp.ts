/** The same broker on ZMTP in TypeScript. Extra options as JSON: for the broker in PROJ_BENCH_BROKER, for its transport in PROJ_BENCH_TRANSPORT. */
import { MdpBroker } from '@proj/broker';
import type { MdpBrokerOptions } from '@proj/broker';
import { ZmtpTransport } from '@proj/zmtp';
import type { ZmtpOptions } from '@proj/zmtp';
import { serveMeasurements } from './process-under-test.js';

const options = JSON.parse(process.env['PROJ_BENCH_BROKER'] ?? '{}') as MdpBrokerOptions;
const transport = new ZmtpTransport(JSON.parse(process.env['PROJ_BENCH_TRANSPORT'] ?? '{}') as ZmtpOptions);
const broker = new MdpBroker({ endpoint: 'tcp://127.0.0.1:*', transport, ...options });
const [endpoint = ''] = await broker.start();
serveMeasurements(
  { clients: endpoint, workers: endpoint },
  () => broker.stats().workers,
  () => broker.close(),
);
