/** The `proj` commands that use a queue. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PAIRS, Programs } from '@proj/appkit/testing';
import { afterEach, describe, expect, it } from 'vitest';

const programs = new Programs();
const folders: string[] = [];
afterEach(async () => {
  await programs.end();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const FREE = 'tcp://127.0.0.1:*';
/** An acknowledgement must not be late on a busy machine. */
const PATIENT = ['--ack-timeout-ms', '600000'];

type Endpoints = Readonly<Record<'receive' | 'send' | 'monitor', string>>;

/** A separate queue, and `proj` with it. */
async function start(...args: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'cli-queue-'));
  folders.push(folder);
  const sockets = ['--receive', FREE, '--send', FREE, '--monitor', FREE];
  const queue = programs.start('queue', [...sockets, '--store', `lmdb:${folder}`, ...PATIENT, ...args]);
  const endpoints = (await queue.record('listening'))['endpoints'] as Endpoints;
  const proj =
    (command: string, endpoint: string) =>
    (args: readonly string[] = [], input?: string) =>
      programs.run('cli', [command, '--timeout-ms', '60000', ...args], input, { PROJ_CLI_CONNECT: endpoint });
  return {
    endpoints,
    push: proj('push', endpoints.receive),
    pull: proj('pull', endpoints.send),
    monitor: proj('monitor', endpoints.monitor),
  };
}

describe('proj push and proj pull', () => {
  it('store a message of several frames and take it out again', async () => {
    const { push, pull } = await start();
    expect(await push(['hello', '', 'w\u00f6rld'])).toEqual({ code: 0, stdout: 'stored 1 message\n', stderr: '' });
    expect(await pull()).toEqual({ code: 0, stdout: 'hello\n\nw\u00f6rld\n', stderr: '' });
  });

  it.each(PAIRS)('meet a queue of transport %s with transport %s', async (queue, own) => {
    const { push, pull, monitor } = await start('--transport', queue);
    const transport = ['--transport', own];
    expect(await push([...transport, 'hello'])).toMatchObject({ code: 0, stderr: '' });
    expect(await monitor(transport)).toMatchObject({ code: 0, stderr: '' });
    expect(await pull(transport)).toEqual({ code: 0, stdout: 'hello\n', stderr: '' });
  });

  it('store lines and take them out again, in order, as JSON', async () => {
    const { push, pull } = await start();
    const lines = Array.from({ length: 3000 }, (_, i) => `line ${i}`);
    expect(await push(['--lines', '--json'], lines.join('\n'))).toEqual({
      code: 0,
      stdout: '{"stored":3000}\n',
      stderr: '',
    });
    const { code, stdout } = await pull(['--count', '3000', '--json']);
    expect(code).toBe(0);
    const messages = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { key: string; body: string[] });
    expect(messages.map(({ body }) => body)).toEqual(lines.map((line) => [line]));
    expect(messages[0]?.key).toMatch(/^\d{16}\|[0-9a-f-]{36}$/);
    expect(messages[0]).toMatchObject({ ackTimeoutMs: 600_000, sentMicros: expect.any(Number) as number });
  });

  it('leave a message in the queue if told to, and write raw bytes', async () => {
    // A returned message may be on its way back here when the connection ends; then it returns after its timeout.
    const { push, pull } = await start('--ack-timeout-ms', '2000');
    await push(['a', '-'], 'b\0c');
    expect(await pull(['--verdict', 'nack'])).toMatchObject({ code: 0, stdout: 'a\n0x620063\n' });
    expect(await pull(['--raw'])).toEqual({ code: 0, stdout: 'ab\0c', stderr: '' });
  });

  it('store a message with the same id only once, if the queue remembers ids', async () => {
    const { push, monitor } = await start('--dedupe-window-ms', '600000');
    for (let i = 0; i < 2; i++) expect((await push(['--id', 'order-17', 'x'])).code).toBe(0);
    expect(JSON.parse((await monitor(['--json'])).stdout)).toMatchObject({ messages: 1, deduplicated_total: 1 });
  });

  it('delay a message, if the queue reads headers', async () => {
    const { push, monitor } = await start('--headers');
    expect((await push(['--delay-ms', '3600000', '--ttl-ms', '7200000', 'x'])).code).toBe(0);
    expect(JSON.parse((await monitor(['--json'])).stdout)).toMatchObject({ delayed_messages: 1, ready_messages: 0 });
  });

  it('exit 1 with the reason of a queue that refuses, and say what is stored', async () => {
    const { push } = await start('--max-messages', '2');
    expect(await push(['--lines'], 'a\nb\n')).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await push(['--lines'], 'c\nd\n');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^proj: line 1: message: the queue did not store it: "Queue is full \(messages\)"; of [12] lines read 0 are stored\n$/,
    );
  });

  it('exit 3 without a queue, or with an empty queue', async () => {
    const { pull } = await start();
    const nowhere = { PROJ_CLI_CONNECT: 'ipc:///no/such' };
    const pushed = await programs.run('cli', ['push', 'x', '--timeout-ms', '200'], '', nowhere);
    expect(pushed.code).toBe(3);
    expect(pushed.stderr).toMatch(
      /^proj: message: not acknowledged within 200 ms, .*; ipc:\/\/\/no\/such: not connected: connect ENOENT .*\n$/,
    );
    const pulled = await pull(['--timeout-ms', '200']);
    expect(pulled.code).toBe(3);
    expect(pulled.stderr).toMatch(
      /^proj: no message within 200 ms, after 0: the queue at tcp:.* is empty, or there is no queue/,
    );
  });

  it('refuse lines together with a body, with exit code 2 and one line', async () => {
    const outcome = await programs.run('cli', ['push', '--lines', 'x']);
    expect(outcome).toEqual({
      code: 2,
      stdout: '',
      stderr: 'proj: --lines takes its messages from standard input: no body and no --id then\n',
    });
  });

  it('exit 130 when interrupted', async () => {
    const { push, endpoints } = await start();
    // Printed as it is, so it reads like a line of the program's log.
    await push(['{"level":"info","msg":"pulled"}']);
    const args = ['pull', '--count', '0', '--timeout-ms', '0', '--connect', endpoints.send];
    const endless = programs.start('cli', args);
    await endless.record('pulled');
    endless.kill('SIGINT');
    expect(await endless.exit).toMatchObject({ code: 130, stderr: '' });
  });
});

describe('proj monitor', () => {
  it('prints the statistics of a queue, as text and as JSON', async () => {
    const { push, monitor } = await start();
    await push(['hello']);
    const { code, stdout } = await monitor();
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual(
      expect.arrayContaining([
        ['NAME', 'VALUE'],
        ['messages', '1'],
        ['store_state', 'ok'],
      ]),
    );
    expect(JSON.parse((await monitor(['--json'])).stdout)).toMatchObject({
      messages: 1,
      stored_total: 1,
      store: 'lmdb',
    });
  });

  it('exits 3 without an answer, and says so', async () => {
    const args = ['monitor', '--connect', 'ipc:///no/such', '--timeout-ms', '100', '--tries', '1'];
    const { code, stderr } = await programs.run('cli', args);
    expect(code).toBe(3);
    expect(stderr).toMatch(/; no queue has its monitor socket at ipc:\/\/\/no\/such\n$/);
  });
});
