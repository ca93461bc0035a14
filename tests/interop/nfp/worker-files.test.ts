// Our worker gets a file from a worker in Python, with a broker in Python and with ours, neither of which has a file
// service.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NfpBroker } from '@proj/broker';
import { NfpClient, nfpResultsOrThrow } from '@proj/client';
import { NfpWorker } from '@proj/worker';
import { expect, it, onTestFinished } from 'vitest';
import { testPeers, PATIENCE_MS, Registrations } from '../test-peers.js';
import type { Maker } from '../test-peers.js';
import { pythonPeer } from '../python.js';
import { transport } from '../../transport.js';

const { launch, keep } = testPeers();
const registrations = new Registrations();

const KEEPALIVES = { keepaliveIntervalMs: 1000, keepaliveMultiplier: 20 } as const;
const FILE_BYTES = 300_007;
const FILE = Buffer.from(Array.from({ length: FILE_BYTES }, (_, i) => (i * i) % 251));
const URL = 'nf://files/data.bin';

async function startBroker(broker: Maker): Promise<string> {
  if (broker === 'python') {
    const peer = launch(pythonPeer('nfp', 'service_broker', { 'file-service': 'no' }));
    const endpoint = String((await peer.line('listening'))['endpoint']);
    registrations.openPeer(endpoint, peer);
    return endpoint;
  }
  const own = keep(new NfpBroker({ transport, endpoint: 'tcp://127.0.0.1:*', settleMs: 0, ...KEEPALIVES }));
  const [endpoint = ''] = await own.start();
  own.on('worker-ready', registrations.open(endpoint));
  return endpoint;
}

/** Our worker, and a client that makes it fetch. */
async function startFetcher(endpoint: string, commandForm: 'ascii' | 'byte') {
  const fetchFiles = mkdtempSync(join(tmpdir(), 'nfp-fetched-'));
  onTestFinished(() => {
    rmSync(fetchFiles, { recursive: true });
  });
  const worker = keep(
    new NfpWorker({
      transport,
      endpoints: [endpoint],
      service: 'sample',
      name: 'w1',
      tasks: { path: (_, { fetch }) => fetch(URL) },
      commandForm,
      fetchFiles,
      fetchInventory: false,
      askTimeoutMs: PATIENCE_MS,
      maxMessageBytes: 40_000,
      ...KEEPALIVES,
    }),
  );
  const dropped: string[] = [];
  worker.on('note', (note) => {
    if (note.code === 'message-dropped') dropped.push(note.reason);
  });
  const registered = registrations.at(endpoint);
  await worker.start();
  await registered;
  const patient = { timeoutMs: PATIENCE_MS, askTimeoutMs: PATIENCE_MS, answerTimeoutMs: PATIENCE_MS };
  const client = keep(new NfpClient({ transport, endpoints: [endpoint], ...patient }));
  return { dropped, run: async () => nfpResultsOrThrow(await client.run('sample', 'path'))['w1'] };
}

it.each([
  ['python', 'ascii'],
  ['python', 'byte'],
  ['ours', 'ascii'],
  ['ours', 'byte'],
] as const)('rule 17: broker %s, %s: a file of a filesharing worker', async (broker, form) => {
  const endpoint = await startBroker(broker);
  const { run, dropped } = await startFetcher(endpoint, form);
  // With one-byte commands, our broker has to wait for workers of any service.
  if (form === 'ascii' || broker === 'python')
    await expect(run()).rejects.toThrow('have the broker, or a worker of service filesharing, share its folder');
  const registered = registrations.at(endpoint);
  const files = { connect: endpoint, name: 'f1', service: 'filesharing', 'file-bytes': FILE_BYTES };
  const peer = launch(pythonPeer('nfp', 'job_worker', files));
  await Promise.race([registered, peer.lost()]);
  const path = String(await run());
  expect(readFileSync(path).equals(FILE)).toBe(true);
  expect(await run()).toBe(path);
  expect(peer.lines('call', { command: 'PUT' })).toHaveLength(Math.ceil(FILE_BYTES / (40_000 - 1024)) - 1);
  expect(dropped).toEqual([]);
});
