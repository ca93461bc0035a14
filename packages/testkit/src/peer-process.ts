/**
 * Peers of a test as separate processes, in any language. They write lines of JSON to standard output, each with a `msg`, like the logs of our
 * own programs: `{"msg":"listening","endpoint":"tcp://127.0.0.1:40001"}`. Commands go to standard input, one JSON object per line.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Interface } from 'node:readline';

/** What to start. */
export interface PeerSpec {
  /** Its name in failures, such as `python worker`. */
  readonly name: string;
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Added to the environment of the tests. */
  readonly env?: Readonly<Record<string, string>>;
}

/** One line of a peer. */
export interface PeerLine {
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** How a peer ended. */
export interface PeerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last part of its standard error. */
  readonly stderr: string;
}

/** Fields of a line that must have these values. */
export type PeerLineFields = Readonly<Record<string, unknown>>;

interface Waiter {
  readonly wanted: PeerLineFields;
  remaining: number;
  readonly resolve: (line: PeerLine) => void;
  readonly reject: (error: Error) => void;
}

const STDERR_KEPT = 8192;
const TRANSCRIPT_LINES = 20;
const TRANSCRIPT_WIDTH = 300;

/** Running processes. However the tests end, all of them are killed. */
const running = new Set<PeerProcess>();
process.on('exit', () => {
  for (const peer of running) peer.kill('SIGKILL');
});

/** A running peer. */
export class PeerProcess {
  readonly name: string;
  /** Settles when the process has ended and its output has been read; never rejects. */
  readonly exit: Promise<PeerExit>;
  readonly #process: ChildProcess;
  readonly #output: Interface | undefined;
  readonly #lines: PeerLine[] = [];
  readonly #waiters = new Set<Waiter>();
  #stderr = '';
  #exit: PeerExit | undefined;

  constructor({ name, command, args = [], cwd, env }: PeerSpec) {
    this.name = name;
    this.#process = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      // Our own programs notice the end of the tests by the closed channel, all others by the end of standard input.
      stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    });
    this.#process.stdin?.on('error', () => undefined);
    this.#process.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#stderr = (this.#stderr + chunk).slice(-STDERR_KEPT);
    });
    if (this.#process.stdout !== null)
      this.#output = createInterface(this.#process.stdout).on('line', (line) => this.#read(line));
    running.add(this);
    this.exit = new Promise((resolve) => {
      this.#process.once('close', (code, signal) => resolve(this.#ended(code, signal)));
      this.#process.once('error', (error) => {
        this.#stderr += error.message;
        resolve(this.#ended(null, null));
      });
    });
  }

  /** Process id; 0 if the process could not be started. */
  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Number of lines so far. */
  get linesSaid(): number {
    return this.#lines.length;
  }

  /** The first (or `nth`) line with this `msg` and these fields, past or future. Rejects with the standard error if the process ends without it. */
  line(msg: string, fields: PeerLineFields = {}, nth = 1): Promise<PeerLine> {
    const said = this.lines(msg, fields);
    const line = said[nth - 1];
    if (line !== undefined) return Promise.resolve(line);
    const wanted = { msg, ...fields };
    return new Promise((resolve, reject) => {
      if (this.#exit !== undefined) reject(this.#failure(this.#exit, without(wanted)));
      else this.#waiters.add({ wanted, remaining: nth - said.length, resolve, reject });
    });
  }

  /** The first (or `nth`) such line from now on. */
  next(msg: string, fields: PeerLineFields = {}, nth = 1): Promise<PeerLine> {
    return this.line(msg, fields, this.lines(msg, fields).length + nth);
  }

  /** Rejects with the standard error when the process ends. Race it with whatever needs the process alive. */
  async lost(): Promise<never> {
    throw this.#failure(await this.exit);
  }

  /** All such lines so far. */
  lines(msg: string, fields: PeerLineFields = {}): PeerLine[] {
    const wanted = { msg, ...fields };
    return this.#lines.filter((line) => matches(line, wanted));
  }

  /** Writes a command to standard input. */
  tell(command: Readonly<Record<string, unknown>>): void {
    this.#process.stdin?.write(`${JSON.stringify(command)}\n`);
  }

  /** Stops reading lines until {@link PeerProcess.resumeOutput}, so the pipe fills up. */
  pauseOutput(): void {
    this.#output?.pause();
  }

  /** Reads the lines written meanwhile and continues. Required before the end of the process can be seen. */
  resumeOutput(): void {
    this.#output?.resume();
  }

  /** Sends a signal to this process only; no effect once it has ended. */
  kill(signal: NodeJS.Signals): void {
    if (this.#exit === undefined) this.#process.kill(signal);
  }

  /** Kills the process, even a stopped one, and waits for its end. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.kill('SIGKILL');
    await this.exit;
  }

  /** The last lines and errors, to explain a failed test. */
  transcript(): string {
    const lines = this.#lines
      .slice(-TRANSCRIPT_LINES)
      .map((line) => `  ${JSON.stringify(line).slice(0, TRANSCRIPT_WIDTH)}`);
    const errors = this.#stderr.trim() === '' ? [] : [`  stderr: ${this.#stderr.trim()}`];
    const state = this.#exit === undefined ? [`  ${stateOf(this.pid)}`] : [];
    const title = `${this.name} (pid ${this.pid}), last of ${this.#lines.length} lines:`;
    return [title, ...lines, ...errors, ...state].join('\n');
  }

  #read(text: string): void {
    const line = parse(text);
    if (line === undefined) return;
    this.#lines.push(line);
    for (const waiter of [...this.#waiters]) {
      if (!matches(line, waiter.wanted) || --waiter.remaining > 0) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(line);
    }
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): PeerExit {
    running.delete(this);
    this.#exit ??= { code, signal, stderr: this.#stderr.trim() };
    for (const waiter of this.#waiters) waiter.reject(this.#failure(this.#exit, without(waiter.wanted)));
    this.#waiters.clear();
    return this.#exit;
  }

  #failure({ code, signal, stderr }: PeerExit, missed = ''): Error {
    const how = signal ?? `exit code ${String(code)}`;
    return new Error(`${this.name} ended (${how})${missed}: ${stderr === '' ? 'nothing on standard error' : stderr}`);
  }
}

/** What a process that still runs is doing, for those who look for the cause of a hang. */
function stateOf(pid: number): string {
  const proc = `/proc/${pid}`;
  try {
    // After the name, in parentheses: the state (3rd field), and ticks of CPU in user mode and in the system (14th and 15th).
    const fields = readFileSync(`${proc}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    const threads = readdirSync(`${proc}/task`).map(
      (task) => readFileSync(`${proc}/task/${task}/wchan`, 'utf8') || '?',
    );
    return `running: state ${fields[0]}, ${Number(fields[11]) + Number(fields[12])} ticks of CPU, threads in ${threads.join(', ')}`;
  } catch {
    return 'running';
  }
}

function without(wanted: PeerLineFields): string {
  return ` and never said ${JSON.stringify(wanted)}`;
}

function matches(line: PeerLine, wanted: PeerLineFields): boolean {
  return Object.entries(wanted).every(([name, value]) => line[name] === value);
}

function parse(text: string): PeerLine | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'msg' in value ? (value as PeerLine) : undefined;
  } catch {
    return undefined;
  }
}
