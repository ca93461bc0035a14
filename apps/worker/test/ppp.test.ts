/** proj-worker over Paranoid Pirate. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestService } from '@proj/appkit';
import { Programs } from '@proj/appkit/testing';
import { LazyPirateClient } from '@proj/client';
import { afterEach, describe, expect, it } from 'vitest';

const programs = new Programs();
const clients: LazyPirateClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await programs.end();
});

/** Long enough that no heartbeat decides anything here, however busy the machine is. */
const BEATS = ['--heartbeat-ms', '60000'];

/** A queue, a worker with these options and a client. */
async function stage(...workerArgs: readonly string[]) {
  const { endpoints, registered } = await programs.startBroker('--only', 'ppp', ...BEATS);
  const flags = ['--protocol', 'ppp', '--connect', endpoints.pppBackend, '--log-level', 'debug'];
  const worker = programs.start('worker', [...flags, ...BEATS, ...workerArgs]);
  await registered(1);
  const client = new LazyPirateClient({ endpoints: [endpoints.pppFrontend], timeoutMs: 30_000 });
  clients.push(client);
  return { worker, client };
}

describe('proj-worker --protocol ppp', () => {
  it.each([
    [
      'two services',
      ['--protocol', 'ppp', '--service', 'echo,sha256'],
      'proj-worker: --service = ["echo","sha256"]: must be a single name with --protocol ppp, which has no services',
    ],
    [
      'binding for another protocol',
      ['--bind', 'tcp://127.0.0.1:9'],
      'proj-worker: --bind = "tcp://127.0.0.1:9": needs --protocol ppp',
    ],
    [
      'binding and connecting',
      ['--protocol', 'ppp', '--bind', 'tcp://127.0.0.1:9', '--connect', 'tcp://127.0.0.1:9'],
      'proj-worker: --bind = "tcp://127.0.0.1:9": must not be given together with --connect',
    ],
  ])('refuses %s with exit code 2 and one line', async (_, args, line) => {
    const { code, stdout, stderr } = await programs.run('worker', args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(line);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('lets the service choose the handler', async () => {
    const { client } = await stage();
    expect(await client.request(['a', '', 'b'])).toEqual([Buffer.from('a'), Buffer.alloc(0), Buffer.from('b')]);
  });

  it('binds for a queue that connects', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'worker-'));
    try {
      const bind = `ipc://${join(folder, 'worker')}`;
      const worker = programs.start('worker', ['--protocol', 'ppp', '--bind', bind, ...BEATS]);
      expect(await worker.record('listening')).toMatchObject({ endpoints: [bind] });
      const { endpoints } = await programs.startBroker('--only', 'ppp', '--ppp-backend-connect', bind, ...BEATS);
      const client = new LazyPirateClient({ endpoints: [endpoints.pppFrontend], timeoutMs: 30_000 });
      clients.push(client);
      expect(String(await client.request('x'))).toBe('x');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('serves its typed services', async () => {
    const { worker, client } = await stage('--service', 'sha256', '--concurrency', '2');
    const bytes = randomBytes(1 << 20);
    const digest = createHash('sha256').update(bytes).digest('hex');
    expect(await client.request(digestService('sha256'), bytes)).toEqual({ digest, pid: worker.pid });
  });

  it('finishes its job on SIGTERM', async () => {
    const { worker, client } = await stage('--service', 'sleep');
    const reply = client.request('300');
    await worker.record('request');
    worker.kill('SIGTERM');
    expect(String(await reply)).toBe('300');
    expect(await worker.exit).toMatchObject({ code: 0, signal: null, stderr: '' });
  });

  it('replies with an error if told to', async () => {
    const { client } = await stage('--service', 'fail', '--on-error', 'reply');
    await expect(client.request(digestService('fail'), Buffer.alloc(0))).rejects.toMatchObject({ code: 'REJECTED' });
  });

  it('connects to the default endpoint of its protocol', async () => {
    const worker = programs.start('worker', ['--protocol', 'ppp']);
    expect(await worker.record('listening')).toMatchObject({ endpoints: ['tcp://127.0.0.1:5557'] });
  });
});
