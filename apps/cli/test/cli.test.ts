import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildProgram } from '@proj/appkit';
import { Programs, undocumentedFlags } from '@proj/appkit/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

const system = new Programs();
let endpoint: string;
beforeAll(async () => {
  const { endpoints, registered } = await system.startBroker('--heartbeat-ms', '500', '--liveness', '20');
  endpoint = endpoints.mdp;
  const common = ['--connect', endpoint, '--heartbeat-ms', '500'];
  // Three services with two conversations each, and one conversation of every other worker.
  const registrations = 8;
  const workers = [
    system.start('worker', [...common, '--service', 'echo,sha256,sleep', '--concurrency', '2']),
    system.start('worker', [...common, '--service', 'fail', '--on-error', 'reply']),
    system.start('worker', [...common, '--service', 'echo', '--protocol', 'mdp01']),
  ];
  await Promise.race([registered(registrations), ...workers.map(endOf)]);
});
afterAll(() => system.end());

/** Rejects if the program ends. */
async function endOf(program: ChildProgram): Promise<never> {
  const { code, stderr } = await program.exit;
  throw new Error(`${program.name} ended (${code}): ${stderr}`);
}

const programs = new Programs();
afterEach(() => programs.end());

/** Runs `proj` against the broker of this file. */
function proj(args: readonly string[], input?: string) {
  return programs.run('cli', args, input, { PROJ_CLI_CONNECT: endpoint });
}

describe('proj call', () => {
  it.each<[string, string[], string | undefined, string]>([
    ['text, one line per frame', ['echo', 'hello', 'w\u00f6rld'], undefined, 'hello\nw\u00f6rld\n'],
    ['an empty frame without a body', ['echo'], undefined, '\n'],
    ['standard input', ['echo', '-'], 'from a pipe', 'from a pipe\n'],
    ['bytes as they are', ['echo', 'a', '-', '--raw'], 'b\0c', 'ab\0c'],
    ['JSON', ['echo', 'a', '', '--json'], undefined, '{"service":"echo","kind":"final","body":["a",""]}\n'],
    ['the last reply of a stream', ['echo', 'a', '--stream'], undefined, 'a\n'],
    ['a 0.1 service', ['echo', 'old', '--protocol', 'mdp01'], undefined, 'old\n'],
    ['what it gets over our ZMTP', ['echo', 'a', '--transport', 'zmtp'], undefined, 'a\n'],
  ])('prints %s', async (_, args, input, stdout) => {
    expect(await proj(['call', ...args], input)).toEqual({ code: 0, stdout, stderr: '' });
  });

  it('sends the bytes of a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cli-'));
    const path = join(folder, 'binary');
    const bytes = randomBytes(100_000);
    writeFileSync(path, bytes);
    try {
      const { code, stdout } = await proj(['call', 'echo', `@${path}`]);
      expect(code).toBe(0);
      expect(stdout).toBe(`0x${bytes.toString('hex')}\n`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('exits 3 when a worker takes too long, and says what to do', async () => {
    const { code, stdout, stderr } = await proj(['call', 'sleep', '60000', '--timeout-ms', '3000', '--tries', '1']);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/^proj: service "sleep": no answer .*a worker offers it: raise --timeout-ms/);
  });

  it('exits 3 for a service without workers, and says so', async () => {
    const { code, stderr } = await proj(['call', 'nobody', 'x', '--timeout-ms', '3000', '--tries', '2']);
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^proj: service "nobody": no answer .*no worker offers it at .*: start one, or see 'proj services'\n$/,
    );
  });

  it('exits 1 at once for a service without workers, if told to ask first', async () => {
    const { code, stderr } = await proj(['call', 'nobody', 'x', '--fail-fast']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'proj: service "nobody": no worker offers it\n' });
  });

  it('exits 3 without a broker, and says so', async () => {
    const { code, stderr } = await proj([
      'call',
      'echo',
      'x',
      '--connect',
      'ipc:///no/such',
      '--timeout-ms',
      '100',
      '--tries',
      '1',
    ]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/no broker answers at ipc:\/\/\/no\/such: is it running/);
  });

  it('exits 1 with the error message of a service that refuses', async () => {
    const { code, stdout, stderr } = await proj(['call', 'fail', 'x']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe('proj: service "fail" refused: HANDLER_FAILED: handler fail: it always does\n');
  });

  it('exits 130 when interrupted', async () => {
    const slow = ['--connect', endpoint, '--service', 'slow', '--handler', 'sleep', '--log-level', 'debug'];
    const worker = programs.start('worker', slow);
    const call = programs.start('cli', ['call', 'slow', '60000', '--connect', endpoint]);
    await worker.record('request');
    call.kill('SIGINT');
    expect(await call.exit).toMatchObject({ code: 130, stderr: '' });
  });
});

