import { Programs } from '@proj/appkit/testing';
import { afterEach, expect, it } from 'vitest';

const programs = new Programs();
afterEach(() => programs.end());

/** The log lines of a broker at level trace that has served one call from each of two clients. */
async function logOfTwoCalls(): Promise<string[]> {
  const { broker, endpoint, registered } = await programs.startBroker('--log-level', 'trace');
  const lines: string[] = [];
  broker.onRecord((record) => lines.push(JSON.stringify(record)));
  programs.start('worker', ['--connect', endpoint]);
  await registered(1);
  for (const text of ['first', 'second']) {
    const called = await programs.run('cli', ['call', 'echo', text], '', { PROJ_CLI_CONNECT: endpoint });
    expect(called.stdout.trim()).toBe(text);
  }
  return lines;
}

it("follows one client's request through the broker and back, and no other client's", async () => {
  const lines = await logOfTwoCalls();
  const asked = lines
    .map((line) => JSON.parse(line) as Record<string, string>)
    .filter(({ command }) => command === 'client-request');
  expect(asked).toHaveLength(2);
  const id = asked[1]?.['id'] ?? '';
  const { code, stdout } = await programs.run('cli', ['trace', id], [...lines, 'not a line of a log'].join('\n'));
  const words = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/).slice(1, 4).join(' '));
  expect(words).toEqual([
    'in mdp client-request',
    'out mdp worker-request',
    'in mdp worker-final',
    'out mdp client-final',
  ]);
  expect(code).toBe(0);
  const json = await programs.run('cli', ['trace', id, '--json'], lines.join('\n'));
  expect(
    json.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { msg: string }).msg),
  ).toEqual(['in', 'out', 'in', 'out']);
});

it('exits with 1 if nothing is known about the id, and names a log that cannot be read', async () => {
  expect(await programs.run('cli', ['trace', 'nobody'], '{}\n')).toMatchObject({ code: 1, stdout: '' });
  const missing = await programs.run('cli', ['trace', 'x', '--log', '/nowhere/broker.log']);
  expect(missing).toMatchObject({ code: 2 });
  expect(missing.stderr).toContain('--log = "/nowhere/broker.log": cannot be read');
});
