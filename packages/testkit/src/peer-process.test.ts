// Using the launcher does not test it: a peer that is never ended, or an exit that is never noticed, stays hidden.
import { describe, expect, it } from 'vitest';
import { peerGroup } from './peer-group.js';
import type { PeerProcess } from './peer-process.js';

const { launch } = peerGroup();

/** A process that runs `script`, which can call `say(line)`, and stays until it is ended. */
function peer(script: string): PeerProcess {
  const prelude = 'const say = (line) => console.log(JSON.stringify(line)); setInterval(() => {}, 60_000);';
  return launch({ name: 'sample', command: process.execPath, args: ['-e', prelude + script] });
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('PeerProcess', () => {
  it('finds a line by its msg and fields, whether it was printed before or comes later', async () => {
    const sample = peer('say({ msg: "a", n: 1 }); say({ msg: "a", n: 2 }); say({ msg: "b" });');
    expect(await sample.line('a', { n: 2 })).toEqual({ msg: 'a', n: 2 });
    await sample.line('b');
    expect(await sample.line('a')).toEqual({ msg: 'a', n: 1 });
    expect(sample.lines('a')).toHaveLength(2);
  });

  it('counts lines: the nth of all, the nth from now on', async () => {
    const sample = peer(
      'say({ msg: "up" }); process.stdin.on("data", () => { say({ msg: "up" }); say({ msg: "up" }); });',
    );
    await sample.line('up');
    const third = sample.line('up', {}, 3);
    const second = sample.next('up');
    sample.tell({});
    await Promise.all([second, third]);
    expect(sample.lines('up')).toHaveLength(3);
  });

  it('passes commands on as lines of JSON', async () => {
    const sample = peer('process.stdin.on("data", (data) => say({ msg: "got", command: JSON.parse(data) }));');
    sample.tell({ do: 'this' });
    expect(await sample.line('got')).toMatchObject({ command: { do: 'this' } });
  });

  it('ignores what is not a line of the protocol', async () => {
    const sample = peer('console.log("Warning"); console.log("7"); console.log("{}"); say({ msg: "end" });');
    await sample.line('end');
    expect(sample.transcript()).toContain('last of 1 lines');
    expect(sample.transcript()).toMatch(/ {2}running(: state [SR], \d+ ticks of CPU, threads in \S.*)?$/);
  });

  it('rejects with standard error when the process ends without the line', async () => {
    const sample = peer('console.error("no such thing"); process.exit(3);');
    const message = 'sample ended (exit code 3) and never said {"msg":"listening"}: no such thing';
    await expect(sample.line('listening')).rejects.toThrow(message);
    await expect(sample.line('listening')).rejects.toThrow(message);
    expect(await sample.exit).toEqual({ code: 3, signal: null, stderr: 'no such thing' });
  });

  it('rejects when the program does not exist', async () => {
    const missing = launch({ name: 'missing', command: '/no/such/program' });
    await expect(missing.line('listening')).rejects.toThrow(/^missing ended .* ENOENT$/);
  });

  it('tells callers that need it alive when it has ended', async () => {
    const sample = peer('console.error("a bug"); process.exit(1);');
    await expect(sample.lost()).rejects.toThrow('sample ended (exit code 1): a bug');
  });

  it('ends a stopped process too, and by then it is gone', async () => {
    const sample = peer('say({ msg: "up" });');
    await sample.line('up');
    sample.kill('SIGSTOP');
    expect(isRunning(sample.pid)).toBe(true);
    await sample[Symbol.asyncDispose]();
    expect(isRunning(sample.pid)).toBe(false);
    sample.kill('SIGTERM');
  });
});

describe('peerGroup', () => {
  let before: PeerProcess | undefined;

  it('starts a process', async () => {
    before = peer('say({ msg: "up" });');
    await before.line('up');
    expect(isRunning(before.pid)).toBe(true);
  });

  it('has been ended with its test', () => {
    expect(isRunning(before!.pid)).toBe(false);
  });
});
