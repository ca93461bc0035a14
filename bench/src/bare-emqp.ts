/**
 * The yardstick: a ROUTER loop on zeromq.js that accepts an EventMQ REQUEST, sends its frames to the workers in turn, and
 * returns each result to the client of the REQUEST, by its id. It does nothing else: no queues, no slots, no limits, no
 * liveness.
 */
import { Router } from 'zeromq';
import { serveMeasurements } from './process-under-test.js';

const version = Buffer.from('eMQP/1.0');
const word = { ack: Buffer.from('ACK'), reply: Buffer.from('REPLY'), request: Buffer.from('REQUEST') };
const inform = Buffer.from('INFORM');
const empty = Buffer.alloc(0);
const own = Buffer.from('c0ffee00-0000-4000-8000-000000000000');

const router = new Router({
  linger: 0,
  mandatory: true,
  sendTimeout: 0,
  sendHighWaterMark: 100_000,
  receiveHighWaterMark: 100_000,
});
await router.bind('tcp://127.0.0.1:*');

const workers: Buffer[] = [];
const clients = new Map<string, Buffer>();

async function forward(): Promise<void> {
  let turn = 0;
  for await (const frames of router as AsyncIterable<Buffer[]>) {
    const [peer, , , command, id] = frames as [Buffer, Buffer, Buffer, Buffer, Buffer];
    if (command.equals(word.request)) {
      const worker = workers[turn++ % workers.length];
      clients.set(id.toString('latin1'), peer);
      await router.send([peer, empty, version, word.reply, own, id]);
      if (worker !== undefined) await router.send([worker, empty, version, ...frames.slice(3)]);
    } else if (command.equals(word.reply)) {
      const key = (frames[6] as Buffer).toString('latin1');
      const client = clients.get(key);
      clients.delete(key);
      if (client !== undefined) await router.send([client, empty, version, ...frames.slice(3)]);
    } else if (command.equals(inform)) {
      workers.push(peer);
      await router.send([peer, empty, version, word.ack, own, id]);
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
