// Writes a store of each kind, as this version leaves it, into the folder of its version: `node tests/stores/make.mjs 0.1.0`, on a build, when a minor version is
// released. upgrade.test.ts opens copies of all of them from then on.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { EmqpBroker, NfpBroker } from '@proj/broker';
import { EmqpClient, NfpClient, PzqConsumer, PzqProducer } from '@proj/client';
import { PzqServer } from '@proj/pzq';
import { EmqpScheduler } from '@proj/scheduler';
import { lmdbRecords } from '@proj/store';
import { NfpWorker } from '@proj/worker';

const ANY = 'tcp://127.0.0.1:*';
const [version] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(version ?? '')) throw new Error('which version? node tests/stores/make.mjs 0.1.0');

const once = (emitter, event) => new Promise((resolve) => emitter.on(event, resolve));

/** Three messages, one of them delayed, and a dead letter. */
async function queue(folder) {
  const server = new PzqServer({
    store: `lmdb:${folder}`,
    receive: ANY,
    send: ANY,
    monitor: ANY,
    maxDeliveries: 1,
    headers: true,
  });
  const { receive, send } = await server.start();
  const producer = new PzqProducer({ endpoints: receive });
  const consumer = new PzqConsumer({ endpoints: send, prefetch: 1 });
  const dead = once(server, 'dead-letter');
  await producer.send('poison');
  (await consumer.receive()).nack();
  await dead;
  await consumer.close();
  await producer.send('first');
  await producer.send(['second', 'in two frames']);
  await producer.send('later', { delayMs: 1000 });
  await producer.close();
  await server.close();
}

/** A schedule by interval and one by cron. */
async function schedules(folder) {
  const broker = new EmqpBroker({ frontend: ANY, backend: ANY, admin: ANY });
  const { frontend } = await broker.start();
  const scheduler = new EmqpScheduler({ endpoints: frontend, store: lmdbRecords({ folder }) });
  const joined = once(broker, 'peer-joined');
  await scheduler.start();
  await joined;
  const client = new EmqpClient({ endpoints: frontend });
  const both = new Promise((resolve) => {
    let stored = 0;
    scheduler.on('note', ({ code }) => code === 'scheduled' && ++stored === 2 && resolve());
  });
  await client.schedule('default', { path: 'jobs', callable: 'poll' }, { intervalSeconds: 3600, haste: false });
  await client.schedule('default', { path: 'jobs', callable: 'tidy' }, { cron: '0 4 * * *', haste: false });
  await both;
  await client.close();
  await scheduler.close();
  await broker.close();
}

/** Two guaranteed jobs that no worker has taken. */
async function guaranteed(folder) {
  const broker = new EmqpBroker({ frontend: ANY, backend: ANY, admin: ANY, store: lmdbRecords({ folder }) });
  const { frontend } = await broker.start();
  const client = new EmqpClient({ endpoints: frontend });
  for (const name of ['first', 'second'])
    await client.defer('default', { path: 'jobs', callable: name }, { guarantee: true });
  await client.close();
  await broker.close();
}

/** At a worker and at its client: a job that is done, and one that was running when both ended. */
async function nfp(workers, clients) {
  const broker = new NfpBroker({ endpoint: ANY, settleMs: 0 });
  const endpoints = await broker.start();
  let begun;
  const running = new Promise((resolve) => (begun = resolve));
  const worker = new NfpWorker({
    endpoints,
    service: 'math',
    name: 'math-1',
    store: lmdbRecords({ folder: workers }),
    tasks: {
      add: ({ args: [a, b] }) => a + b,
      slow: (_, { signal }) => {
        begun();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    },
  });
  await worker.start();
  const client = new NfpClient({ endpoints, store: lmdbRecords({ folder: clients }) });
  await client.run('math', 'add', { args: [2, 3], uuid: 'done', target: 'math-1' });
  const open = await client.post('math', 'slow', { uuid: 'open', target: 'math-1' });
  await open.accepted;
  await running;
  await client.close();
  await worker.close();
  await broker.close();
}

const target = join(dirname(fileURLToPath(import.meta.url)), version);
const folder = mkdtempSync(join(tmpdir(), 'proj-stores-'));
const at = (name) => join(folder, name);
await queue(at('queue'));
await schedules(at('schedules'));
await guaranteed(at('guaranteed'));
await nfp(at('nfp-worker'), at('nfp-client'));
for (const name of readdirSync(folder)) {
  mkdirSync(join(target, name), { recursive: true });
  for (const file of readdirSync(at(name)).filter((one) => !one.endsWith('-lock'))) {
    const bytes = readFileSync(join(at(name), file));
    const packed = gzipSync(bytes, { level: 9 });
    writeFileSync(join(target, name, `${file}.gz`), packed);
    console.log(`${name}/${file}: ${bytes.length} bytes, ${packed.length} packed`);
  }
}
rmSync(folder, { recursive: true });
