// A service, its client, and the broker between them, in one process. Usually each is a separate process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { MdpBroker } from '@proj/broker';
import { MdpClient } from '@proj/client';
import { MdpWorker } from '@proj/worker';

const broker = new MdpBroker({ endpoint: process.env.ENDPOINT ?? 'tcp://127.0.0.1:5555' });
const endpoints = await broker.start();

const worker = new MdpWorker({
  endpoints,
  service: 'greet',
  concurrency: 4,
  handler: ({ body }) => `Hello, ${String(body[0])}!`,
});
await worker.start();

const client = new MdpClient({ endpoints });
const [first] = await client.request('greet', 'Ada');
console.log(String(first));

// Requests run side by side: four at a time here, one on each connection of the worker.
const replies = await Promise.all(['Grace', 'Edsger', 'Barbara'].map((name) => client.request('greet', name)));
for (const [reply] of replies) console.log(String(reply));

// `--python`: a client in another language asks the same worker.
if (process.argv.includes('--python')) {
  const peer = new URL('peer.py', import.meta.url).pathname;
  await once(spawn(process.env.PYTHON ?? 'python3', [peer, ...endpoints], { stdio: 'inherit' }), 'exit');
}

await client.close();
await worker.drain();
await broker.drain();
