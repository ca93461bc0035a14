import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestService, textStatsService } from '@proj/appkit';
import { drawnGuide, PAIRS, Programs } from '@proj/appkit/testing';
import { MdpClient } from '@proj/client';
import type { MdpClientOptions } from '@proj/client';
import { afterEach, describe, expect, it } from 'vitest';

const programs = new Programs();
const clients: MdpClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await programs.end();
});

function connect(endpoint: string, options: MdpClientOptions = {}): MdpClient {
  const client = new MdpClient({ endpoints: [endpoint], timeoutMs: 30_000, ...options });
  clients.push(client);
  return client;
}

/** Long enough that no heartbeat decides anything here, however busy the machine is. */
const BEATS = ['--heartbeat-ms', '60000'];

/** A broker, a worker with these options and a client. */
async function stage(workerArgs: readonly string[], options?: MdpClientOptions) {
  const { broker, endpoint } = await programs.startBroker(...BEATS);
  const worker = programs.start('worker', ['--connect', endpoint, '--log-level', 'debug', ...BEATS, ...workerArgs]);
  await worker.record('listening');
  return { broker, worker, client: connect(endpoint, options) };
}

describe('proj-worker', () => {
  it('logs what it offers and where', async () => {
    const worker = programs.start('worker', [
      '--connect',
      'tcp://127.0.0.1:9',
      '--service',
      'echo',
      '--service',
      'sleep',
    ]);
    expect(await worker.record('listening')).toMatchObject({
      endpoints: ['tcp://127.0.0.1:9'],
      services: ['echo', 'sleep'],
    });
  });

  it.each([
    [
      'an unknown flag',
      ['--conect', 'x'],
      "proj-worker: unknown option '--conect' (Did you mean --connect?): '--help' shows",
    ],
    ['a bad number', ['--concurrency', '0'], 'proj-worker: --concurrency = 0: must be a whole number, from 1 to 1000'],
    ['a reserved service', ['--service', 'mmi.echo'], 'proj-worker: --service = "mmi.echo": must be names of 1 to 255'],
    ['a missing handler file', ['--handler', './none.mjs'], 'proj-worker: --handler = "./none.mjs": must be one of'],
  ])('refuses %s with exit code 2 and one line', async (_, args, line) => {
    const { code, stdout, stderr } = await programs.run('worker', args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(line);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it.each(PAIRS)('serves through a broker of transport %s with transport %s', async (brokers, workers) => {
    const { endpoint } = await programs.startBroker('--transport', brokers, ...BEATS);
    const worker = programs.start('worker', ['--connect', endpoint, '--transport', workers, ...BEATS]);
    await worker.record('listening');
    expect(String(await connect(endpoint).request('echo', 'hello'))).toBe('hello');
    worker.kill('SIGTERM');
    expect(await worker.exit).toMatchObject({ code: 0, stderr: '' });
  });

  it('has a guide with the options of its help', async () => {
    const { guide, drawn } = await drawnGuide('worker');
    expect(guide).toBe(drawn);
  });

  it('answers with its built-in handlers', async () => {
    const { worker, client } = await stage(['--service', 'echo,sha256,text-stats', '--concurrency', '2']);
    const { pid } = worker;
    for (const bytes of [Buffer.alloc(0), Buffer.from('one two\nthree'), randomBytes(1 << 20)]) {
      const digest = createHash('sha256').update(bytes).digest('hex');
      expect(await client.request(digestService('sha256'), bytes)).toEqual({ digest, pid });
      expect(await client.request('echo', ['', bytes, 'x'])).toEqual([Buffer.alloc(0), bytes, Buffer.from('x')]);
    }
    const stats = await client.request(textStatsService('text-stats'), Buffer.from('one two\nthree'));
    expect(stats).toEqual({ bytes: 13, lines: 2, words: 3, longestLine: 7, pid });
  });

  it('speaks 0.1', async () => {
    const { client } = await stage(['--protocol', 'mdp01'], { version: '0.1' });
    expect(await client.request('echo', 'hello')).toEqual([Buffer.from('hello')]);
  });

  it('serves the handler of a file under any name', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'worker-'));
    const path = join(folder, 'reverse.mjs');
    writeFileSync(path, 'export default ({ body }) => body.reverse();');
    try {
      const { client } = await stage(['--service', 'backwards', '--handler', path]);
      expect(String(await client.request('backwards', ['a', 'b']))).toBe('b,a');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('replies with an error if told to, and continues', async () => {
    const { client } = await stage(['--service', 'fail', '--on-error', 'reply']);
    for (let n = 0; n < 2; n++)
      await expect(client.request(digestService('fail'), Buffer.alloc(0))).rejects.toMatchObject({
        code: 'REJECTED',
        message: 'handler fail: it always does',
      });
  });

  it('finishes its job on SIGTERM, then exits 0', async () => {
    const { worker, client } = await stage(['--service', 'sleep']);
    const reply = client.request('sleep', '300');
    await worker.record('request');
    worker.kill('SIGTERM');
    expect(String(await reply)).toBe('300');
    expect(await worker.exit).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(await worker.record('stats')).toMatchObject({ requests: 1, replies: 1 });
  });

  it('leaves at once on the second signal', async () => {
    const { worker, client } = await stage(['--service', 'sleep']);
    const reply = client.request('sleep', '80000000');
    const settled = expect(reply).rejects.toMatchObject({ code: 'CLOSED' });
    await worker.record('request');
    worker.kill('SIGTERM');
    await worker.record('draining');
    worker.kill('SIGTERM');
    expect(await worker.exit).toMatchObject({ code: 143, signal: null });
    await client.close();
    await settled;
  });

  it('lets the broker finish its running job on SIGTERM', async () => {
    const { broker, worker, client } = await stage(['--service', 'sleep']);
    const reply = client.request('sleep', '300');
    await worker.record('request');
    broker.kill('SIGTERM');
    expect(String(await reply)).toBe('300');
    expect(await broker.exit).toMatchObject({ code: 0, signal: null, stderr: '' });
  });
});
