/** proj-worker uses what the broker serves besides jobs, on the same connection as its jobs. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Programs } from '@proj/appkit/testing';
import { NfpClient } from '@proj/client';
import { afterEach, beforeEach, expect, it } from 'vitest';

const programs = new Programs();
let folder: string;
let client: NfpClient;

/** Long enough that no heartbeat decides anything here, however busy the machine is. */
const BEATS = ['--heartbeat-ms', '60000'];
const WAIT = { timeoutMs: 60_000 };
const TASKS = `
export const token = async (_call, { inventory }) => (await inventory()).token;
export const render = { fetch: ['template'], handler: ({ kwargs }) => kwargs.template };
`;

async function start(...flags: string[]) {
  writeFileSync(join(folder, 'inventory.yaml'), 'workers:\n  w-*:\n    - token: t-1\n');
  const files = ['--inventory', join(folder, 'inventory.yaml'), '--files', join(folder, 'files')];
  const broker = programs.start('broker', [
    '--only',
    'nfp',
    '--nfp',
    'tcp://127.0.0.1:*',
    '--nfp-settle-ms',
    '0',
    ...files,
    ...BEATS,
  ]);
  const { nfp } = (await broker.record('listening'))['endpoints'] as { nfp: string };
  const identity = ['--protocol', 'nfp', '--service', 'sample', '--name', 'w-1', '--store', 'memory:'];
  const worker = programs.start('worker', [...identity, ...flags, '--connect', nfp, ...BEATS]);
  await broker.record('worker-ready');
  client = new NfpClient({ endpoints: [nfp] });
  return { broker, worker };
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'services-'));
  mkdirSync(join(folder, 'files/templates'), { recursive: true });
  writeFileSync(join(folder, 'tasks.mjs'), TASKS);
});

afterEach(async () => {
  await client.close();
  await programs.end();
  rmSync(folder, { recursive: true });
});

it('rule 17: inventory and files from the broker, over one connection', async () => {
  const content = Buffer.alloc(3_000_000, 'line of a template\n');
  writeFileSync(join(folder, 'files/templates/base.j2'), content);
  const kept = join(folder, 'kept');
  const { worker } = await start('--handler', join(folder, 'tasks.mjs'), '--fetch-files', kept);
  expect(await worker.record('volatile-store')).toMatchObject({ level: 'warn' });
  expect(await client.run('sample', 'token', WAIT)).toMatchObject({ 'w-1': { failed: false, result: 't-1' } });
  const kwargs = { template: 'nf://templates/base.j2' };
  const path = join(kept, 'templates/base.j2');
  expect(await client.run('sample', 'render', { ...WAIT, kwargs })).toMatchObject({ 'w-1': { result: path } });
  expect(readFileSync(path).equals(content)).toBe(true);
  expect(await client.showClients()).toHaveLength(2);
  expect(await client.showWorkers()).toHaveLength(1);
  expect(await client.run('sample', 'render', { ...WAIT, kwargs: { template: 'nf://no' } })).toMatchObject({
    'w-1': { failed: true, errors: [expect.stringContaining('the broker has no file with this name')] },
  });
  expect(existsSync(join(kept, 'no'))).toBe(false);
});
