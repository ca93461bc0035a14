// The services of our broker, called by a client in Python: inventory, files, management.
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NfpInventory } from '@proj/broker';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stage } from './stage.js';

const theater = stage();

const SID = 'sid.service.broker';
const FSS = 'fss.service.broker';
const MMI = 'mmi.service.broker';

const INVENTORY: NfpInventory = {
  broker: { endpoint: 'tcp://127.0.0.1:5555' },
  topology: {},
  workers: [
    { glob: 'sample-*', source: 'sample/common.yaml', data: { service: 'sample', lst: ['a', 'b'], d: { x: 1, y: 2 } } },
    { glob: 'sample-w1', source: 'sample/w1.yaml', data: { lst: ['b', 'c'], d: { y: 3, z: 4 } } },
  ],
};

/** `root/files` is served, `root/secret` is not. */
async function folder(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'nfp-interop-'));
  onTestFinished(() => rm(root, { recursive: true }));
  await mkdir(join(root, 'files/sub'), { recursive: true });
  await writeFile(join(root, 'secret'), 'SECRET');
  await writeFile(join(root, 'files/hello.txt'), 'hello norfab\n');
  await writeFile(join(root, 'files/sub/s.txt'), 's');
  await symlink('../secret', join(root, 'files/link'));
  return join(root, 'files');
}

type Asker = ReturnType<typeof theater.client>;

/** Asks by GET; returns status and body of the answer. */
async function ask(asker: Asker, uuid: string, service: string, task: string, kwargs: object = {}) {
  asker.tell({ do: 'GET', uuid, service, body: JSON.stringify({ task, kwargs, args: [] }) });
  const { status, body } = await asker.peer.line('answer', { uuid, command: 'RESPONSE', service });
  return [status, body];
}

it('rule 21: a client that requests ten chunks at once, under one uuid, can write them in the order of arrival', async () => {
  const files = await folder();
  const chunk = 250_000;
  const content = Buffer.from(Array.from({ length: 10 * chunk }, (_, i) => 0x61 + ((i * i + (i >> 8)) % 26)));
  await writeFile(join(files, 'large.txt'), content);
  const { endpoint } = await theater.broker({ dialect: 'legacy', files });
  const asker = theater.client({ connect: endpoint, dialect: 'legacy' });
  for (let file = 0; file < 5; file++) {
    const uuid = `large-${file}`;
    const offsets = Array.from({ length: 10 }, (_, i) => i * chunk);
    for (const offset of offsets)
      asker.tell({
        do: 'GET',
        uuid,
        service: FSS,
        body: JSON.stringify({ task: 'fetch_file', kwargs: { url: 'nf://large.txt', offset, chunk_size: chunk } }),
      });
    const written = [];
    for (const [i] of offsets.entries()) written.push(String((await asker.answer(uuid, '200', i + 1))['body']));
    const md5 = (data: string | Buffer) => createHash('md5').update(data).digest('hex');
    expect(md5(written.join(''))).toBe(md5(content));
  }
});

describe.each(['current', 'legacy'] as const)('dialect %s', (dialect) => {
  it('rule 20: a worker asks for its inventory', async () => {
    const { endpoint } = await theater.broker({ dialect, inventory: INVENTORY });
    const asker = theater.client({ connect: endpoint, dialect });
    const [status, body] = await ask(asker, 'i1', SID, 'get_inventory', { name: 'sample-w1' });
    expect([status, JSON.parse(String(body))]).toEqual([
      '200',
      { service: 'sample', lst: ['a', 'b', 'c'], d: { x: 1, y: 3, z: 4 } },
    ]);
    expect(await ask(asker, 'i2', SID, 'get_inventory', { name: 'nobody' })).toEqual(['200', 'null']);
  });

  it('rule 21: a client lists, walks and fetches files, by GET, POST and MMI', async () => {
    const { endpoint } = await theater.broker({ dialect, files: await folder() });
    const asker = theater.client({ connect: endpoint, dialect });
    expect(await ask(asker, 'f1', FSS, 'list_files', { url: 'nf://' })).toEqual(['200', '["hello.txt","link","sub"]']);
    expect(await ask(asker, 'f2', FSS, 'walk', { url: 'nf://' })).toEqual([
      ...['200', '["nf://hello.txt","nf://sub/s.txt"]'],
    ]);
    const [, details] = await ask(asker, 'f3', FSS, 'file_details', { url: 'nf://hello.txt' });
    const md5hash = createHash('md5').update('hello norfab\n').digest('hex');
    expect(JSON.parse(String(details))).toEqual({ md5hash, size_bytes: 13, exists: true });
    const fetch = (offset: number) =>
      JSON.stringify({ task: 'fetch_file', kwargs: { url: 'nf://hello.txt', offset, chunk_size: 8 } });
    asker.tell({ do: 'POST', uuid: 'f4', service: FSS, body: fetch(0) });
    await asker.peer.line('answer', { uuid: 'f4', status: '200', body: 'hello no' });
    asker.tell({ do: 'MMI', uuid: 'f5', service: FSS, body: fetch(8) });
    await asker.peer.line('answer', { uuid: 'f5', command: 'RESPONSE', status: '200', body: 'rfab\n' });
    if (dialect === 'current')
      await asker.peer.line('answer', { uuid: 'f5', command: 'MMI', status: '200', body: 'rfab\n' });
    asker.tell({ do: 'GET', uuid: 'f6', service: FSS, body: fetch(13) });
    await asker.peer.line('answer', { uuid: 'f6', status: '200', body: '' });
  });
});

