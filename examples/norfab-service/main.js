// A NORFAB service: two workers that ask the broker for their inventory and for a file, and a client that asks all, any or one of them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NfpBroker } from '@proj/broker';
import { NfpClient, nfpResultsOrThrow } from '@proj/client';
import { NfpWorker } from '@proj/worker';

const broker = new NfpBroker({
  endpoint: process.env.ENDPOINT ?? 'tcp://127.0.0.1:5555',
  // proj-broker loads this from NORFAB's inventory.yaml.
  inventory: {
    broker: {},
    topology: null,
    workers: [
      { glob: 'router-*', source: '(inline)', data: { vendor: 'acme' } },
      { glob: 'router-2', source: '(inline)', data: { site: 'Berlin' } },
    ],
  },
  files: fileURLToPath(new URL('shared', import.meta.url)),
});
const endpoints = await broker.start();
const folder = await mkdtemp(join(tmpdir(), 'norfab-'));

const workers = ['router-1', 'router-2'].map(
  (name) =>
    new NfpWorker({
      endpoints,
      service: 'config',
      name,
      fetchFiles: join(folder, name),
      tasks: {
        site: async (_job, context) => (await context.inventory()).site ?? 'nowhere',
        render: async ({ kwargs }, context) => {
          const template = await readFile(await context.fetch('nf://template.txt'), 'utf8');
          return template.trim().replace('{{ name }}', String(kwargs.name));
        },
      },
    }),
);
for (const worker of workers) await worker.start();

const client = new NfpClient({ endpoints });
for (const [name, site] of Object.entries(nfpResultsOrThrow(await client.run('config', 'site'))).sort())
  console.log(`${name}:`, site);
const one = await client.run('config', 'render', { kwargs: { name: 'core' }, target: 'router-2' });
console.log('one:', nfpResultsOrThrow(one)['router-2']);
const any = await client.run('config', 'render', { kwargs: { name: 'edge' }, target: 'any' });
console.log('any:', Object.values(nfpResultsOrThrow(any)).join());

const { path } = await client.fetchFile('nf://template.txt', { to: folder });
console.log('file:', (await readFile(path, 'utf8')).trim());

if (process.argv.includes('--python')) {
  const peer = fileURLToPath(new URL('peer.py', import.meta.url));
  await once(spawn(process.env.PYTHON ?? 'python3', [peer, ...endpoints], { stdio: 'inherit' }), 'exit');
}

await client.close();
for (const worker of workers) await worker.drain();
await broker.drain();
await rm(folder, { recursive: true });
