/** The same broker on ZMTP in TypeScript. */
import { MdpBroker } from '@proj/broker';
import { zmtpTransport } from '@proj/zmtp';
import { serveMeasurements } from './process-under-test.js';

const broker = new MdpBroker({ endpoint: 'tcp://127.0.0.1:*', transport: zmtpTransport() });
const [endpoint = ''] = await broker.start();
serveMeasurements(
  { clients: endpoint, workers: endpoint },
  () => broker.stats().workers,
  () => broker.close(),
);
