/** For tests: the built programs of this repository, started and ended. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ChildProgram } from './child.js';

/** False where zeromq is not installed: `vitest.shared.ts` sets the variable. */
export const HAS_LIBZMQ = process.env['PROJ_LIBZMQ'] !== '0';

/** The transports that programs can be tested with. */
export const TRANSPORTS = HAS_LIBZMQ ? (['zmq', 'zmtp'] as const) : (['zmtp'] as const);

/** Pairs of transports, one for each side. */
export const PAIRS = HAS_LIBZMQ
  ? ([
      ['zmtp', 'zmtp'],
      ['zmtp', 'zmq'],
      ['zmq', 'zmtp'],
    ] as const)
  : ([['zmtp', 'zmtp']] as const);

/** What a program that has ended leaves behind. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What makes a broker bind nothing that another test may want. */
const FREE_PORTS = [
  ...['mdp', 'ppp-frontend', 'ppp-backend'],
  ...['emqp-frontend', 'emqp-backend', 'emqp-admin', 'emqp-publish', 'emqp-subscribe'],
].flatMap((option) => [`--${option}`, 'tcp://127.0.0.1:*']);

/** Variables a program is started with: ours, without what would set options. */
function plainEnvironment(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PROJ_'));
  return { ...Object.fromEntries(inherited), ...extra };
}

/** Counts records of a program from now on; what it returns resolves when there were so many. */
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

/** The page of `docs/guide` that has every option of a program: its README is one screen. */
function guideOf(app: string): string {
  const path = app === 'demo' ? 'apps/demo/README' : app === 'cli' ? 'docs/guide/proj' : `docs/guide/proj-${app}`;
  return readFileSync(new URL(`../../../${path}.md`, import.meta.url), 'utf8');
}

/** Flags that the help of a program, or of its commands, has and its guide does not. */
export async function undocumentedFlags(app: string, commands: readonly string[] = []): Promise<string[]> {
  const guide = guideOf(app);
  const programs = new Programs();
  const helps = await Promise.all(
    [[], ...commands.map((command) => [command])].map((words) => programs.run(app, [...words, '--help'])),
  );
  const flags = helps.flatMap(({ stdout }) =>
    [...stdout.matchAll(/^ {2}--([a-z0-9-]+)/gm)].map(([, flag]) => flag ?? ''),
  );
  return flags.filter((flag) => !new RegExp(`\`--(no-)?${flag}[ \`]`).test(guide));
}

/** A broker that listens. */
export interface StartedBroker {
  readonly broker: ChildProgram;
  /** Where Majordomo is. */
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
  /** Resolves when so many workers in all, each service and conversation for itself, have registered since the start. */
  registered(count: number): Promise<void>;
}

/** The programs that a test has started. */
export class Programs {
  readonly #started: ChildProgram[] = [];

  /** Starts a program that stays, with logs as JSON. */
  start(app: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProgram {
    const all = [...args, '--log-format', 'json'];
    const child = new ChildProgram(app, programPath(app), all, plainEnvironment(env));
    this.#started.push(child);
    return child;
  }

  /** A broker on free ports, and where its protocols are; resolves when it listens. */
  async startBroker(...args: readonly string[]): Promise<StartedBroker> {
    const broker = this.start('broker', [...FREE_PORTS, ...args]);
    const count = counter(broker, 'worker-ready');
    const endpoints = (await broker.record('listening'))['endpoints'] as StartedBroker['endpoints'];
    return { broker, endpoint: endpoints.mdp, endpoints, registered: count };
  }

  /** Runs a program to its end with `input` as its standard input. */
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
    // A program that refuses its flags does not wait for its input.
    child.stdin.on('error', () => undefined).end(input);
    return await new Promise((resolve, reject) => {
      child.once('error', reject).once('close', (code) => {
        resolve({ code, stdout, stderr });
      });
    });
  }

  /** Ends whatever still runs. */
  async end(): Promise<void> {
    await Promise.all(
      this.#started.splice(0).map((child) => {
        child.kill('SIGKILL');
        return child.exit;
      }),
    );
  }
}
