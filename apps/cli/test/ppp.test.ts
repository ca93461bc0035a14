/** proj and Paranoid Pirate. */
import { Programs } from '@proj/appkit/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

const ONLY = ['--only', 'ppp', '--heartbeat-ms', '500', '--liveness', '20'];

const system = new Programs();
let queue: string;
beforeAll(async () => {
  const { endpoints, registered } = await system.startBroker(...ONLY);
  queue = endpoints.pppFrontend;
  system.start('worker', ['--protocol', 'ppp', '--connect', endpoints.pppBackend, '--heartbeat-ms', '500']);
  await registered(1);
});
afterAll(() => system.end());

const programs = new Programs();
afterEach(() => programs.end());

describe('proj call --protocol ppp', () => {
  const ppp = (args: readonly string[], input?: string) =>
    programs.run('cli', ['call', '--protocol', 'ppp', ...args], input, { PROJ_CLI_CONNECT: queue });

  it.each<[string, string[], string | undefined, string]>([
    ['every word as a frame', ['echo', 'hello'], undefined, 'echo\nhello\n'],
    ['an empty frame without words', [], undefined, '\n'],
    ['standard input, as bytes', ['-', '--raw'], 'b\0c', 'b\0c'],
    ['JSON, without a service name', ['a', '', '--json'], undefined, '{"kind":"final","body":["a",""]}\n'],
  ])('takes %s', async (_, args, input, stdout) => {
    expect(await ppp(args, input)).toEqual({ code: 0, stdout, stderr: '' });
  });

  it('exits 1 with the error message of a worker that refuses', async () => {
    const { endpoints, registered } = await programs.startBroker(...ONLY);
    const args = ['--service', 'fail', '--on-error', 'reply', '--protocol', 'ppp', '--connect', endpoints.pppBackend];
    programs.start('worker', args);
    await registered(1);
    const { code, stdout, stderr } = await ppp(['x', '--connect', endpoints.pppFrontend]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe('proj: request refused: HANDLER_FAILED: handler fail: it always does\n');
  });

  it('exits 3 without an answer, and lists possible causes', async () => {
    const { code, stderr } = await ppp(['x', '--connect', 'ipc:///no/such', '--timeout-ms', '100', '--tries', '2']);
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^proj: request: no answer to 2 sends in .*; there is no queue at ipc:\/\/\/no\/such, it has no worker/,
    );
  });

  it.each([
    ['--stream', 'proj: --stream = true: must be off with --protocol ppp, which has no partial replies\n'],
    ['--fail-fast', 'proj: --fail-fast = true: must be off with --protocol ppp, which has no services to ask about\n'],
  ])('refuses %s with exit code 2 and one line', async (flag, stderr) => {
    expect(await ppp(['x', flag])).toEqual({ code: 2, stdout: '', stderr });
  });
});

it('explains a heartbeat, which both sides send', async () => {
  const { code, stdout } = await programs.run('cli', ['decode', '02']);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout:
      '{"protocol":"ppp","receiver":"queue from a worker","kind":"heartbeat"}\n{"protocol":"ppp","receiver":"worker","kind":"heartbeat"}\n',
  });
});

it('has no services to list', async () => {
  const { code, stderr } = await programs.run('cli', ['services', '--protocol', 'ppp']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: 'proj: --protocol = "ppp": must be one of mdp, mdp01, nfp\n' });
});
