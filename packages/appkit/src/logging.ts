/** Logs as JSON lines for machines, or as short readable lines. */
import { pino, stdTimeFunctions } from 'pino';
import type { Logger } from 'pino';
import type * as z from 'zod';
import { oneOf } from './fields.js';
import { LogBudget } from './log-budget.js';
import { LogSink } from './log-sink.js';

export type { Logger } from 'pino';

/** The options about logs that every program has. */
export const loggingOptions = {
  logLevel: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'LEVEL')
    .optional()
    .describe('lowest level to log: trace, debug, info, warn, error or silent'),
  logFormat: oneOf(['json', 'pretty'])
    .optional()
    .describe('one JSON object per line, or readable text (default: pretty on a terminal, else json)'),
} satisfies z.ZodRawShape;

/** Where a program's log goes, and its default level. */
export interface LoggingDefaults {
  /** A service logs to standard output; a command keeps that for its results. */
  readonly fd: 1 | 2;
  readonly level: 'info' | 'warn';
}

/** A logger whose level can be changed, for all loggers made from it. */
export interface ProgramLog {
  readonly log: Logger;
  readonly setLevel: (level: string | undefined) => void;
}

/**
 * A logger for the program `name`. Lines are written before the call returns, so none is lost at exit; what cannot be written at
 * once is dropped and counted ({@link LogSink}).
 */
export function createLogger(
  name: string,
  options: { readonly logLevel?: string | undefined; readonly logFormat?: string | undefined },
  defaults: LoggingDefaults,
): ProgramLog {
  const terminal = (defaults.fd === 1 ? process.stdout : process.stderr).isTTY;
  const format = options.logFormat ?? (terminal ? 'pretty' : 'json');
  const dress = format === 'json' ? (line: string) => line : prettyLine;
  const sink = new LogSink(defaults.fd, (dropped) => {
    // Formatted like pino's lines, since pino must not be used to write to the sink now.
    const time = stdTimeFunctions.isoTime();
    const fields = `"name":${JSON.stringify(name)},"pid":${process.pid},"dropped":${dropped}`;
    return dress(`{"level":"warn"${time},${fields},"msg":"log lines dropped: nobody read them"}\n`);
  });
  const loggers: Logger[] = [];
  const config = {
    base: { name, pid: process.pid },
    level: options.logLevel ?? defaults.level,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    // Made at the start, one for each protocol or service.
    onChild: (child: Logger) => void loggers.push(child),
  };
  const log = pino(config, {
    write: (line: string) => {
      sink.write(dress(line));
    },
  });
  loggers.push(log);
  return {
    log,
    setLevel: (level = defaults.level) => {
      for (const logger of loggers) logger.level = level;
    },
  };
}

const ofPeers = new LogBudget();

/**
 * A line that a peer has caused, within the {@link LogBudget} of the process. `key` is its reason and peer; without one, whoever
 * calls has looked at those.
 */
export function logOfPeer(
  log: Logger,
  level: 'info' | 'warn',
  fields: object,
  message: string,
  key: string | undefined,
): void {
  if (!ofPeers.allow(key)) return;
  const withheld = ofPeers.takeWithheld();
  if (withheld > 0)
    log.warn({ withheld }, 'log lines withheld: peers caused more than one a minute each, or 100 a second');
  log[level](fields, message);
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
