/** What a supervisor does to proj-broker (signals), and what it may fail to do: read the log, keep descriptors free. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programPath, Programs } from '@proj/appkit/testing';
import { MdpClient } from '@proj/client';
import { MdpWorker } from '@proj/worker';
import { zmtpTransport } from '@proj/zmtp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const MDP_ONLY = ['--only', 'mdp', '--mdp', 'tcp://127.0.0.1:*', '--transport', 'zmtp'];

const programs = new Programs();
const clients: MdpClient[] = [];
const children: ChildProcess[] = [];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signals-'));
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await programs.end();
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true });
});

function clientOf(endpoint: string): MdpClient {
  const client = new MdpClient({ endpoints: [endpoint], transport: zmtpTransport() });
  clients.push(client);
  return client;
}

async function started(...args: string[]) {
  const broker = programs.start('broker', [...MDP_ONLY, ...args]);
  const { mdp } = (await broker.record('listening'))['endpoints'] as { mdp: string };
  return { broker, mdp, client: clientOf(mdp) };
}

/** A broker whose log the test may read. `shell` is put before the program. */
async function bare(args: readonly string[], shell = '') {
  const line = `${shell} exec "$0" "$@"`;
  const flags = [...MDP_ONLY, '--log-format', 'json', ...args];
  const child = spawn('/bin/sh', ['-c', line, process.execPath, programPath('broker'), ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const { stdout } = child;
  let text = '';
  const listening = /"mdp":"(tcp:[^"]+)"/;
  while (!listening.test(text)) text += String(((await once(stdout, 'data')) as [Buffer])[0]);
  const mdp = listening.exec(text)?.[1] ?? '';
  return { child, stdout, mdp, client: clientOf(mdp) };
}

describe('SIGHUP', () => {
  it('changes the log level and the memory budget, rereads rules and keys, and says what needs a restart', async () => {
    const config = join(folder, 'broker.yaml');
    const access = join(folder, 'access.json');
    writeFileSync(config, 'log-level: info\nstats-ms: 60000\n');
    writeFileSync(access, '[{ "keys": "*", "request": ["mmi.service"] }]');
    const { broker, client } = await started('--config', config, '--access', access);
    writeFileSync(config, 'log-level: debug\nstats-ms: 5000\nmemory-max: 100000000\n');
    broker.kill('SIGHUP');
    expect(await broker.record('reloaded')).toMatchObject({
      changed: ['log-level', 'memory-max'],
      needsRestart: ['stats-ms'],
    });
    // Rules were read at the start and once more.
    expect((await broker.record('access rules'))['rules']).toBe(1);
    expect(await client.service('echo')).toBe('absent');
    broker.kill('SIGTERM');
    // Lines of this level were not written before.
    expect((await broker.record('stats')).level).toBe('debug');
    expect(await broker.record('memory')).toMatchObject({ maxBytes: 100_000_000 });
    expect((await broker.exit).code).toBe(0);
  });

  it('starts tracing at that level, and keeps the settings if the rules are invalid', async () => {
    const config = join(folder, 'broker.yaml');
    const access = join(folder, 'access.json');
    writeFileSync(config, 'log-level: info\n');
    writeFileSync(access, '[]');
    const { broker, client } = await started('--config', config, '--access', access);
    writeFileSync(config, 'log-level: trace\n');
    writeFileSync(access, '{');
    broker.kill('SIGHUP');
    expect((await broker.record('settings were not changed'))['reason']).toContain('must be JSON');
    writeFileSync(access, '[{ "keys": "*", "request": ["mmi.service"] }]');
    broker.kill('SIGHUP');
    await broker.record('reloaded');
    expect(await client.service('echo')).toBe('absent');
    // There is one request, and it is the first: none was traced before.
    expect(await broker.record('in')).toMatchObject({ command: 'client-request', service: 'mmi.service' });
  });

  it('changes nothing if the file is invalid', async () => {
    const config = join(folder, 'broker.yaml');
    writeFileSync(config, 'log-level: info\n');
    const { broker, client } = await started('--config', config);
    writeFileSync(config, 'log-level: loud\n');
    broker.kill('SIGHUP');
    expect((await broker.record('settings were not changed'))['reason']).toContain('log-level in ');
    expect(await client.service('echo')).toBe('absent');
  });
});

it('a second SIGTERM ends it at once, with a count of what was dropped', async () => {
  const { broker, client, mdp } = await started();
  let begun: () => void = () => undefined;
  const running = new Promise<void>((resolve) => (begun = resolve));
  const worker = new MdpWorker({
    endpoints: [mdp],
    service: 'slow',
    transport: zmtpTransport(),
    handler: (_, { signal }) => {
      begun();
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          resolve('');
        });
      });
    },
  });
  await worker.start();
  const lost = client.request('slow', 'x').catch((error: unknown) => error);
  await running;
  broker.kill('SIGTERM');
  await broker.record('draining');
  broker.kill('SIGTERM');
  const last = (await broker.record('ended at once; the work counted here was dropped')) as unknown as {
    mdp: { openRequests: number };
  };
  expect(last.mdp.openRequests).toBe(1);
  expect((await broker.exit).code).toBe(143);
  await client.close();
  await worker.close();
  await lost;
});

describe('standard output', () => {
  it('that nobody reads stops nothing: lines are dropped, counted and reported', async () => {
    const { child, stdout, client } = await bare(['--stats-ms', '1', '--log-level', 'debug']);
    stdout.pause();
    // A line of statistics for each of them, which is more than any pipe holds.
    for (let asked = 0; asked < 2000; asked++) await client.service('echo');
    let text = '';
    stdout.on('data', (chunk: Buffer) => (text += String(chunk)));
    stdout.resume();
    while (!text.includes('log lines dropped')) await once(stdout, 'data');
    expect(/"dropped":\d+,"msg":"log lines dropped, because nobody read them"/.exec(text)).not.toBeNull();
    for (const line of text.trim().split('\n').slice(1, -1)) expect(() => JSON.parse(line) as unknown).not.toThrow();
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('whose reader is gone stops nothing', async () => {
    const { child, stdout, client } = await bare(['--stats-ms', '1', '--log-level', 'debug']);
    stdout.destroy();
    for (let asked = 0; asked < 100; asked++) expect(await client.service('echo')).toBe('absent');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('that was closed from the start stops nothing, nor do the other two', async () => {
    const { client } = await bare([], 'exec <&- 2>&-;');
    expect(await client.service('echo')).toBe('absent');
  });
});

it('without free descriptors it still serves connected peers, and later new ones', async () => {
  const { mdp, client } = await bare([], 'ulimit -n 60;');
  expect(await client.service('echo')).toBe('absent');
  const sockets: Socket[] = [];
  for (let i = 0; i < 100; i++) {
    const socket = connect(Number(/\d+$/.exec(mdp)?.[0]), '127.0.0.1');
    socket.on('error', () => undefined);
    sockets.push(socket);
  }
  await Promise.all(sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
  expect(await client.service('echo')).toBe('absent');
  for (const socket of sockets) socket.destroy();
  expect(await clientOf(mdp).service('echo')).toBe('absent');
});
