/** Logs as JSON lines for machines, or as short readable lines. */
import { pino, stdTimeFunctions } from 'pino';
import type { Logger } from 'pino';
import { LogSink } from './log-sink.js';
import type { LoggingDefaults } from './logging-options.js';

export type { Logger } from 'pino';

/** A logger whose level can be changed, together with all its child loggers. */
export interface ProgramLog {
  readonly log: Logger;
  readonly setLevel: (level: string | undefined) => void;
}

/**
 * A logger for the program `name`. Writes lines before the call returns, so none is lost at exit. Lines that cannot be written at once are
 * dropped and counted ({@link LogSink}).
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
    // Formatted like pino's lines: pino must not write to the sink now.
    const time = stdTimeFunctions.isoTime();
    const fields = `"name":${JSON.stringify(name)},"pid":${process.pid},"dropped":${dropped}`;
    return dress(`{"level":"warn"${time},${fields},"msg":"log lines dropped, because nobody read them"}\n`);
  });
  const loggers: Logger[] = [];
  const config = {
    base: { name, pid: process.pid },
    level: options.logLevel ?? defaults.level,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    // Created at startup, one for each protocol or service.
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

/** A JSON log line as one readable line: time of day, level, message, then the other fields as `name=value`. */
export function prettyLine(line: string): string {
  const { time, level, msg, name, pid, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${plain(value)}`);
  const who = `${String(name)}[${String(pid)}]`;
  return `${String(time).slice(11, 23)} ${String(level).toUpperCase().padEnd(5)} ${who} ${String(msg)}${rest.join('')}\n`;
}

/** Peers can put any bytes into a field. Anything but plain text is quoted, so that a line stays one line. */
function plain(value: unknown): string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) && !value.includes('"')
    ? value
    : JSON.stringify(value);
}
