import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Programs } from '@proj/appkit/testing';
import { EmqpClient } from '@proj/client';
import { afterEach, expect, it } from 'vitest';

const programs = new Programs();
const clients: EmqpClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await programs.end();
});

/** Long enough that no heartbeat decides anything here, however busy the machine is. */
const BEATS = ['--heartbeat-ms', '60000'];

/** A broker, a job manager with these flags that the broker has acknowledged, and a client. */
async function stage(...flags: readonly string[]) {
  const { broker, endpoints } = await programs.startBroker('--only', 'emqp', ...BEATS);
  const args = ['--protocol', 'emqp', '--connect', endpoints.emqpBackend, '--log-level', 'debug', ...BEATS];
  const worker = programs.start('worker', [...args, ...flags]);
  await worker.record('registered');
  const client = new EmqpClient({ endpoints: [endpoints.emqpFrontend], timeoutMs: 60_000 });
  clients.push(client);
  const run = async (path: string, callable: string, ...values: unknown[]) => {
    const { result } = await client.defer('default', { path, callable, args: values }, { replyRequested: true });
    return await result;
  };
  return { broker, worker, client, run };
}

it('runs the sample jobs in separate processes', async () => {
  const { worker, run } = await stage();
  expect(await run('sample', 'add', 2, 3)).toBe(5);
  expect(await run('sample', 'echo', 'é')).toEqual(['é']);
  expect(await run('sample', 'sha256', '')).toMatch(/^e3b0c442/);
  expect(await run('sample', 'fail', 'no')).toBe('no');
  expect(await run('sample', 'pid')).not.toBe(worker.pid);
});

it('runs only what the modules of a folder export', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'proj-jobs-'));
  writeFileSync(join(folder, 'mail.mjs'), 'export const send = (to) => `sent to ${to}`;');
  const { run } = await stage('--directory', folder, '--queues', '10:default,20:email', '--pool', 'threads');
  expect(await run('mail', 'send', 'a@b')).toBe('sent to a@b');
  expect(await run('sample', 'add', 2, 3)).toBe('no job "sample.add" here');
  rmSync(folder, { recursive: true });
});

it('logs why a job failed, even if no client waits for it', async () => {
  const { worker, client } = await stage();
  const failed = worker.record('job-failed');
  await client.defer('default', { path: 'sample', callable: 'fail', args: ['no paper'] });
  expect(await failed).toMatchObject({ level: 'warn', run: 1, reason: 'no paper' });
});

it('finishes its job on SIGTERM, and ends with 0', async () => {
  const { worker, client } = await stage();
  const { result } = await client.defer(
    'default',
    { path: 'sample', callable: 'sleep', args: [1] },
    { replyRequested: true, timeoutSeconds: 60 },
  );
  await worker.record('job-started');
  worker.kill('SIGTERM');
  expect(await result).toBe(1);
  expect(await worker.exit).toMatchObject({ code: 0, signal: null, stderr: '' });
});

it('ends with 0 on SIGTERM although its handlers never load', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'proj-jobs-'));
  const [handlers, loading] = [join(folder, 'slow.mjs'), join(folder, 'loading')];
  writeFileSync(
    handlers,
    `import { writeFileSync } from 'node:fs';
    writeFileSync(${JSON.stringify(loading)}, '');
    await new Promise(() => setInterval(() => {}, 1000));`,
  );
  const worker = programs.start('worker', ['--protocol', 'emqp', '--handler', handlers]);
  while (!existsSync(loading)) await new Promise((resolve) => setTimeout(resolve, 10));
  worker.kill('SIGTERM');
  expect(await worker.exit).toMatchObject({ code: 0, signal: null, stderr: '' });
  rmSync(folder, { recursive: true });
});

it.each([
  ['a queue without a weight', ['--queues', 'default'], 'proj-worker: --queues = "default": must be weights and names'],
  ['a missing folder', ['--directory', '/nowhere'], 'proj-worker: EmqpJobManager: jobs cannot run here'],
  ['a folder that is a file', ['--directory', '/etc/hosts'], 'proj-worker: EmqpJobManager: jobs cannot run here'],
])('refuses %s with exit code 2 and one line', async (_, args, line) => {
  const { code, stdout, stderr } = await programs.run('worker', ['--protocol', 'emqp', ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(line);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});
