/** The parts of a program: its name, its options, and what it does with them. */
import type * as z from 'zod';
import type { Logger } from './logging.js';
import type { LoggingDefaults } from './logging-options.js';

/** A positional argument. */
export interface Operand {
  /** In commander's syntax: `<service>`, `[body...]`. */
  readonly syntax: string;
  readonly help: string;
  /** The allowed words. Shells complete them; the command itself rejects others. */
  readonly words?: readonly string[];
}

/** An example command line, and what it does. */
export interface Example {
  readonly what: string;
  /** Without the program's name. */
  readonly line: string;
}

/** What a running command gets. */
export interface Context<Settings> {
  readonly program: Pick<Program, 'name' | 'version'>;
  readonly settings: Settings;
  readonly operands: readonly string[];
  readonly log: Logger;
  /** Aborted when the program should finish its work and exit. */
  readonly stop: AbortSignal;
  /** Tells the service manager, such as systemd, that the program is ready. */
  readonly serving: () => void;
  /** Calls `listener` before a second SIGTERM or SIGINT ends the process at once. Its result is logged as dropped. */
  readonly onEndedAtOnce: (listener: () => object) => void;
  /**
   * Makes SIGHUP reload the settings. `apply` gets them if they are valid, and resolves to the options (as in the schema) now in effect. The
   * program then reports which others changed and need a restart. The log level is applied automatically. Until this is called, SIGHUP ends the
   * process.
   */
  readonly onReload: (apply: (settings: Settings) => Promise<readonly string[]>) => void;
  /** Writes a line of results to standard output. */
  readonly print: (line: string) => void;
}

/** One of a program's commands, or its only one. */
export interface Command<Schema extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  readonly options: Schema;
  readonly operands?: readonly Operand[];
  readonly examples: readonly Example[];
  /**
   * Does the work. The exit code is the returned number (nothing: 0), or follows from what it throws: 2 for `OPTIONS_INVALID`, 3 for `TIMEOUT`,
   * otherwise 1.
   */
  run(context: Context<z.output<Schema> & LoggingSettings>): Promise<number | undefined>;
}

/** Values of the options that every program has. */
export interface LoggingSettings {
  readonly logLevel?: string | undefined;
  readonly logFormat?: string | undefined;
}

/** A program: one command, or several to choose from. */
export interface Program {
  /** Name of the binary, such as `proj-broker`. */
  readonly name: string;
  readonly version: string;
  /** One sentence. A program with one command uses that command's. */
  readonly summary: string;
  /** Prefix of its environment variables, such as `PROJ_BROKER_`. */
  readonly envPrefix: string;
  readonly logging: LoggingDefaults;
  readonly commands: readonly [Command, ...Command[]];
}

/** Declares a command with the types of its options. */
export function defineCommand<Schema extends z.ZodObject>(command: Command<Schema>): Command {
  return command;
}
