/** A program of this repository as a child process of another. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { systemClock } from '@proj/heartbeat';
import { ProjError } from '@proj/transport';

/** A line of a program's JSON log. */
export interface LogRecord {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** How a child ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The end of its standard error. */
  readonly stderr: string;
}

const STDERR_KEPT = 4096;
const RECORDS_KEPT = 1000;

/**
 * A running program whose log is read. It has its own process group, so that Ctrl-C reaches only the parent, which then ends its children in
 * order. If the parent dies, the program notices and ends by itself.
 */
export class ChildProgram {
  readonly name: string;
  /** Settles when the process has ended and its output is read; never rejects. */
  readonly exit: Promise<Exit>;
  readonly #process: ChildProcess;
  readonly #records: LogRecord[] = [];
  readonly #listeners = new Set<(record: LogRecord) => void>();
  #stderr = '';
  #ended = false;

  /** Starts `script` with this Node. `name` appears in errors. */
  constructor(name: string, script: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    this.name = name;
    this.#process = spawn(process.execPath, [script, ...args], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: process.platform !== 'win32',
      env,
    });
    this.#process.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#stderr = (this.#stderr + chunk).slice(-STDERR_KEPT);
    });
    if (this.#process.stdout) createInterface(this.#process.stdout).on('line', (line) => this.#read(line));
    this.exit = new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null) => {
        this.#ended = true;
        resolve({ code, signal, stderr: this.#stderr.trim() });
      };
      this.#process.once('close', end);
      this.#process.once('error', (error) => {
        this.#stderr += error.message;
        end(null, null);
      });
    });
  }

  /** Process id; 0 if the process could not be started. */
  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Calls `listener` for each log record from now on. Returns a function that stops this. */
  onRecord(listener: (record: LogRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * The first log record, past or future, with this message and these fields. Rejects with `UNAVAILABLE` and the program's standard error if the
   * program ends without it.
   */
  async record(msg: string, fields: Readonly<Record<string, unknown>> = {}): Promise<LogRecord> {
    const matches = (record: LogRecord) =>
      record.msg === msg && Object.entries(fields).every(([name, value]) => record[name] === value);
    const found = this.#records.find(matches);
    if (found !== undefined) return found;
    return await new Promise((resolve, reject) => {
      const forget = this.onRecord((record) => {
        if (!matches(record)) return;
        forget();
        resolve(record);
      });
      void this.exit.then(({ code, signal, stderr }) => {
        forget();
        const how = signal ?? `exit code ${String(code)}`;
        reject(new ProjError('UNAVAILABLE', `${this.name} ended (${how}) before it logged "${msg}": ${stderr}`));
      });
    });
  }

  /** Sends a signal; no effect once the process has ended. */
  kill(signal: NodeJS.Signals): void {
    if (!this.#ended) this.#process.kill(signal);
  }

  /** Asks the program to finish, and kills it if it has not ended within `graceMs`. */
  async stop(graceMs: number): Promise<Exit> {
    this.kill('SIGTERM');
    const last = systemClock.at(systemClock.now() + graceMs, () => this.kill('SIGKILL'));
    const exit = await this.exit;
    last.cancel();
    return exit;
  }

  #read(line: string): void {
    const record = parseRecord(line);
    if (record === undefined) return;
    this.#records.push(record);
    if (this.#records.length > RECORDS_KEPT) this.#records.shift();
    for (const listener of [...this.#listeners]) listener(record);
  }
}

function parseRecord(line: string): LogRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'msg' in value ? (value as LogRecord) : undefined;
  } catch {
    return undefined;
  }
}
