/** Programs outside Node: compiled or installed, started, and measured from outside by what Linux reports about their threads. */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, readdir, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { CpuReport, Endpoints, UnderTest } from './process-under-test.js';

const NANOS_PER_MICRO = 1000;
const KIB = 1024;

/** Folders of installed programs: servers are not in every user's PATH. */
export async function findProgram(name: string): Promise<string | undefined> {
  const folders = [
    // Searched first: the RabbitMQ scripts that Debian puts in PATH require its own user and folders.
    '/usr/lib/rabbitmq/bin',
    ...(process.env['PATH'] ?? '').split(delimiter),
    '/usr/sbin',
    '/usr/local/sbin',
  ];
  for (const folder of folders) {
    const path = join(folder, name);
    if (
      await access(path).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
}

/** How to start a program, or what is missing, in words. */
export type Startable =
  | { readonly program: string; readonly parameters: readonly string[] }
  | { readonly missing: string };

/** Compiles `native/<name>.c` against libzmq. */
export async function compile(name: string): Promise<Startable> {
  const folder = fileURLToPath(new URL('./native/', import.meta.url));
  const program = join(folder, name);
  await mkdir(folder, { recursive: true });
  try {
    await promisify(execFile)('cc', ['-O2', '-o', program, nativeSource(`${name}.c`), '-lzmq']);
    return { program, parameters: [] };
  } catch (error) {
    const { code, stderr } = error as { readonly code?: unknown; readonly stderr?: string };
    if (code === 'ENOENT') return { missing: 'a C compiler (Debian package gcc)' };
    if (stderr?.includes('zmq') === true) return { missing: 'zmq.h and libzmq (Debian package libzmq3-dev)' };
    throw error;
  }
}

/** `native/<name>.py`, run by Debian's Python or the one in PROJ_PYTHON. */
export async function python(name: string): Promise<Startable> {
  const program = process.env['PROJ_PYTHON'] ?? '/usr/bin/python3';
  return promisify(execFile)(program, ['-c', 'import zmq']).then(
    () => ({ program, parameters: ['-B', nativeSource(`${name}.py`)] }),
    () => ({ missing: 'Python with zmq (Debian package python3-zmq)' }),
  );
}

function nativeSource(file: string): string {
  return fileURLToPath(new URL(`../native/${file}`, import.meta.url));
}

/** A running program. */
export class NativeProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    // It is not a Node process, so it would outlive a run that ends early.
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    this.#exited = once(child, 'exit').then(() => process.off('exit', kill));
  }

  /** True once it has ended. */
  get ended(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Starts it, with extra environment if needed; the caller may read its standard output with `lines`. */
  static start(
    program: string,
    parameters: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): NativeProcess {
    const env = { ...process.env, ...environment };
    return new NativeProcess(spawn(program, parameters, { stdio: ['ignore', 'pipe', 'inherit'], env }));
  }

  /** Its output, line by line. */
  lines(): AsyncIterable<string> {
    const { stdout } = this.#child;
    if (stdout === null) throw new Error('the output of the program is not ours');
    return createInterface({ input: stdout });
  }

  /** Discards its output; otherwise it would stall once the pipe is full. */
  drain(): void {
    this.#child.stdout?.resume();
  }

  /** CPU time of its living threads so far, and its resident size. These programs never end a thread. */
  async measure(): Promise<Omit<CpuReport, 'workers'>> {
    const folder = `/proc/${this.#child.pid}`;
    const threads = await readdir(`${folder}/task`);
    const nanos = await Promise.all(
      threads.map(async (thread) =>
        Number((await readFile(`${folder}/task/${thread}/schedstat`, 'utf8')).split(' ')[0]),
      ),
    );
    const status = await readFile(`${folder}/status`, 'utf8');
    return {
      cpuMicros: nanos.reduce((sum, value) => sum + value, 0) / NANOS_PER_MICRO,
      rssBytes: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * KIB,
    };
  }

  /** Ends it as an operator would, and waits. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#exited;
  }
}

/** A forwarder in C or Python, in place of a broker. */
export class NativeLoop implements UnderTest {
  readonly endpoints: Endpoints;
  readonly #process: NativeProcess;
  #workers = 0;

  private constructor(process: NativeProcess, endpoint: string) {
    this.#process = process;
    this.endpoints = { clients: endpoint, workers: endpoint };
  }

  static async start(program: string, parameters: readonly string[]): Promise<NativeLoop> {
    const running = NativeProcess.start(program, parameters);
    const lines = running.lines()[Symbol.asyncIterator]();
    const { value: endpoint } = (await lines.next()) as IteratorResult<string, undefined>;
    if (endpoint === undefined) throw new Error(`${program}: ended before it was bound`);
    const loop = new NativeLoop(running, endpoint);
    void loop.#count(lines);
    return loop;
  }

  async measure(): Promise<CpuReport> {
    return { ...(await this.#process.measure()), workers: this.#workers };
  }

  stop(): Promise<void> {
    return this.#process.stop();
  }

  async #count(lines: AsyncIterator<string>): Promise<void> {
    while ((await lines.next()).done !== true) this.#workers++;
  }
}
