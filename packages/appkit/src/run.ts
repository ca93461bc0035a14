/** From a command line to an exit code: 0 done, 1 failed, 2 wrong usage, 3 timed out. */
import { isProjError } from '@proj/transport';
import { parseCommandLine, type Invocation } from './command-line.js';
import { encryptionOptions, prepareEncryption } from './encryption.js';
import { fieldsOf } from './fields.js';
import type { Field } from './fields.js';
import { loggingOptions } from './logging-options.js';
import { printable } from './printable.js';
import type { Command, Program } from './program.js';
import { resolveSettings, strayVariables, variableOf } from './settings.js';
import { Reload } from './reload.js';
import { serviceManager } from './service-manager.js';
import { processSignals, Stopped } from './signals.js';
import type { Signals } from './signals.js';

/** The process, as the program sees it. */
export interface World {
  /** Arguments without node and script. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signals: Signals;
  writeOut(text: string): void;
  writeError(text: string): void;
}

/** Runs the program, then ends the process. */
export async function runProgram(program: Program): Promise<never> {
  // The reader of our output may leave early; that is not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  const exitCode = await execute(program, {
    args: process.argv.slice(2),
    env: process.env,
    signals: processSignals(),
    writeOut: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
  });
  // Exits explicitly once the output is written: a lingering socket must not keep a finished program alive.
  await new Promise((resolve) => process.stdout.write('', resolve));
  process.exit(exitCode);
}

/** Runs a program whose one command serves: its log goes to standard output. */
export function runServer(name: string, version: string, command: Command): Promise<never> {
  const envPrefix = `${name.toUpperCase().replaceAll('-', '_')}_`;
  const { summary } = command;
  return runProgram({ name, version, summary, envPrefix, logging: { fd: 1, level: 'info' }, commands: [command] });
}

/** Runs a program and resolves to its exit code. Every error becomes one line of `writeError`. */
export async function execute(program: Program, world: World): Promise<number> {
  try {
    const complete = { ...program, commands: program.commands.map(withSharedOptions) as [Command, ...Command[]] };
    const invocation = parseCommandLine(complete, world.args);
    if (!('text' in invocation)) return await runCommand(complete, invocation, world);
    world.writeOut(invocation.text);
    return 0;
  } catch (error) {
    if (error instanceof Stopped && error === world.signals.stop.reason) return error.exitCode;
    world.writeError(`${program.name}: ${describe(error)}\n`);
    return exitCodeOf(error);
  }
}

async function runCommand(program: Program, invocation: Invocation, world: World): Promise<number> {
  const { command, operands, configPath, flags } = invocation;
  const { env, signals } = world;
  const { envPrefix } = program;
  const fields = program.commands.flatMap((member) => fieldsOf(member.options));
  const configVariable = `${envPrefix}CONFIG`;
  const path = configPath ?? env[configVariable] ?? '';
  // Loaded here, so that --help does not wait for them.
  const { createLogger } = await import('./logging.js');
  const { readConfigFile } = path === '' ? {} : await import('./config-file.js');
  const read = () => {
    const file = readConfigFile?.(path, new Set(fields.map((field) => field.flag)));
    return resolveSettings(command.options, { flags, env, envPrefix, file });
  };
  const settings = read();
  const { log, setLevel } = createLogger(program.name, settings, program.logging);
  const known = new Set([configVariable, ...fields.map((field) => variableOf(field, envPrefix))]);
  for (const variable of strayVariables({ env, envPrefix }, known)) log.warn({ variable }, 'ignored: no such option');
  await prepareEncryption(settings, log);
  const print = (line: string) => world.writeOut(`${line}\n`);
  const onEndedAtOnce = (listener: () => object) => {
    signals.onEndedAtOnce((signal) => {
      log.warn({ signal, ...listener() }, 'ended at once; the work counted here was dropped');
    });
  };
  const onReload = (apply: (changed: typeof settings) => Promise<readonly string[]>) => {
    const reload = new Reload({ log, setLevel, read, apply, settings, flagOf: (key) => flagOf(fields, key) });
    signals.onHangup(() => void reload.run());
  };
  const { stop } = signals;
  const manager = serviceManager(env);
  const serving = () => {
    manager.ready();
    stop.addEventListener('abort', () => manager.stopping(), { once: true });
  };
  const context = { program, settings, operands, log, stop, serving, onEndedAtOnce, onReload, print };
  return (await command.run(context)) ?? 0;
}

/** The command, plus the options that all commands have: logging and, if it has sockets, encryption. */
export function withSharedOptions(command: Command): Command {
  const shared = { ...encryptionOptions(command.options), ...loggingOptions };
  return { ...command, options: command.options.safeExtend(shared) };
}

function flagOf(fields: readonly Field[], key: string): string {
  return fields.find((field) => field.key === key)?.flag ?? key;
}

/** The message alone, on one line and safe for a terminal. An error without a code is a bug of ours and keeps its stack. */
function describe(error: unknown): string {
  if (isProjError(error)) return printable(error.message.replaceAll(/\s*\n\s*/g, ' '));
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function exitCodeOf(error: unknown): number {
  if (isProjError(error, 'OPTIONS_INVALID')) return 2;
  return isProjError(error, 'TIMEOUT') ? 3 : 1;
}
