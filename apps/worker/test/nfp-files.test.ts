/** proj-worker as NORFAB's file sharing worker. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Programs } from '@proj/appkit/testing';
import { NfpClient } from '@proj/client';
import { afterEach, beforeEach, expect, it } from 'vitest';

const programs = new Programs();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sharing-'));
  mkdirSync(join(folder, 'files'));
});

afterEach(async () => {
  await programs.end();
  rmSync(folder, { recursive: true });
});

/** Long enough that no heartbeat decides anything here, however busy the machine is. */
const BEATS = ['--heartbeat-ms', '60000'];

it('rule 16: --files serves the files of a folder in chunks, and nothing outside it', async () => {
  const content = Buffer.alloc(700_000, 'chunk ');
  writeFileSync(join(folder, 'files/big'), content);
  writeFileSync(join(folder, 'secret'), 'SECRET');
  const broker = programs.start('broker', [
    '--only',
    'nfp',
    '--nfp',
    'tcp://127.0.0.1:*',
    '--nfp-settle-ms',
    '0',
    ...BEATS,
  ]);
  const { nfp } = (await broker.record('listening'))['endpoints'] as { nfp: string };
  const flags = ['--protocol', 'nfp', '--service', 'filesharing', '--name', 'files-1', '--store', 'memory:'];
  const worker = programs.start('worker', [...flags, '--files', join(folder, 'files'), '--connect', nfp, ...BEATS]);
  await broker.record('worker-ready');
  const client = new NfpClient({ endpoints: [nfp] });
  try {
    const to = join(folder, 'fetched');
    mkdirSync(to);
    const { path } = await client.fetchFile('nf://big', { to, worker: 'files-1', timeoutMs: 60_000 });
    expect(readFileSync(path).equals(content)).toBe(true);
    const post = await client.post('filesharing', 'list_files', { kwargs: { url: 'nf://../' }, timeoutMs: 60_000 });
    expect(await post.done()).toMatchObject({ 'files-1': { result: ['Directory Not Found'] } });
    expect(await worker.record('outside-of-folder')).toMatchObject({ level: 'warn', url: 'nf://../' });
  } finally {
    await client.close();
  }
});

it.each([
  [['--files', '/nowhere/at/all'], '--files = "/nowhere/at/all": must be a folder'],
  [['--files', '/', '--handler', 'echo'], '--handler = "echo": must be left out with --files'],
  [['--store', 'lmdb:/proc/x'], 'the store in /proc/x cannot be opened (ENOENT): choose a folder'],
  [['--store', 'lmdb:/dev/null'], 'the store in /dev/null cannot be opened (it is not a folder): choose a folder'],
])('refuses %j with exit code 2', async (flags, message) => {
  const { code, stderr } = await programs.run('worker', ['--protocol', 'nfp', '--store', 'memory:', ...flags]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
