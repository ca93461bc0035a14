import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programPath, Programs, undocumentedFlags } from '@proj/appkit/testing';
import { afterEach, describe, expect, it } from 'vitest';

/** For commands on a busy machine. */
const PATIENT = ['--timeout-ms', '50000'];
/** Enough for tests that do not need all files of the repository. */
const SOME_FILES = fileURLToPath(new URL('../../../packages/pzq', import.meta.url));

const programs = new Programs();
let demo: ChildProcessWithoutNullStreams | undefined;
afterEach(async () => {
  if (demo !== undefined && demo.exitCode === null && demo.signalCode === null) {
    demo.kill('SIGTERM');
    await once(demo, 'exit');
  }
  demo = undefined;
  await programs.end();
});

/** Starts the demonstration and waits until it has written this text; returns the output so far. */
async function startUntil(
  args: readonly string[],
  text: string,
): Promise<{ child: ChildProcessWithoutNullStreams; output: string }> {
  const child = (demo = spawn(process.execPath, [programPath('demo'), ...args]));
  let output = '';
  for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    output += chunk as string;
    if (output.includes(text)) return { child, output };
  }
  throw new Error(`the demonstration ended without "${text}": ${output}`);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('proj-demo', () => {
  it('pushes their names into a queue, kills it, and loses none of them', async () => {
    const { code, stdout } = await programs.run('demo', ['--once', '--folder', SOME_FILES]);
    expect(code).toBe(0);
    const [, killed] = / and with \d+ of them acknowledged the queue \((\d+)\) is killed\./.exec(stdout) ?? [];
    const [, successor, found] =
      /It is up again \((\d+)\) and has found (\d+) messages on its disk\./.exec(stdout) ?? [];
    expect(killed).toBeDefined();
    expect(successor).not.toBe(killed);
    expect(Number(found)).toBeGreaterThan(0);
    const [, files = ''] = /checksums of (\d+) files/.exec(stdout) ?? [];
    const half = Math.floor(Number(files) / 2);
    expect(stdout).toContain(
      `Nothing was lost: ${files} messages acknowledged, ${files} delivered; none of the ${half} settled ones came back.`,
    );
    const folder = /its store in (\S+)\.\n/.exec(stdout)?.[1] ?? '';
    expect([folder === '', existsSync(folder)]).toEqual([false, false]);
  });

  it('has a README that names every flag', async () => {
    expect(await undocumentedFlags('demo')).toEqual([]);
  });

  it('sends empty and large files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'demo-'));
    writeFileSync(join(folder, 'empty'), '');
    writeFileSync(join(folder, 'large'), 'a line of text\n'.repeat(700_000));
    try {
      const { code, stdout } = await programs.run('demo', ['--once', '--no-crash', '--folder', folder]);
      expect(code).toBe(0);
      expect(stdout).toContain('Nothing was lost: 4 requests, 4 answers, 0 of them wrong');
      expect(stdout).toContain('Nothing was lost: 2 messages acknowledged, 2 delivered;');
      expect(stdout).not.toContain('is killed');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('stays up with working commands until interrupted, then leaves nothing behind', async () => {
    const { child, output } = await startUntil(['--folder', SOME_FILES], '--help. ');
    const endpoint = /stays up at (\S+)/.exec(output)?.[1] ?? '';
    const call = await programs.run('cli', ['call', 'text-stats', 'one two', '--connect', endpoint, ...PATIENT]);
    expect(JSON.parse(call.stdout)).toMatchObject({ words: 2 });
    const [, receive = '', send = ''] = / push hello --connect (\S+)[^]* pull --connect (\S+)/.exec(output) ?? [];
    expect(await programs.run('cli', ['push', 'hello', '--connect', receive, ...PATIENT])).toMatchObject({ code: 0 });
    expect(await programs.run('cli', ['pull', '--connect', send, ...PATIENT])).toMatchObject({
      code: 0,
      stdout: 'hello\n',
    });
    const pids = [...output.matchAll(/process (\d+)\) at|^worker \d +(\d+)/gm)].map(([, broker, worker]) =>
      Number(broker ?? worker),
    );
    expect(pids).toHaveLength(4);
    expect(pids.filter(isRunning)).toHaveLength(3);
    const queue = Number(/It is up again \((\d+)\)/.exec(output)?.[1]);
    expect(isRunning(queue)).toBe(true);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect([...pids, queue].filter(isRunning)).toEqual([]);
  });

  it('exits 1 with one line if a program ends unexpectedly, and ends the others', async () => {
    const { child, output } = await startUntil(['--no-crash', '--folder', SOME_FILES], '--help. ');
    const workers = [...output.matchAll(/^worker \d +(\d+)/gm)].map(([, pid]) => Number(pid));
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    process.kill(Number(/process (\d+)\) at/.exec(output)?.[1]), 'SIGKILL');
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(stderr).toBe('proj-demo: broker ended unexpectedly (SIGKILL)\n');
    expect(workers.filter(isRunning)).toEqual([]);
  });

  it.each([
    ['a bad number', ['--workers', '1'], 'proj-demo: --workers = 1: must be a whole number, from 2 to 64\n'],
    [
      'a missing folder',
      ['--folder', '/no/such'],
      'proj-demo: --folder = "/no/such": must be a folder with readable text files\n',
    ],
  ])('refuses %s with exit code 2 and one line', async (_, args, line) => {
    expect(await programs.run('demo', args)).toEqual({ code: 2, stdout: '', stderr: line });
  });
});
