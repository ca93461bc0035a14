/**
 * The yardstick for Paranoid Pirate: two ROUTERs on zeromq.js that send each request to the next worker in turn and each
 * reply to its client. They do nothing else: no state per request, no limits, no liveness.
 */
import { Router } from 'zeromq';
import { serveMeasurements } from './process-under-test.js';

const options = {
  linger: 0,
  mandatory: true,
  sendTimeout: 0,
  sendHighWaterMark: 100_000,
  receiveHighWaterMark: 100_000,
};
const frontend = new Router({ ...options });
const backend = new Router({ ...options });
await frontend.bind('tcp://127.0.0.1:*');
await backend.bind('tcp://127.0.0.1:*');
const workers: Buffer[] = [];

async function requests(): Promise<void> {
  let turn = 0;
  for await (const frames of frontend as AsyncIterable<Buffer[]>) {
    const worker = workers[turn++ % workers.length];
    if (worker !== undefined) await backend.send([worker, ...frames]);
  }
}

async function replies(): Promise<void> {
  for await (const frames of backend as AsyncIterable<Buffer[]>) {
    if (frames.length > 2) await frontend.send(frames.slice(1));
    else if (frames[1]?.[0] === 1) workers.push(frames[0] as Buffer);
  }
}

const loops = [requests(), replies()];
serveMeasurements(
  { clients: frontend.lastEndpoint ?? '', workers: backend.lastEndpoint ?? '' },
  () => workers.length,
  async () => {
    frontend.close();
    backend.close();
    await Promise.all(loops);
  },
);
