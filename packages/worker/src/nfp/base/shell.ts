/** The base task `run_shell_cmd`, if enabled: any peer that may post jobs to the worker can then do whatever its process may. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Clock } from '@proj/heartbeat';
import { NfpTaskFailure } from '../task.js';

/** Bytes kept of each output of a command; the rest is read and dropped. */
const OUTPUT_MAX = 1_048_576;

/** The outcome of a command, as NORFAB's tools read it. */
export interface ShellResult {
  readonly command: string;
  readonly stdout: string;
  readonly stderr: string;
  /** `null` if it was killed. */
  readonly returncode: number | null;
  /** Seconds; `null` for none. */
  readonly timeout: number | null;
  readonly timed_out: boolean;
}

/**
 * Runs a command in the system's shell, in its own process group that is killed when the time is over or the signal aborts. Rejects with an
 * `NfpTaskFailure` that has the result if the exit code is not 0, and with the signal's reason.
 */
export async function runShell(
  command: string,
  seconds: number | undefined,
  signal: AbortSignal,
  clock: Clock,
): Promise<ShellResult> {
  signal.throwIfAborted();
  const child = spawn(command, { shell: true, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const outputs = Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  const kill = (): void => {
    killGroup(child);
  };
  const over = { isLate: false };
  const timer =
    seconds === undefined
      ? undefined
      : clock.at(clock.now() + seconds * 1000, () => {
          over.isLate = true;
          kill();
        });
  signal.addEventListener('abort', kill);
  try {
    const [code, [stdout, stderr]] = await Promise.all([codeOf(child), outputs]);
    signal.throwIfAborted();
    const { isLate } = over;
    const returncode = isLate ? null : code;
    const result = { command, stdout, stderr, returncode, timeout: seconds ?? null, timed_out: isLate };
    if (isLate) throw new NfpTaskFailure(`Command timed out after ${String(seconds)} seconds`, result);
    if (code !== 0) throw new NfpTaskFailure(stderr === '' ? `exit code ${String(code)}` : stderr, result);
    return result;
  } finally {
    timer?.cancel();
    signal.removeEventListener('abort', kill);
  }
}

function codeOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}

async function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const room = OUTPUT_MAX - bytes;
    if (room > 0) chunks.push(chunk.subarray(0, room));
    bytes += chunk.length;
  }
  return Buffer.concat(chunks).toString();
}

/** Kills the command with everything it has started. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}
