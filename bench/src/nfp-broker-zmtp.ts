/** The same broker on ZMTP in TypeScript. */
import { NfpBroker } from '@proj/broker';
import { ZmtpTransport } from '@proj/zmtp';
import { serveMeasurements } from './process-under-test.js';

const broker = new NfpBroker({ transport: new ZmtpTransport(), endpoint: 'tcp://127.0.0.1:*', settleMs: 0 });
const [endpoint = ''] = await broker.start();
serveMeasurements(
  { clients: endpoint, workers: endpoint },
  () => broker.stats().workers,
  () => broker.close(),
);
