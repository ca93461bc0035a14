/** The logging options, separate from the logger: a program that only prints its help does not load it. */
import type * as z from 'zod';
import { oneOf } from './fields.js';

/** The logging options that every program has. */
export const loggingOptions = {
  logLevel: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'LEVEL')
    .optional()
    .describe('lowest level to log: trace, debug, info, warn, error or silent (default: info, with proj warn)'),
  logFormat: oneOf(['json', 'pretty'])
    .optional()
    .describe('one JSON object per line, or readable text (default: pretty on a terminal, else json)'),
} satisfies z.ZodRawShape;

/** Where a program's log goes, and its default level. */
export interface LoggingDefaults {
  /** A service logs to standard output; a command reserves that for its results. */
  readonly fd: 1 | 2;
  readonly level: 'info' | 'warn';
}
