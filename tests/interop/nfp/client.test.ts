// Our client with a broker and workers in Python, and with our broker and those workers: bodies as NORFAB writes them.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NfpBroker } from '@proj/broker';
import { NfpClient, nfpResultsOrThrow } from '@proj/client';
import type { NfpClientOptions } from '@proj/client';
import { afterEach, describe, expect, it } from 'vitest';
import { testPeers, PATIENCE_MS, Registrations } from '../test-peers.js';
import type { Flags, Maker } from '../test-peers.js';
import { pythonPeer } from '../python.js';
import { transport } from '../../transport.js';

const { launch, keep } = testPeers();
const registrations = new Registrations();
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const FILE_BYTES = 1_000_003;
const FILE = Buffer.from(Array.from({ length: FILE_BYTES }, (_, i) => (i * i) % 251));

interface Make {
  readonly broker: Maker;
  readonly dialect: 'current' | 'legacy';
  readonly form: 'ascii' | 'byte';
}

const MAKES: Make[] = [
  { broker: 'python', dialect: 'current', form: 'ascii' },
  { broker: 'python', dialect: 'current', form: 'byte' },
  { broker: 'python', dialect: 'legacy', form: 'ascii' },
  { broker: 'ours', dialect: 'current', form: 'ascii' },
  { broker: 'ours', dialect: 'current', form: 'byte' },
  { broker: 'ours', dialect: 'legacy', form: 'ascii' },
];

/** Everything waits as long as needed: the limit of the test ends what hangs. */
const PATIENT: NfpClientOptions = {
  timeoutMs: PATIENCE_MS,
  askTimeoutMs: PATIENCE_MS,
  answerTimeoutMs: PATIENCE_MS,
  pollIntervalMs: 200,
};

async function startBroker({ broker, dialect }: Make): Promise<string> {
  if (broker === 'python') {
    const peer = launch(pythonPeer('nfp', 'service_broker', { dialect, 'file-bytes': FILE_BYTES }));
    const endpoint = String((await peer.line('listening'))['endpoint']);
    registrations.openPeer(endpoint, peer);
    return endpoint;
  }
  const own = keep(
    new NfpBroker({
      transport,
      endpoint: 'tcp://127.0.0.1:*',
      dialect,
      keepaliveIntervalMs: 1000,
      keepaliveMultiplier: 20,
      settleMs: 0,
      // How long a POST in one-byte form waits for a service that nobody has.
      requestTtlMs: 1000,
    }),
  );
  const [endpoint = ''] = await own.start();
  own.on('worker-ready', registrations.open(endpoint));
  return endpoint;
}

async function startWorker(endpoint: string, name: string, make: Make, flags: Flags = {}): Promise<void> {
  const registered = registrations.at(endpoint);
  const { dialect, form } = make;
  const peer = launch(pythonPeer('nfp', 'job_worker', { connect: endpoint, name, dialect, form, ...flags }));
  await Promise.race([registered, peer.lost()]);
}

function startClient(endpoint: string, { dialect, form }: Make, options: NfpClientOptions = {}): NfpClient {
  return keep(new NfpClient({ transport, endpoints: [endpoint], dialect, commandForm: form, ...PATIENT, ...options }));
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'nfp-interop-'));
  folders.push(made);
  return made;
}

