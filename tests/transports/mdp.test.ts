/** Majordomo from end to end: all parts over ZMTP in TypeScript, and together with libzmq. */
import { MdpBroker } from '@proj/broker';
import { MdpClient } from '@proj/client';
import { HAS_LIBZMQ } from '@proj/testkit/libzmq';
import type { Transport } from '@proj/transport';
import { zmqTransport } from '@proj/transport/zmq';
import { MdpWorker } from '@proj/worker';
import { describe, expect, it } from 'vitest';
import { ZmtpTransport } from '@proj/zmtp';

const MIB = 2 ** 20;
const zmtp = new ZmtpTransport();
const zmq = zmqTransport();
type Parts = [name: string, brokers: Transport, workers: Transport, clients: Transport];

const withLibzmq: readonly Parts[] = [
  ['a broker over zmtp, worker and client over libzmq', zmtp, zmq, zmq],
  ['a broker over libzmq, worker and client over zmtp', zmq, zmtp, zmtp],
];
describe.each<Parts>([['all of them over zmtp', zmtp, zmtp, zmtp], ...(HAS_LIBZMQ ? withLibzmq : [])])(
  '%s',
  (_, brokers, workers, clients) => {
    it('answer requests of any size, at once and one by one, and shut down cleanly', async () => {
      await using broker = new MdpBroker({ endpoint: 'tcp://127.0.0.1:*', lingerMs: 5_000, transport: brokers });
      const endpoints = await broker.start();
      const worker = new MdpWorker({
        endpoints,
        service: 'echo',
        concurrency: 16,
        handler: ({ body }) => body,
        transport: workers,
      });
      await worker.start();
      await using client = new MdpClient({ endpoints, timeoutMs: 60_000, transport: clients });

      const bodies = Array.from({ length: 500 }, (_, index) => `request ${index}`);
      const answers = await Promise.all(bodies.map((body) => client.request('echo', body)));
      expect(answers.map(String)).toEqual(bodies);

      const large = [Buffer.from('head'), Buffer.alloc(8 * MIB, 'large'), Buffer.alloc(0)];
      const back = await client.request('echo', large);
      expect([back.length, Buffer.compare(Buffer.concat(back), Buffer.concat(large))]).toEqual([3, 0]);

      const lost = new Promise<string>((resolve) => {
        broker.on('worker-lost', ({ reason }) => {
          resolve(reason);
        });
      });
      await worker.drain();
      expect(await lost).toBe('disconnected');
    });
  },
);
