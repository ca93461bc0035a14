// A typed service: client and worker share a schema, and invalid values are refused before they do harm.
import { MdpBroker } from '@proj/broker';
import { defineService, isProjError, MdpClient } from '@proj/client';
import { MdpWorker, ProjError } from '@proj/worker';
import * as z from 'zod';

// In a real project this would be in a module that both sides import.
const divide = defineService({
  name: 'divide',
  request: z.object({ what: z.number(), by: z.number() }),
  reply: z.number(),
});

const broker = new MdpBroker({ endpoint: process.env.ENDPOINT ?? 'tcp://127.0.0.1:5555' });
const endpoints = await broker.start();

const worker = new MdpWorker({
  endpoints,
  service: divide,
  handler: ({ input }) => {
    // Your own refusal reaches the client as REJECTED, with this message.
    if (input.by === 0) throw new ProjError('REJECTED', 'cannot divide by zero');
    return input.what / input.by;
  },
});
await worker.start();

const client = new MdpClient({ endpoints });
console.log('10 / 4 =', await client.request(divide, { what: 10, by: 4 }));

/** @type {unknown[]} */
const wrong = [
  { what: 10, by: 0 },
  { what: '10', by: 4 },
];
for (const input of wrong) {
  try {
    await client.request(divide, /** @type {{ what: number, by: number }} */ (input));
  } catch (error) {
    if (!isProjError(error, 'REJECTED')) throw error;
    console.log(error.code, JSON.stringify(input), '-', error.message);
  }
}

await client.close();
await worker.drain();
await broker.drain();
