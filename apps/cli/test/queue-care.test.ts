/** `proj queue`: damaged stores. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Programs } from '@proj/appkit/testing';
import { lmdbRecords } from '@proj/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const programs = new Programs();
const FREE = 'tcp://127.0.0.1:*';
const PORTS = ['--receive', FREE, '--send', FREE, '--monitor', FREE];
const LARGE = 'x'.repeat(5000);

let folder: string;
let from: string;
let to: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cli-care-'));
  [from, to] = [join(folder, 'from'), join(folder, 'to')];
});

afterEach(async () => {
  await programs.end();
  rmSync(folder, { recursive: true });
});

type Endpoints = Readonly<Record<'receive' | 'send' | 'monitor', string>>;

async function start(path: string) {
  const queue = programs.start('queue', [...PORTS, '--store', `lmdb:${path}`]);
  return { queue, endpoints: (await queue.record('listening'))['endpoints'] as Endpoints };
}

/** A stopped queue with three messages, the second one damaged. */
async function damaged(): Promise<void> {
  const { queue, endpoints } = await start(from);
  const env = { PROJ_CLI_CONNECT: endpoints.receive };
  await programs.run('cli', ['push', '--lines'], `one\n${LARGE}\nthree\n`, env);
  queue.kill('SIGTERM');
  await queue.exit;
  damage('queue.mdb', LARGE);
}

function damage(name: string, text: string): void {
  const file = join(from, name);
  const bytes = readFileSync(file);
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) bytes[at] = 0;
  writeFileSync(file, bytes);
}

const proj = (...args: readonly string[]) => programs.run('cli', ['queue', ...args]);

describe('proj queue', () => {
  it('check says what is readable, and salvage copies it: a queue starts with it', async () => {
    await damaged();
    const checked = await proj('check', from);
    expect(checked).toMatchObject({ code: 1, stderr: '' });
    expect(checked.stdout).toMatch(
      /^messages: 2 readable\ndelayed: 0 readable\ndead: 0 readable\ndamaged: 2 places\n {2}page \d+ of table bodies [^\n]+\n {2}2 of 3 messages can be read\n$/,
    );
    const salvaged = await proj('salvage', from, to);
    expect(salvaged).toMatchObject({ code: 0, stderr: '' });
    expect(salvaged.stdout).toContain('messages: 2 carried over\n');
    const { endpoints } = await start(to);
    const env = { PROJ_CLI_CONNECT: endpoints.send };
    const args = ['pull', '--count', '2', '--timeout-ms', '60000'];
    expect(await programs.run('cli', args, undefined, env)).toMatchObject({ code: 0, stdout: 'one\nthree\n' });
  });

  it('works on jobs and schedules, too', async () => {
    const records = lmdbRecords({ folder: from });
    await records.open();
    await records.commit({ puts: [['a', Buffer.from(LARGE)], ['b', Buffer.from('kept')]] }); // prettier-ignore
    await records.close();
    expect(await proj('check', from)).toEqual({
      code: 0,
      stdout: 'records: 2 readable\ndamaged: nothing\n',
      stderr: '',
    });
    damage('records.mdb', LARGE);
    const { code, stdout } = await proj('salvage', from, to, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ readable: { records: 1 }, damaged: 1 });
    const kept = lmdbRecords({ folder: to });
    await kept.open();
    expect(String(await kept.get('b'))).toBe('kept');
    await kept.close();
  });

  it.each([
    [['mend', 'x'], "queue mend x: must be 'check FOLDER' or 'salvage FOLDER NEWFOLDER'"],
    [['salvage', 'x'], "queue salvage x: must be 'check FOLDER' or 'salvage FOLDER NEWFOLDER'"],
    [['check', '/no/such/folder'], '/no/such/folder has no queue.mdb to read (ENOENT)'],
  ])('refuses %j with exit code 2 and one line', async (args, line) => {
    expect(await proj(...args)).toEqual({ code: 2, stdout: '', stderr: `proj: ${line}\n` });
  });

  it('does not touch a store that a program has open', async () => {
    const { queue } = await start(from);
    const { code, stderr } = await proj('check', from);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `proj: the store in ${from} is held by process ${queue.pid}: stop it first\n`,
    });
  });
});
