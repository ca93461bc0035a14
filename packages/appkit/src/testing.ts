/** For tests: runs the built programs of this repository. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ChildProgram } from './child.js';
import { withOptions } from './guide.js';

/** False if zeromq is not installed: `vitest.shared.ts` sets the variable. */
export const HAS_LIBZMQ = process.env['PROJ_LIBZMQ'] !== '0';

/** The transports that programs can be tested with. */
export const TRANSPORTS = HAS_LIBZMQ ? (['zmq', 'zmtp'] as const) : (['zmtp'] as const);

/** Pairs of transports, one per side. */
export const PAIRS = HAS_LIBZMQ
  ? ([
      ['zmtp', 'zmtp'],
      ['zmtp', 'zmq'],
      ['zmq', 'zmtp'],
    ] as const)
  : ([['zmtp', 'zmtp']] as const);

/** The result of a finished program. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Options that keep a broker from binding ports that another test may want. */
const FREE_PORTS = [
  ...['mdp', 'ppp-frontend', 'ppp-backend'],
  ...['emqp-frontend', 'emqp-backend', 'emqp-admin', 'emqp-publish', 'emqp-subscribe'],
].flatMap((option) => [`--${option}`, 'tcp://127.0.0.1:*']);

/** The environment of started programs: ours, without variables that would set options. */
function plainEnvironment(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PROJ_'));
  return { ...Object.fromEntries(inherited), ...extra };
}

/** Counts records of a program from now on. The returned function resolves once there were that many. */
function counter(child: ChildProgram, msg: string): (count: number) => Promise<void> {
  let seen = 0;
  const waiting = new Set<() => void>();
  child.onRecord((record) => {
    if (record.msg !== msg) return;
    seen++;
    for (const look of waiting) look();
  });
  return (count) =>
    new Promise((resolve) => {
      const look = () => {
        if (seen < count) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
}

/** Path of the built program of a folder in `apps/`. */
export function programPath(app: string): string {
  return fileURLToPath(new URL(`../../../apps/${app}/dist/main.js`, import.meta.url));
}

/** The page of `docs/guide` with every option of a program; its README is only one screen. */
function guideOf(app: string): URL {
  const path = app === 'demo' ? 'apps/demo/README' : app === 'cli' ? 'docs/guide/proj' : `docs/guide/proj-${app}`;
  return new URL(`../../../${path}.md`, import.meta.url);
}

/** The guide of a program as it is, and with the table of options that its help makes; `GUIDE_REWRITE=1` writes that. */
export async function drawnGuide(app: string): Promise<{ readonly guide: string; readonly drawn: string }> {
  const { stdout } = await new Programs().run(app, ['--help']);
  const drawn = withOptions(readFileSync(guideOf(app), 'utf8'), stdout);
  if (process.env['GUIDE_REWRITE'] === '1') writeFileSync(guideOf(app), drawn);
  return { guide: readFileSync(guideOf(app), 'utf8'), drawn };
}

/** Flags that appear in the help of a program or its commands but not in its guide. */
export async function undocumentedFlags(app: string, commands: readonly string[] = []): Promise<string[]> {
  const guide = readFileSync(guideOf(app), 'utf8');
  const programs = new Programs();
  const helps = await Promise.all(
    [[], ...commands.map((command) => [command])].map((words) => programs.run(app, [...words, '--help'])),
  );
  const flags = helps.flatMap(({ stdout }) =>
    [...stdout.matchAll(/^ {2}--([a-z0-9-]+)/gm)].map(([, flag]) => flag ?? ''),
  );
  return flags.filter((flag) => !new RegExp(`\`--(no-)?${flag}[ \`]`).test(guide));
}

/** A listening broker. */
export interface StartedBroker {
  readonly broker: ChildProgram;
  /** The Majordomo endpoint. */
  readonly endpoint: string;
  /** By the name of the option. */
  readonly endpoints: Readonly<
    Record<
      | 'mdp'
      | 'pppFrontend'
      | 'pppBackend'
      | 'emqpFrontend'
      | 'emqpBackend'
      | 'emqpAdmin'
      | 'emqpPublish'
      | 'emqpSubscribe',
      string
    >
  >;
  /** Resolves once this many workers in total have registered since the start; each service and conversation counts. */
  registered(count: number): Promise<void>;
}

/** The programs that a test has started. */
export class Programs {
  readonly #started: ChildProgram[] = [];

  /** Starts a long-running program with a JSON log. */
  start(app: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProgram {
    const all = [...args, '--log-format', 'json'];
    const child = new ChildProgram(app, programPath(app), all, plainEnvironment(env));
    this.#started.push(child);
    return child;
  }

  /** Starts a broker on free ports and resolves to its endpoints once it listens. */
  async startBroker(...args: readonly string[]): Promise<StartedBroker> {
    const broker = this.start('broker', [...FREE_PORTS, ...args]);
    const count = counter(broker, 'worker-ready');
    const endpoints = (await broker.record('listening'))['endpoints'] as StartedBroker['endpoints'];
    return { broker, endpoint: endpoints.mdp, endpoints, registered: count };
  }

  /** Runs a program to its end, with `input` on its standard input. */
  async run(
    app: string,
    args: readonly string[],
    input = '',
    env: Readonly<Record<string, string>> = {},
  ): Promise<Outcome> {
    const child = spawn(process.execPath, [programPath(app), ...args], { env: plainEnvironment(env) });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    // A program that rejects its flags does not wait for its input.
    child.stdin.on('error', () => undefined).end(input);
    return await new Promise((resolve, reject) => {
      child.once('error', reject).once('close', (code) => {
        resolve({ code, stdout, stderr });
      });
    });
  }

  /** Ends all programs still running. */
  async end(): Promise<void> {
    await Promise.all(
      this.#started.splice(0).map((child) => {
        child.kill('SIGKILL');
        return child.exit;
      }),
    );
  }
}
