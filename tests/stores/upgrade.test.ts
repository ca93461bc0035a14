/**
 * Stores of every released minor version, kept as they were written (make.mjs), open in this version; those of later versions are refused.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { EmqpBroker, NfpBroker } from '@proj/broker';
import { NfpClient, PzqConsumer } from '@proj/client';
import { PzqServer } from '@proj/pzq';
import { EmqpScheduler } from '@proj/scheduler';
import { lmdbRecords } from '@proj/store';
import { NfpWorker } from '@proj/worker';
import { describe, expect, it, onTestFinished } from 'vitest';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const VERSIONS = (await readdir(FOLDER)).filter((name) => /^\d/.test(name));
const KINDS = ['guaranteed', 'nfp-client', 'nfp-worker', 'queue', 'schedules'] as const;
type Kind = (typeof KINDS)[number];
const ANY = 'tcp://127.0.0.1:*';
const NOWHERE = 'tcp://127.0.0.1:1';

/** A copy of a store, unpacked and perhaps changed. */
async function copyOf(version: string, kind: Kind, change = (bytes: Buffer): Buffer => bytes): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'proj-store-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const source = join(FOLDER, version, kind);
  for (const file of await readdir(source)) {
    const bytes = gunzipSync(await readFile(join(source, file)));
    await writeFile(join(folder, file.replace(/\.gz$/, '')), file.endsWith('.mdb.gz') ? change(bytes) : bytes);
  }
  return folder;
}

/** Ended after the test, whether or not it passed. */
function ending<T extends { close(): Promise<unknown> }>(one: T): T {
  onTestFinished(() => one.close().then(() => undefined));
  return one;
}

const queueOn = (folder: string) =>
  ending(new PzqServer({ store: `lmdb:${folder}`, receive: ANY, send: ANY, monitor: ANY }));
const schedulerOn = (folder: string) =>
  ending(new EmqpScheduler({ endpoints: [NOWHERE], store: lmdbRecords({ folder }), lingerMs: 0 }));
const brokerOn = (folder: string) =>
  ending(new EmqpBroker({ frontend: ANY, backend: ANY, admin: ANY, store: lmdbRecords({ folder }) }));
const clientOn = (folder: string, endpoints = [NOWHERE]) =>
  ending(new NfpClient({ endpoints, store: lmdbRecords({ folder }), jobTtlMs: 0, lingerMs: 0 }));
const workerOn = (folder: string, endpoints = [NOWHERE]) => {
  const tasks = { add: () => 'not again', slow: () => 'at last' };
  const store = lmdbRecords({ folder });
  return ending(new NfpWorker({ endpoints, service: 'math', name: 'math-1', resultTtlMs: 0, store, tasks }));
};

describe.each(VERSIONS)('a store of %s', (version) => {
  it('there is one of each kind', async () => {
    expect((await readdir(join(FOLDER, version))).sort()).toEqual(KINDS);
  });

  it('a queue: every message and the dead letter are there', async () => {
    const queue = queueOn(await copyOf(version, 'queue'));
    const { send } = await queue.start();
    const dead = [];
    for await (const letter of queue.deadLetters()) dead.push(String(letter.body[0]));
    const consumer = ending(new PzqConsumer({ endpoints: send }));
    const bodies: string[] = [];
    while (bodies.length < 3) {
      const message = await consumer.receive();
      bodies.push(message?.body.map(String).join('|') ?? 'the end');
      message?.ack();
    }
    expect(bodies.sort()).toEqual(['first', 'later', 'second|in two frames']);
    expect(dead).toEqual(['poison']);
    expect(queue.stats()).toMatchObject({ dead: 1 });
  });

  it('schedules: every one is there', async () => {
    const scheduler = schedulerOn(await copyOf(version, 'schedules'));
    await scheduler.start();
    expect(scheduler.stats()?.jobs).toBe(2);
  });

  it('guaranteed jobs: every one waits for a worker', async () => {
    const broker = brokerOn(await copyOf(version, 'guaranteed'));
    await broker.start();
    expect(broker.stats().openRequests).toBe(2);
  });

  it('jobs of a NORFAB worker: the result is reported, and what was running runs again', async () => {
    const broker = ending(new NfpBroker({ endpoint: ANY, settleMs: 0 }));
    const endpoints = await broker.start();
    const worker = workerOn(await copyOf(version, 'nfp-worker'), endpoints);
    await worker.start();
    const client = ending(new NfpClient({ endpoints }));
    await expect.poll(() => client.get('open', { service: 'math' })).toMatchObject({ 'math-1': { result: 'at last' } });
    expect(await client.get('done', { service: 'math' })).toMatchObject({ 'math-1': { result: 5 } });
  });

  it('jobs of a NORFAB client: every one is recorded', async () => {
    const client = clientOn(await copyOf(version, 'nfp-client'));
    const jobs: Record<string, string> = {};
    for await (const { uuid, state } of client.jobs()) jobs[uuid] = state;
    // Open until after its deadline.
    expect(jobs).toMatchObject({ done: 'COMPLETED', open: expect.stringMatching(/^(DISPATCHED|STALE)$/) as string });
  });
});

describe('a store of a later version', () => {
  /** The format numbers in the files, each with the next one. */
  const LATER: readonly (readonly [from: Buffer, to: Buffer])[] = [
    [Buffer.from('proj records 2'), Buffer.from('proj records 3')],
    [Buffer.from('PZQ\n\0\0\0\x02'), Buffer.from('PZQ\n\0\0\0\x03')],
  ];
  const later = (bytes: Buffer): Buffer => {
    const changed = Buffer.from(bytes);
    for (const [from, to] of LATER)
      for (let at = changed.indexOf(from); at >= 0; at = changed.indexOf(from, at)) to.copy(changed, at);
    expect(changed.equals(bytes)).toBe(false);
    return changed;
  };
  const OPENED: Readonly<Record<Kind, (folder: string) => { start(): Promise<unknown> }>> = {
    guaranteed: brokerOn,
    'nfp-client': clientOn,
    'nfp-worker': workerOn,
    queue: queueOn,
    schedules: schedulerOn,
  };

  it.each(KINDS)('%s: is refused with an explanation, and left as it is', async (kind) => {
    const folder = await copyOf(VERSIONS.at(-1) ?? '', kind, later);
    const [file = ''] = (await readdir(folder)).filter((name) => name.endsWith('.mdb'));
    const before = await readFile(join(folder, file));
    await expect(OPENED[kind](folder).start()).rejects.toMatchObject({
      code: 'CORRUPT',
      message: expect.stringContaining('use the version that wrote it') as string,
    });
    expect((await readFile(join(folder, file))).equals(before)).toBe(true);
  });
});
