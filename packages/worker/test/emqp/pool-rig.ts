/** A pool of real processes or threads, and what it reports, for tests. */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@proj/heartbeat';
import type { EmqpRunOutcome } from '../../src/emqp/engine/events.js';
import { jobHosts } from '../../src/emqp/job-host.js';
import type { JobHostKind } from '../../src/emqp/job-host.js';
import { JobPool } from '../../src/emqp/job-pool.js';
import type { JobPoolOptions } from '../../src/emqp/job-pool.js';

export const HANDLERS = fileURLToPath(new URL('./handlers.mjs', import.meta.url));
export const DIRECTORY = fileURLToPath(new URL('./jobs', import.meta.url));

/** As of a pool, but for what jobs run in. */
type PoolRigOptions = Partial<Omit<JobPoolOptions, 'startHost'>> & { readonly kind?: JobHostKind };

/** What a pool reported, as text: `up 0`, `gone 1 ...`, `ran 0 done {"value": 5}`, `failed ...`. */
export class PoolRig {
  readonly pool: JobPool;
  readonly said: string[] = [];
  readonly #waiting: (() => void)[] = [];
  #jobs = 0;

  constructor(options: PoolRigOptions = {}) {
    const { kind = 'processes', ...rest } = options;
    const sources = { handlers: HANDLERS, directory: DIRECTORY, resultMaxBytes: 1_000_000 };
    const all = { concurrency: 1, startHost: jobHosts(kind), ...sources, ...rest };
    this.pool = new JobPool(all, systemClock, () => 0, {
      onEvent: (event) => {
        if (event.kind === 'up') this.#say(`up ${event.slot}`);
        else if (event.kind === 'gone') this.#say(`gone ${event.slot} ${event.reason}`);
        else this.#say(`ran ${event.slot} ${event.outcome} ${Buffer.from(event.result).toString()}`);
      },
      onError: (error) => this.#say(`failed ${error.message}`),
    });
  }

  /** The first report that begins so and was not taken yet. */
  async next(beginning: string): Promise<string> {
    while (true) {
      const found = this.said.findIndex((line) => line.startsWith(beginning));
      if (found !== -1) return this.said.splice(found, 1)[0]!;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Runs a body in a slot and returns the outcome and the result. */
  async run(body: string | Uint8Array, slot = 0, wantsResult = true): Promise<[outcome: EmqpRunOutcome, json: string]> {
    this.begin(body, slot, wantsResult);
    const [, , outcome, json] = /^(\S+ \S+) (\S+) (.*)$/.exec(await this.next(`ran ${slot}`))!;
    return [outcome as EmqpRunOutcome, json!];
  }

  /** Has a job begin in a slot. */
  begin(body: string | Uint8Array, slot = 0, wantsResult = true, id = 'id'): void {
    const run = { number: ++this.#jobs, id, queue: 'default', run: 1, body: Buffer.from(body) };
    this.pool.run(slot, run, wantsResult);
  }

  /** Runs a function of a module, or a registered one. */
  call(path: string, callable: string, ...args: unknown[]): Promise<[outcome: EmqpRunOutcome, json: string]> {
    return this.run(job(path, callable, ...args));
  }

  #say(line: string): void {
    this.said.push(line);
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** The body of a job. */
export function job(path: string, callable: string, ...args: unknown[]): string {
  return JSON.stringify(['run', { callable, path, args, kwargs: {}, class_args: [], class_kwargs: {} }]);
}

/** Where {@link HANDLERS} write what they do, in processes that are started while it exists. */
export class JobLog {
  readonly #folder = mkdtempSync(join(tmpdir(), 'proj-jobs-'));
  readonly #path = join(this.#folder, 'log');

  constructor() {
    process.env['PROJ_TEST_LOG'] = this.#path;
  }

  lines(): string[] {
    return existsSync(this.#path) ? readFileSync(this.#path, 'utf8').trim().split('\n') : [];
  }

  /** For jobs that wait for it. */
  write(line: string): void {
    appendFileSync(this.#path, `${line}\n`);
  }

  /** The number behind the first line that begins so, once it is there. */
  async number(beginning: string): Promise<number> {
    const find = () => this.lines().find((one) => one.startsWith(`${beginning} `));
    await until(() => find() !== undefined);
    return Number(find()?.slice(beginning.length));
  }

  remove(): void {
    delete process.env['PROJ_TEST_LOG'];
    rmSync(this.#folder, { recursive: true });
  }
}

/** True while a process of that id runs. One that nobody has asked for its exit code does not. */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH' && !existsSync('/proc/self');
  }
}

/** Resolves when it holds: for what nobody reports. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
