/** Our broker as a measured process: the product's facade with default settings. */
import { EmqpBroker } from '@proj/broker';
import { zmqTransport } from '@proj/transport/zmq';
import { serveMeasurements } from './process-under-test.js';

const FREE = 'tcp://127.0.0.1:*';

const broker = new EmqpBroker({ transport: zmqTransport(), frontend: FREE, backend: FREE, admin: FREE });
const { frontend, backend } = await broker.start();
serveMeasurements(
  { clients: frontend[0] ?? '', workers: backend[0] ?? '' },
  () => broker.stats().workers,
  () => broker.close(),
);
