/**
 * The yardstick: a ROUTER loop on zeromq.js that turns the frames of an MDP 0.2 request into those of a worker request and
 * back, using the workers in turn. It does nothing else: no state per request, no limits, no liveness.
 */
import { Router } from 'zeromq';
import { serveMeasurements } from './process-under-test.js';

const workerHeader = Buffer.from('MDPW02');
const clientHeader = Buffer.from('MDPC02');
const command = { ready: 1, request: Buffer.from([2]), final: Buffer.from([3]) };
const delimiter = Buffer.alloc(0);
const service = Buffer.from('echo');

const router = new Router({
  linger: 0,
  mandatory: true,
  sendTimeout: 0,
  sendHighWaterMark: 100_000,
  receiveHighWaterMark: 100_000,
});
await router.bind('tcp://127.0.0.1:*');

const workers: Buffer[] = [];

async function forward(): Promise<void> {
  let turn = 0;
  for await (const frames of router as AsyncIterable<Buffer[]>) {
    const [peer, header, word] = frames as [Buffer, Buffer, Buffer];
    if (header[3] === clientHeader[3]) {
      const worker = workers[turn++ % workers.length];
      if (worker !== undefined)
        await router.send([worker, workerHeader, command.request, peer, delimiter, ...frames.slice(4)]);
    } else if (word[0] === command.ready) {
      workers.push(peer);
    } else if (frames.length > 3) {
      await router.send([frames[3] as Buffer, clientHeader, command.final, service, ...frames.slice(5)]);
    }
  }
}

const loop = forward();
const endpoint = router.lastEndpoint ?? '';
serveMeasurements(
  { clients: endpoint, workers: endpoint },
  () => workers.length,
  async () => {
    router.close();
    await loop;
  },
);
