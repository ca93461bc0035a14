/** Logs as JSON lines for machines, or as short lines for people. */
import { destination, pino, stdTimeFunctions } from 'pino';
import type { Logger } from 'pino';
import type * as z from 'zod';
import { oneOf } from './fields.js';

export type { Logger } from 'pino';

/** The options about logs that every program has. */
export const loggingOptions = {
  logLevel: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'LEVEL')
    .optional()
    .describe('least important line to log: trace, debug, info, warn, error or silent'),
  logFormat: oneOf(['json', 'pretty'])
    .optional()
    .describe('a JSON object per line, or lines for people (default: pretty on a terminal, else json)'),
} satisfies z.ZodRawShape;

/** Where a program's log goes and how much of it there is unless an option says otherwise. */
export interface LoggingDefaults {
  /** A service logs to standard output; a command keeps that for its results. */
  readonly fd: 1 | 2;
  readonly level: 'info' | 'warn';
}

/** A logger for the program `name`. Lines are written before the call returns, so none is lost at exit. */
export function createLogger(
  name: string,
  options: { readonly logLevel?: string | undefined; readonly logFormat?: string | undefined },
  defaults: LoggingDefaults,
): Logger {
  const terminal = (defaults.fd === 1 ? process.stdout : process.stderr).isTTY;
  const format = options.logFormat ?? (terminal ? 'pretty' : 'json');
  const target = destination({ dest: defaults.fd, sync: true });
  const config = {
    base: { name, pid: process.pid },
    level: options.logLevel ?? defaults.level,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (format === 'json') return pino(config, target);
  return pino(config, { write: (line: string) => target.write(prettyLine(line)) });
}

/** A JSON log line as one line for people: time of day, level, message, then the other fields as `name=value`. */
export function prettyLine(line: string): string {
  const { time, level, msg, name, pid, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${plain(value)}`);
  const who = `${String(name)}[${String(pid)}]`;
  return `${String(time).slice(11, 23)} ${String(level).toUpperCase().padEnd(5)} ${who} ${String(msg)}${rest.join('')}\n`;
}

/** Peers can put any bytes into a field: what is not plain text is quoted, so that a line stays one line. */
function plain(value: unknown): string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) && !value.includes('"')
    ? value
    : JSON.stringify(value);
}
