/** `proj defer`, `schedule`, `unschedule` and `publish` against proj-broker and proj-worker, and without a peer. */
import { Programs, TRANSPORTS } from '@proj/appkit/testing';
import { afterEach, describe, expect, it } from 'vitest';

const programs = new Programs();
/** A port that only root could listen at, and nobody does. */
const NOBODY = 'tcp://127.0.0.1:1';
afterEach(() => programs.end());

/** A broker and its job manager with the sample jobs; neither loses the other on a busy machine. */
async function start() {
  const patient = ['--heartbeat-ms', '10000', '--liveness', '60'];
  const { endpoints } = await programs.startBroker('--only', 'emqp', ...patient);
  const worker = programs.start('worker', ['--protocol', 'emqp', '--connect', endpoints.emqpBackend, ...patient]);
  await worker.record('registered');
  const at = ['--connect', endpoints.emqpFrontend, '--timeout-ms', '60000'];
  return { defer: (...args: string[]) => programs.run('cli', ['defer', ...at, ...args]) };
}

describe('proj defer', () => {
  it('prints what the job returned: text as it is, everything else as JSON', async () => {
    const { defer } = await start();
    expect(await defer('default', 'sample.add', '2', '3')).toEqual({ code: 0, stdout: '5\n', stderr: '' });
    expect(await defer('default', 'sample.nosuch')).toMatchObject({ code: 0, stdout: 'no job "sample.nosuch" here\n' });
    expect(await defer('default', 'sample.nosuch', '--json')).toMatchObject({
      stdout: '"no job \\"sample.nosuch\\" here"\n',
    });
  });

  it('prints the id of the job with --no-wait', async () => {
    const { defer } = await start();
    const { code, stdout } = await defer('default', 'sample.add', '2', '3', '--no-wait', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string });
  });
});

describe('ends with exit code 3 without a peer:', () => {
  it.each(TRANSPORTS)('proj schedule, unschedule and publish over %s', async (transport) => {
    const nobody = ['--connect', NOBODY, '--transport', transport, '--timeout-ms', '200'];
    const job = ['default', 'my.job'];
    for (const args of [
      ['schedule', ...job, '--interval', '5'],
      ['unschedule', ...job],
      ['publish', 'topic', 'body'],
    ]) {
      const { code, stdout, stderr } = await programs.run('cli', [...args, ...nobody]);
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
      expect(stderr).toMatch(/^proj: tcp:.*: no peer took it within 200 ms; is an? .* there\?\n$/);
    }
  });
});

it('proj schedule goes to the next broker if the first one is down, and prints the name of the job', async () => {
  const { endpoints } = await programs.startBroker('--only', 'emqp');
  const connect = ['--connect', `${NOBODY},${endpoints.emqpFrontend}`, '--timeout-ms', '5000'];
  const args = ['default', 'myjobs.add', '5', '5', '--interval', '60', ...connect];
  const name = '1a3aa8fbf8ce963478f04ef0a3df8944e656b801';
  expect(await programs.run('cli', ['schedule', ...args])).toEqual({ code: 0, stdout: `${name}\n`, stderr: '' });
});

it.each([
  ['neither interval nor cron', ['schedule', 'q', 'a.b'], 'exactly one of --interval and --cron is needed'],
  ['both', ['schedule', 'q', 'a.b', '--interval', '1', '--cron', '* * * * *'], 'exactly one of --interval and --cron'],
  ['a job without a path', ['defer', 'q', 'add'], 'job "add": must be path.callable'],
  ['kwargs that are not an object', ['defer', 'q', 'a.b', '--kwargs', '5'], '--kwargs = 5: must be a JSON object'],
])('refuses %s with exit code 2 and one line', async (_, args, line) => {
  const { code, stderr } = await programs.run('cli', args);
  expect(code).toBe(2);
  expect(stderr).toContain(line);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});
