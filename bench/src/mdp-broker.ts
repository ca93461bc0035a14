/** Our broker as a measured process: the product's facade with default settings. */
import { MdpBroker } from '@proj/broker';
import { zmqTransport } from '@proj/transport/zmq';
import { serveMeasurements } from './process-under-test.js';

const broker = new MdpBroker({ transport: zmqTransport(), endpoint: 'tcp://127.0.0.1:*' });
const [endpoint = ''] = await broker.start();
serveMeasurements(
  { clients: endpoint, workers: endpoint },
  () => broker.stats().workers,
  () => broker.close(),
);
