/**
 * The yardstick: a ROUTER loop on zeromq.js that answers an NFP POST with a fixed 202, turns its frames into a worker's
 * POST, using the workers in turn, and turns a worker's RESPONSE into one for the client. It does nothing else: no
 * targets, no jobs, no limits, no liveness.
 */
import { Router } from 'zeromq';
import { serveMeasurements } from './process-under-test.js';

const own = Buffer.from('NFPB01');
const client = Buffer.from('NFPC01');
const command = { ready: Buffer.from('0x01'), post: Buffer.from('0x04'), response: Buffer.from('0x05') };
const empty = Buffer.alloc(0);
const service = Buffer.from('echo');
const dispatched = [
  Buffer.from('202'),
  Buffer.from(`{"workers":["w1"],"uuid":"${'0'.repeat(32)}","target":"any","status":"DISPATCHED","service":"echo"}`),
];

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
    const [peer, , header, word] = frames as [Buffer, Buffer, Buffer, Buffer];
    if (header[3] === client[3]) {
      const worker = workers[turn++ % workers.length];
      const uuid = frames[6] as Buffer;
      await router.send([peer, empty, own, command.response, service, uuid, ...dispatched]);
      if (worker !== undefined)
        await router.send([worker, empty, own, command.post, peer, empty, uuid, ...frames.slice(7)]);
    } else if (word.equals(command.ready)) {
      workers.push(peer);
    } else if (frames.length > 5) {
      await router.send([frames[4] as Buffer, empty, own, word, service, ...frames.slice(6)]);
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
