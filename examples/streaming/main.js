// Replies that come in parts, and a request that is no longer needed.
import { once } from 'node:events';
import { MdpBroker } from '@proj/broker';
import { MdpClient } from '@proj/client';
import { MdpWorker } from '@proj/worker';

const broker = new MdpBroker({ endpoint: process.env.ENDPOINT ?? 'tcp://127.0.0.1:5555' });
const endpoints = await broker.start();

const worker = new MdpWorker({
  endpoints,
  service: 'count',
  concurrency: 2,
  // What an async generator yields is a partial reply; what it returns is the last one.
  handler: async function* ({ body }) {
    const to = Number(String(body[0]));
    for (let n = 1; n <= to; n++) yield String(n);
    return `counted to ${to}`;
  },
});
await worker.start();

const client = new MdpClient({ endpoints });

const stream = client.stream('count', '3');
for (;;) {
  const { value, done } = await stream.next();
  console.log(done ? 'final:' : 'part:', String(value[0]));
  if (done) break;
}

// Leaving the loop early ends the request.
for await (const [part] of client.stream('count', '1000000')) {
  if (String(part) === '5') break;
}
console.log('left the stream at 5');

// A signal aborts a request, here of a service that takes too long.
const slow = new MdpWorker({
  endpoints,
  service: 'slow',
  handler: async (_request, { signal }) => {
    await once(signal, 'abort');
    return 'nobody reads this';
  },
});
await slow.start();
const controller = new AbortController();
const answer = client.request('slow', 'please', { signal: controller.signal });
controller.abort(new Error('changed my mind'));
await answer.catch((error) => console.log('aborted:', error.message));

await client.close();
await Promise.all([worker.close(), slow.close()]);
await broker.close();
