/** What a program consists of: its name, its options, and what it does with them. */
import type * as z from 'zod';
import type { Logger } from './logging.js';
import type { LoggingDefaults } from './logging-options.js';

/** A positional argument. */
export interface Operand {
  /** As commander writes it: `<service>`, `[body...]`. */
  readonly syntax: string;
  readonly help: string;
  /** The words it may be. Shells complete them; the command itself refuses others. */
  readonly words?: readonly string[];
}

/** A command line to try, and what it does. */
export interface Example {
  readonly what: string;
  /** Without the program's name. */
  readonly line: string;
}

/** What a command is given when it runs. */
export interface Context<Settings> {
  readonly settings: Settings;
  readonly operands: readonly string[];
  readonly log: Logger;
  /** Aborted when the program is to finish its work and leave. */
  readonly stop: AbortSignal;
  /** Tells whoever started the program that it serves, such as systemd. */
  readonly serving: () => void;
  /** Calls `listener` before a second SIGTERM or SIGINT ends the process at once; what it returns is logged as dropped. */
  readonly onEndedAtOnce: (listener: () => object) => void;
  /**
   * Makes SIGHUP read the settings again: `apply` is given them, when they are valid, and resolves to the options (as in the schema)
   * that hold from now on; the program says which others have changed and wait for a restart. The level of the log needs no doing.
   * Until this is called SIGHUP ends the process.
   */
  readonly onReload: (apply: (settings: Settings) => Promise<readonly string[]>) => void;
  /** Writes a line of results to standard output. */
  readonly print: (line: string) => void;
}

/** A command: of a program with several, or the only one. */
export interface Command<Schema extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  readonly options: Schema;
  readonly operands?: readonly Operand[];
  readonly examples: readonly Example[];
  /**
   * Does the work. The exit code is what it returns (nothing: 0), or follows from what it throws: 2 for `OPTIONS_INVALID`,
   * 3 for `TIMEOUT`, else 1.
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
  /** One sentence; of a program with one command, that command's is used. */
  readonly summary: string;
  /** Prefix of its environment variables, such as `PROJ_BROKER_`. */
  readonly envPrefix: string;
  readonly logging: LoggingDefaults;
  readonly commands: readonly [Command, ...Command[]];
}

/** Declares a command with the types of its own options. */
export function defineCommand<Schema extends z.ZodObject>(command: Command<Schema>): Command {
  return command;
}