describe('proj services and proj workers', () => {
  it('lists services as text', async () => {
    const { code, stdout } = await proj(['services']);
    expect(code).toBe(0);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/ {2,}/).slice(0, 3));
    expect(lines[0]).toEqual(['SERVICE', 'MDP', 'WORKERS']);
    expect(lines).toContainEqual(['echo', '0.2', '2']);
    expect(lines).toContainEqual(['echo', '0.1', '1']);
  });

  it('lists services and workers as JSON', async () => {
    const services = JSON.parse((await proj(['services', '--json'])).stdout) as unknown[];
    expect(services).toContainEqual({ name: 'sha256', version: '0.2', workers: 2, busy: 0, waiting: 0, requests: 0 });
    const workers = JSON.parse((await proj(['workers', 'sha256', '--json'])).stdout) as unknown[];
    expect(workers).toHaveLength(2);
    expect(workers[0]).toMatchObject({ service: 'sha256', version: '0.2', busy: false });
  });
});

describe('proj decode', () => {
  it('explains a message', async () => {
    const { code, stdout } = await proj(['decode', '', '4d4450433031', '6563686f', '6869', 'ff']);
    expect(code).toBe(0);
    const readings = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(readings).toContainEqual({
      protocol: 'mdp',
      receiver: 'broker',
      kind: 'client-request',
      version: '0.1',
      service: 'echo',
      body: ['hi', { hex: 'ff' }],
    });
  });

  it.each([
    [
      "a consumer's acknowledgement",
      ['1795199729632593|28cbd893-e992-4872-ad21-d846881a2241', '1'],
      { receiver: 'send socket', kind: 'consumer-ack', positive: true },
    ],
    ['an answer to a producer', ['id', '0', '', 'no'], { receiver: 'producer', stored: false, reason: 'no' }],
    ['a question to the monitor', ['', 'MONITOR'], { receiver: 'monitor socket', kind: 'monitor-request' }],
    ['a message to store', ['id', 'h', 'h', '', 'x', ''], { receiver: 'receive socket', headers: ['h', 'h'] }],
  ])('knows PZQ: %s', async (_, frames, reading) => {
    const { code, stdout } = await proj(['decode', ...frames.map((frame) => Buffer.from(frame).toString('hex'))]);
    expect(code).toBe(0);
    const readings = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(readings).toContainEqual(expect.objectContaining({ protocol: 'pzq', ...reading }));
  });

  it.each([
    ['a word that is not hex', ['0g'], 2, 'proj: frame "0g": must be hex, two digits per byte\n'],
    ['a message of no protocol', [''], 1, 'proj: no protocol has this message (mdp at broker: no-header, '],
  ])('refuses %s', async (_, frames, code, line) => {
    const outcome = await proj(['decode', ...frames]);
    expect(outcome.code).toBe(code);
    expect(outcome.stderr).toContain(line);
  });
});

describe('proj', () => {
  it('has a guide that names every flag', async () => {
    expect(
      await undocumentedFlags('cli', [
        'call',
        'defer',
        'schedule',
        'unschedule',
        'services',
        'status',
        'workers',
        'post',
        'get',
        'delete',
        'fetch',
        'push',
        'pull',
        'monitor',
        'top',
        'stats',
        'dead',
        'purge',
        'decode',
        'keygen',
      ]),
    ).toEqual([]);
  });

  it.each([
    [
      'no command',
      [],
      'proj: command missing: must be one of call, services, workers, status, post, get, delete, jobs, fetch, events, push,',
    ],
    ['an unknown command', ['cal'], "proj: unknown command 'cal' (Did you mean call?): must be one of"],
    ['no service', ['call'], "proj: missing required argument 'service'"],
    [
      'a bad protocol',
      ['services', '--protocol', 'mdp03'],
      'proj: --protocol = "mdp03": must be one of mdp, mdp01, nfp\n',
    ],
    [
      'a missing file',
      ['call', 'echo', '@/no/such'],
      'proj: body "@/no/such": must be @ and a readable file (ENOENT)\n',
    ],
  ])('refuses %s with exit code 2 and one line', async (_, args, line) => {
    const { code, stdout, stderr } = await proj(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(line);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
