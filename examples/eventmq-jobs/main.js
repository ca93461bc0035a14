// EventMQ jobs: one with a result, one that fails twice and is retried, and one that a scheduler runs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { EmqpBroker } from '@proj/broker';
import { EmqpClient } from '@proj/client';
import { EmqpScheduler } from '@proj/scheduler';
import { memoryRecords } from '@proj/transport';
import { EmqpJobManager } from '@proj/worker';

const broker = new EmqpBroker({
  frontend: process.env.FRONTEND ?? 'tcp://127.0.0.1:47291',
  backend: process.env.BACKEND ?? 'tcp://127.0.0.1:47290',
  admin: process.env.ADMIN ?? 'tcp://127.0.0.1:47293',
});
const { frontend, backend } = await broker.start();

const manager = new EmqpJobManager({
  endpoints: backend,
  queues: [[10, 'default']],
  concurrency: 1,
  handlers: new URL('jobs.mjs', import.meta.url),
});
await manager.start();

const client = new EmqpClient({ endpoints: frontend });
const total = { path: 'shop', callable: 'total', args: [3, 4, 5] };
const { result } = await client.defer('default', total, { replyRequested: true });
console.log('total:', await result);

const flaky = { path: 'shop', callable: 'flaky' };
const tried = await client.defer('default', flaky, { replyRequested: true, retryCount: 5 });
console.log('flaky:', await tried.result);

// A scheduler keeps its schedules in a store: `lmdbRecords` of @proj/store on disk, here in memory.
const scheduler = new EmqpScheduler({ endpoints: frontend, store: memoryRecords() });
const joined = new Promise((resolve) => {
  broker.on('peer-joined', ({ role }) => role === 'scheduler' && resolve(role));
});
await scheduler.start();
await joined;
await client.schedule('default', { path: 'shop', callable: 'tidy' }, { intervalSeconds: 1, runCount: 2 });
while (manager.stats().done < 4) await new Promise((resolve) => setTimeout(resolve, 20));
console.log('scheduled runs: 2');

if (process.argv.includes('--python')) {
  const peer = new URL('peer.py', import.meta.url).pathname;
  await once(spawn(process.env.PYTHON ?? 'python3', [peer, ...frontend], { stdio: 'inherit' }), 'exit');
}

await client.close();
await scheduler.drain();
await manager.drain();
await broker.drain();
