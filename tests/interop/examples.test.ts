// Every example runs, with and without its peer in Python, and prints what its README says.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ownEndpoint } from '@proj/testkit';
import { expect, it } from 'vitest';

const FOLDER = fileURLToPath(new URL('../../examples', import.meta.url));
const NAMES = readdirSync(FOLDER, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
/** Options of the examples that name an endpoint. */
const ENDPOINTS = ['ENDPOINT', 'RECEIVE', 'SEND', 'MONITOR', 'FRONTEND', 'BACKEND', 'ADMIN'];

const read = (name: string, file: string) => readFileSync(join(FOLDER, name, file), 'utf8');

async function output(name: string, ...args: string[]): Promise<string> {
  const env: NodeJS.ProcessEnv = { ...process.env, PYTHON: process.env['PROJ_PYTHON'] ?? '/usr/bin/python3' };
  for (const option of ENDPOINTS) env[option] = await ownEndpoint();
  const { stdout } = await promisify(execFile)(process.execPath, [join(FOLDER, name, 'main.js'), ...args], { env });
  return stdout;
}

const printing = NAMES.filter((name) => existsSync(join(FOLDER, name, 'expected.txt')));
const withPeer = NAMES.filter((name) => existsSync(join(FOLDER, name, 'peer.py')));

it('exist, some with a peer in Python', () => {
  expect([printing.length, withPeer]).toEqual([NAMES.length - 1, expect.arrayContaining(['durable-queue'])]);
});

it.each(printing)('%s prints what its README says', async (name) => {
  expect(await output(name)).toBe(read(name, 'expected.txt'));
  expect(read(name, 'README.md')).toContain(`\`\`\`\n${read(name, 'expected.txt')}\`\`\``);
});

it.each(withPeer)('%s serves its peer in Python', async (name) => {
  expect(await output(name, '--python')).toBe(read(name, 'expected-python.txt'));
});

it('broker-in-a-test is a test that passes', async () => {
  expect(await output('broker-in-a-test')).toMatch(
    /^ok 1 - a request reaches the worker of its service$[^]*^# pass 1$/m,
  );
});