describe.each(MAKES)('broker $broker, $dialect, $form', (make) => {
  it('jobs are posted, reported, fetched by their client and by another, and deleted', async () => {
    const endpoint = await startBroker(make);
    for (const name of ['w1', 'w2']) await startWorker(endpoint, name, make);
    const client = startClient(endpoint, make);
    const job = await client.post('sample', 'echo', { args: [1, 'zwei'], kwargs: { drei: null } });
    const returned = { args: [1, 'zwei'], kwargs: { drei: null } };
    expect(nfpResultsOrThrow(await job.done())).toEqual({ w1: returned, w2: returned });
    const messages = [];
    for await (const { worker, message } of job.events()) messages.push(`${worker} ${message}`);
    expect(messages.filter((said) => said.startsWith('w1'))).toEqual(['w1 starting', 'w1 completed']);
    const other = startClient(endpoint, make);
    expect(nfpResultsOrThrow(await other.get(job.uuid))).toEqual({ w1: returned, w2: returned });
    expect((await other.delete(job.uuid, { service: 'sample', target: 'w2' }))['w2']?.status).toBe(200);
    expect(Object.keys(await other.get(job.uuid))).toEqual(['w1']);
    const failed = await client.run('sample', 'fail', { target: 'any' });
    expect(Object.values(failed)).toMatchObject([{ failed: true, errors: ['no luck'] }]);
  });

  it('each of 100 jobs in flight gets its own result', async () => {
    const endpoint = await startBroker(make);
    for (const name of ['w1', 'w2']) await startWorker(endpoint, name, make);
    const client = startClient(endpoint, make);
    const numbers = Array.from({ length: 100 }, (_, i) => i);
    const results = await Promise.all(numbers.map((n) => client.run('sample', 'echo', { args: [n], target: 'any' })));
    expect(results.map((one) => Object.values(nfpResultsOrThrow(one)))).toEqual(
      numbers.map((n) => [{ args: [n], kwargs: {} }]),
    );
    expect(client.stats()).toMatchObject({ jobs: 0, posts: 100, results: 100, reposts: 0 });
  });

  it('a worker streams, asks for input, and gets it', async () => {
    const endpoint = await startBroker(make);
    await startWorker(endpoint, 'w1', make);
    const client = startClient(endpoint, make, { onInput: ({ question }) => `${question} yes` });
    const chunks: string[] = [];
    await client.run('sample', 'stream', { onStream: (frames) => void chunks.push(frames.join('')) });
    expect(chunks).toEqual(['one', 'two', 'three']);
    expect(nfpResultsOrThrow(await client.run('sample', 'ask'))).toEqual({ w1: 'continue? yes' });
  });

  it('a file of a worker arrives by STREAM and PUT', async () => {
    const endpoint = await startBroker(make);
    await startWorker(endpoint, 'fs-1', make, { service: 'filesharing', 'file-bytes': FILE_BYTES });
    const to = folder();
    const options = { to, worker: 'any', chunkBytes: 40_000, timeoutMs: PATIENCE_MS / 10 };
    const { path } = await startClient(endpoint, make).fetchFile('nf://files/data.bin', options);
    expect(readFileSync(path).equals(FILE)).toBe(true);
  });

  it('the broker reports what it knows, and refuses a service without workers', async () => {
    const endpoint = await startBroker(make);
    await startWorker(endpoint, 'w1', make);
    const client = startClient(endpoint, make);
    expect(await client.showWorkers()).toMatchObject([{ name: 'w1', service: 'sample', status: 'alive' }]);
    expect(await client.showBroker()).toMatchObject({ status: 'active', 'workers count': 1 });
    await expect(client.run('nobody', 'echo')).rejects.toMatchObject({ code: 'REJECTED' });
    // An answer to MMI comes twice; by now all have arrived.
    expect(client.stats().lateAnswers).toBe(make.dialect === 'legacy' ? 0 : 2);
  });
});

describe.each(MAKES.filter(({ broker }) => broker === 'python'))('broker python, $dialect, $form', (make) => {
  it('inventory and files come from the broker, and their hashes match', async () => {
    const endpoint = await startBroker(make);
    const client = startClient(endpoint, make);
    expect(await client.inventory('w1')).toEqual({ service: 'sample', hosts: { h1: { hostname: '192.0.2.1' } } });
    expect(await client.inventory('nobody')).toBe(null);
    expect(await client.listFiles('nf://files')).toEqual(['data.bin']);
    expect(await client.listFiles('nf://', { recursive: true })).toEqual(['nf://files/data.bin']);
    const fetched = await client.fetchFile('nf://files/data.bin', { to: folder(), chunkBytes: 65_536 });
    expect(readFileSync(fetched.path).equals(FILE)).toBe(true);
    expect(fetched.md5).toBe(createHash('md5').update(FILE).digest('hex'));
    await expect(client.fetchFile('nf://files/none', { to: folder() })).rejects.toMatchObject({ code: 'REJECTED' });
  });
});

it('a broker in Python gets OPEN and answers it before anything else', async () => {
  const make = { broker: 'python', dialect: 'current', form: 'ascii' } as const;
  const client = startClient(await startBroker(make), make, { sendOpen: true, openTimeoutMs: PATIENCE_MS });
  expect(await client.showBroker()).toMatchObject({ status: 'active' });
});

it('a Python client gets the result of our job, and ours that of its job', async () => {
  const make = { broker: 'ours', dialect: 'current', form: 'ascii' } as const;
  const endpoint = await startBroker(make);
  await startWorker(endpoint, 'w1', make);
  const client = startClient(endpoint, make);
  const other = launch(pythonPeer('nfp', 'client', { connect: endpoint, name: 'other' }));
  const ours = await client.post('sample', 'echo', { args: ['ours'] });
  await ours.done();
  other.tell({ do: 'GET', service: 'sample', target: 'all', uuid: ours.uuid, body: '{}' });
  const { body } = await other.line('answer', { uuid: ours.uuid, status: '200' });
  expect(JSON.parse(String(body))).toMatchObject({ w1: { result: { args: ['ours'] } } });
  const call = '{"task":"echo","kwargs":{},"args":["theirs"]}';
  other.tell({ do: 'POST', service: 'sample', target: 'all', uuid: 'theirs', body: call });
  await other.line('answer', { uuid: 'theirs', status: '201' });
  expect((await client.get('theirs'))['w1']?.result).toEqual({ args: ['theirs'], kwargs: {} });
});
