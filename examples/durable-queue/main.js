// A durable queue: acknowledged messages are on disk. A message that keeps failing becomes a dead letter, which you can look at and return.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PzqConsumer, PzqProducer } from '@proj/client';
import { PzqServer } from '@proj/pzq';

const folder = await mkdtemp(join(tmpdir(), 'orders-'));
const queue = new PzqServer({
  store: `lmdb:${folder}`,
  receive: process.env.RECEIVE ?? 'tcp://127.0.0.1:11131',
  send: process.env.SEND ?? 'tcp://127.0.0.1:11132',
  monitor: process.env.MONITOR ?? 'tcp://127.0.0.1:11133',
  maxDeliveries: 3,
});
const { receive, send } = await queue.start();

const producer = new PzqProducer({ endpoints: receive });
for (const order of ['tea', 'poison', 'cake']) await producer.send(order); // each resolves when it is on the disk
console.log('stored:', queue.stats().messages);

if (process.argv.includes('--python')) {
  const peer = new URL('peer.py', import.meta.url).pathname;
  await once(spawn(process.env.PYTHON ?? 'python3', [peer, ...receive], { stdio: 'inherit' }), 'exit');
}

// The handler's promise decides: if it resolves, the message is acknowledged; if it rejects, it is delivered again, three times in all.
const wanted = queue.stats().messages;
let isMended = false;
const done = [];
let onAllDone = () => {};
const allDone = new Promise((resolve) => {
  onAllDone = () => resolve(undefined);
});
const consumer = new PzqConsumer({ endpoints: send });
const died = new Promise((resolve) => {
  queue.on('dead-letter', resolve);
});
consumer.on('error', ({ error }) => console.log('failed:', error.message));
const running = consumer.run(
  async ({ body }) => {
    const order = String(body[0]);
    if (order === 'poison' && !isMended) throw new Error(`cannot make ${order}`);
    done.push(order);
    if (done.length === wanted) onAllDone();
  },
  { concurrency: 1 },
);
await died;

for await (const { key, body, deliveries } of queue.deadLetters()) {
  console.log(`dead letter: ${String(body[0])}, delivered ${deliveries} times`);
  isMended = true;
  await queue.returnDeadLetters([key]);
}
await allDone;
console.log('done:', done.sort().join(', '));

await producer.close();
await consumer.drain();
await running;
await queue.drain();
await rm(folder, { recursive: true });
