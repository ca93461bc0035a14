/** The same broker on ZMTP in TypeScript. Options beyond the defaults in PROJ_BENCH_BROKER, as JSON. */
import { MdpBroker } from '@proj/broker';
import type { MdpBrokerOptions } from '@proj/broker';
import { zmtpTransport } from '@proj/zmtp';
import { serveMeasurements } from './process-under-test.js';

const options = JSON.parse(process.env['PROJ_BENCH_BROKER'] ?? '{}') as MdpBrokerOptions;
const broker = new MdpBroker({ endpoint: 'tcp://127.0.0.1:*', transport: zmtpTransport(), ...options });
const [endpoint = ''] = await broker.start();
serveMeasurements(
  { clients: endpoint, workers: endpoint },
  () => broker.stats().workers,
  () => broker.close(),
);
