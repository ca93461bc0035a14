/** Encryption with the programs' options: real processes, certificates as written by `proj keygen`. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Programs, TRANSPORTS } from '@proj/appkit/testing';
import { describe, expect, it } from 'vitest';
import type { TestContext } from 'vitest';

/** How long an unanswered call waits; by then it must have been refused, even on a busy machine. */
const UNANSWERED = ['--timeout-ms', '10000', '--tries', '1'];

/** Programs and certificates of one test: most tests wait for a refusal, so they run concurrently. */
async function place({ onTestFinished }: TestContext) {
  const programs = new Programs();
  const folder = mkdtempSync(join(tmpdir(), 'encryption-'));
  onTestFinished(async () => {
    await programs.end();
    rmSync(folder, { recursive: true });
  });
  const at = (name: string) => join(folder, name);
  const keygen = (name: string) => programs.run('cli', ['keygen', at(name)]);
  mkdirSync(at('clients'));
  await keygen('broker');
  return {
    programs,
    at,
    keygen,
    /** The options that each client program needs to reach the broker. */
    toBroker: (name: string) => [
      ...['--server-key', at('broker.key')],
      ...['--curve-secret-key', at(`${name}.key_secret`)],
    ],
    startBroker(...args: string[]) {
      const beats = ['--heartbeat-ms', '500', '--liveness', '20'];
      return programs.startBroker(...beats, '--curve-secret-key', at('broker.key_secret'), ...args);
    },
  };
}

describe.concurrent('an encrypted broker', () => {
  it('rule 53: serves keys on its list, and admits new ones without a restart', async (context) => {
    const { programs, at, keygen, toBroker, startBroker } = await place(context);
    await keygen('clients/worker');
    const { broker, endpoint, registered } = await startBroker('--authorized-keys', at('clients'));
    const common = ['--connect', endpoint];
    programs.start('worker', [...common, '--heartbeat-ms', '500', ...toBroker('clients/worker')]);
    await registered(1);

    await keygen('ada');
    const call = ['call', 'echo', 'hello', ...common, ...toBroker('ada')];
    const refused = programs.run('cli', [...call, ...UNANSWERED]);
    expect(await broker.record('authorized keys')).toMatchObject({ keys: 1 });
    await keygen('clients/bob');
    const isIn = [...common, ...toBroker('clients/bob'), '--timeout-ms', '10000', '--tries', '6'];

    expect(await programs.run('cli', ['call', 'echo', 'hello', ...isIn])).toMatchObject({ code: 0, stdout: 'hello\n' });
    expect(await refused).toMatchObject({ code: 3, stdout: '' });
    expect((await refused).stderr).toContain('the server refused our key');
  });

  it('rule 54: accepts the text of a key, and names the likely cause if it is the wrong one', async (context) => {
    const { programs, at, startBroker } = await place(context);
    const { broker, endpoint, registered } = await startBroker();
    const key = /public-key = "(.*)"/.exec(readFileSync(at('broker.key'), 'utf8'))?.[1] ?? '';
    const { stdout } = await programs.run('cli', ['keygen', at('other'), '--json']);
    const { publicKey } = JSON.parse(stdout) as { publicKey: string };
    const common = ['--connect', endpoint];
    programs.start('worker', [...common, '--heartbeat-ms', '500', '--server-key', key]);
    await registered(1);
    const call = ['call', 'echo', 'hello', ...common];

    const [right, wrong] = await Promise.all([
      programs.run('cli', [...call, '--timeout-ms', '30000', '--server-key', key]),
      programs.run('cli', [...call, ...UNANSWERED, '--server-key', publicKey]),
    ]);
    expect(right).toMatchObject({ code: 0 });
    expect(wrong.code).toBe(3);
    expect(wrong.stderr).toContain('most likely its key is not the expected one');
    await broker.record('a handshake failed: the client expects a server with another key');
  });

  it.for(TRANSPORTS)(
    'over %s accepts no schedule and no publication from refused clients',
    async (transport, context) => {
      const { programs, at, keygen, toBroker, startBroker } = await place(context);
      await keygen('clients/bob');
      await keygen('ada');
      const { endpoints } = await startBroker('--only', 'emqp', '--authorized-keys', at('clients'));
      const commands = [
        ['schedule', 'default', 'my.job', '--interval', '60', '--connect', endpoints.emqpFrontend],
        ['unschedule', 'default', 'my.job', '--connect', endpoints.emqpFrontend],
        ['publish', 'topic', 'body', '--connect', endpoints.emqpPublish],
      ].map((args) => [...args, '--transport', transport]);
      const all = (...flags: readonly string[]) =>
        Promise.all(commands.map((args) => programs.run('cli', [...args, ...flags])));

      for (const { code } of await all(...toBroker('clients/bob'), '--timeout-ms', '60000')) expect(code).toBe(0);
      for (const { code, stdout, stderr } of await all(...toBroker('ada'), '--timeout-ms', '1000')) {
        expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
        expect(stderr).toMatch(
          /no peer took it within 1000 ms; .* is --server-key its key, and does it admit ours\?\n$/,
        );
      }
      for (const { code, stdout, stderr } of await all('--timeout-ms', '1000')) {
        expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
        expect(stderr).toMatch(
          /^proj: tcp:.*: no peer took it within 1000 ms; is an? .* without encryption there\?\n$/,
        );
      }
    },
  );

  it('refuses options that mean nothing alone, and missing or invalid files', async (context) => {
    const { programs, at } = await place(context);
    const missing = await programs.run('broker', ['--authorized-keys', at('clients')]);
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toContain('needs --curve-secret-key');
    const absent = await programs.run('broker', ['--curve-secret-key', at('absent.key_secret')]);
    expect(absent).toMatchObject({ code: 2 });
    expect(absent.stderr).toContain('ENOENT');
    const secretless = await programs.run('broker', ['--curve-secret-key', at('broker.key')]);
    expect(secretless.stderr).toContain('has no secret-key');
  });
});

describe.concurrent('a broker without encryption', () => {
  it('rule 55: warns once if others can reach it', async (context) => {
    const { programs } = await place(context);
    const { broker } = await programs.startBroker(
      '--mdp',
      'tcp://*:*',
      '--ppp-frontend',
      'tcp://*:*',
      '--only',
      'mdp,ppp',
    );
    const warned = await broker.record(
      'not encrypted, and open to everyone who can reach it; use --curve-secret-key and --authorized-keys',
    );

    expect(warned.level).toBe('warn');
  });
});
