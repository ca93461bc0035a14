/** A process that writes to a store until it is killed, and a full disk: for tests of every store. */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const PRLIMIT = '/usr/bin/prlimit';

/** Whether {@link limitFiles} works here. */
export const canLimitFiles = existsSync(PRLIMIT);

/** Limits the size of this process's files from now on, like a full disk. `SIGXFSZ` must be ignored. */
export async function limitFiles(bytes: number | 'unlimited'): Promise<void> {
  await promisify(execFile)(PRLIMIT, ['--pid', process.pid.toString(), `--fsize=${bytes}:`]);
}

/** Runs a script that prints lines as long as it lives. */
export class WriterProcess {
  readonly #child: ChildProcess;
  /** The lines so far. */
  readonly told: string[] = [];

  private constructor(script: string, folder: string) {
    this.#child = spawn(process.execPath, [script, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  }

  /** Resolves when it has printed that many lines; rejects if it ends before. The script's first argument is the folder. */
  static async start(script: string, folder: string, lines: number): Promise<WriterProcess> {
    const writer = new WriterProcess(script, folder);
    const { told } = writer;
    const output = writer.#child.stdout;
    if (output === null) throw new Error('the writer has no output');
    await new Promise<void>((resolve, reject) => {
      createInterface(output).on('line', (line) => {
        told.push(line);
        if (told.length >= lines) resolve();
      });
      writer.#child.once('exit', () => reject(new Error(`the writer ended after ${told.length} lines`)));
    });
    return writer;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Kills it if it runs, and resolves when it is gone and all its output has been read. */
  async kill(): Promise<void> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) return;
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await closed;
  }
}