it('rule 21: nothing outside the folder is disclosed, whatever the URL', async () => {
  const files = await folder();
  const { broker, endpoint } = await theater.broker({ files });
  const asker = theater.client({ connect: endpoint });
  const urls = [
    'nf://../secret',
    'nf://sub/../../secret',
    'nf://%2e%2e/secret',
    'nf://..%2fsecret',
    `nf://${files}/../secret`,
    'nf:///etc/passwd',
    'nf://..\\secret',
    'nf://hello.txt\0',
    'nf://C:/secret',
    'nf://link',
  ];
  for (const [i, url] of urls.entries()) {
    const path = url.slice('nf://'.length);
    expect(await ask(asker, `e${i}`, FSS, 'fetch_file', { url })).toEqual(['200', `Not Found '${path}'`]);
    expect(await ask(asker, `d${i}`, FSS, 'file_details', { url })).toEqual([
      ...['200', '{"md5hash":null,"size_bytes":null,"exists":false}'],
    ]);
  }
  expect(broker.stats().counters.dropped['fss-escape']).toBe(2 * urls.length);
  expect(await ask(asker, 'last', FSS, 'fetch_file', { url: 'nf://%252e%252e/secret' })).toEqual([
    ...['200', "Not Found '%252e%252e/secret'"],
  ]);
});

it('rule 17: the broker reports about itself, its workers, clients, services, versions and the outline of its inventory', async () => {
  const { endpoint } = await theater.broker({ inventory: INVENTORY, files: await folder() });
  await theater.worker({ connect: endpoint, name: 'w1' });
  const asker = theater.client({ connect: endpoint, name: 'c1' });
  const show = async (task: string) => {
    const [status, body] = await ask(asker, task, MMI, task);
    expect(status).toBe('200');
    return JSON.parse(String(body)) as unknown;
  };
  expect(await show('show_broker')).toMatchObject({
    status: 'active',
    keepalives: { interval: 500, multiplier: 20 },
    'workers count': 1,
    'services count': 1,
    directories: { 'base-dir': 'files' },
    security: { 'broker-private-key-file': null },
  });
  expect(await show('show_workers')).toMatchObject([{ name: 'w1', service: 'sample', status: 'alive' }]);
  expect(await show('show_clients')).toMatchObject([{ name: 'c1', jobs: 0 }]);
  expect(await show('show_services')).toEqual([{ name: 'sample', workers: 1, 'workers alive': 1, queued: 0 }]);
  expect(await show('show_broker_version')).toMatchObject({ norfab: '', node: process.versions.node });
  expect(await show('show_broker_inventory')).toEqual({
    broker: { endpoint: 'tcp://127.0.0.1:5555' },
    topology: {},
    workers: { 'sample-*': ['sample/common.yaml'], 'sample-w1': ['sample/w1.yaml'] },
  });
});

it('rule 18: management is refused at the public endpoint, and obeyed at its own', async () => {
  const { broker, endpoint } = await theater.broker({ managementEndpoint: 'tcp://127.0.0.1:*', lingerMs: 60_000 });
  const [management = ''] = broker.managementEndpoints;
  const worker = await theater.worker({ connect: endpoint, name: 'w1' });
  const anybody = theater.client({ connect: endpoint, name: 'c1' });
  const admin = theater.client({ connect: management, name: 'c1' });
  const [refused] = await ask(anybody, 'm1', MMI, 'restart');
  expect(refused).toBe('400');
  expect((await ask(admin, 'm1', 'sample', 'work'))[0]).toBe('400');
  expect(await ask(admin, 'm2', MMI, 'disconnect', { workers: ['w1'] })).toEqual(['200', '{"disconnected":["w1"]}']);
  await worker.line('disconnected');
  expect(await ask(admin, 'm3', MMI, 'shutdown')).toEqual(['200', '"shutting down"']);
});

it.each([
  '[]',
  '{',
  '{"task":7}',
  `{"task":"walk","kwargs":${'['.repeat(10_000)}`,
  '{"task":"walk","kwargs":{"url":7}}',
])('rule 16: %.40s is answered with 400 by every service', async (body) => {
  const { endpoint } = await theater.broker({ inventory: INVENTORY, files: await folder() });
  const asker = theater.client({ connect: endpoint });
  for (const service of [SID, FSS, MMI]) asker.tell({ do: 'GET', uuid: service, service, body });
  for (const service of [SID, FSS, MMI]) {
    const { status } = await asker.peer.line('answer', { uuid: service });
    const isUnknownThere = service !== FSS && body.includes('url');
    expect(status).toBe(isUnknownThere ? '200' : '400');
  }
});
