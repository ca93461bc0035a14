/** Our Paranoid Pirate queue as a measured process: the product's facade with default settings. */
import { PppQueue } from '@proj/broker';
import { zmqTransport } from '@proj/transport/zmq';
import { serveMeasurements } from './process-under-test.js';

const queue = new PppQueue({ transport: zmqTransport(), frontend: 'tcp://127.0.0.1:*', backend: 'tcp://127.0.0.1:*' });
const {
  frontend: [clients = ''],
  backend: [workers = ''],
} = await queue.start();
serveMeasurements(
  { clients, workers },
  () => queue.stats().workers,
  () => queue.close(),
);
