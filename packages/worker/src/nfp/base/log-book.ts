/** What an NFP worker has lately had to say, for `get_logs`: its notes and errors, the last thousand. */

import { isoTime } from '../bodies.js';

/** Records kept. */
const RECORDS_MAX = 1000;

/** Levels, as NORFAB spells them. */
export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR';

/** A record as NORFAB's tools read it. */
export interface LogRecord {
  /** ISO 8601 in UTC. */
  readonly ts: string;
  readonly level: LogLevel;
  readonly logger: string;
  readonly message: string;
  readonly role: 'worker';
  /** The worker. */
  readonly name: string;
}

/** Which records are wanted. */
export interface LogFilter {
  /** The last so many of those that fit; 0 for all. */
  readonly last: number;
  readonly level: string | undefined;
  readonly logger: string | undefined;
  /** As in `ts`, or its beginning. */
  readonly since: string | undefined;
  readonly until: string | undefined;
}

interface Entry {
  readonly wallMs: number;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: object;
}

/** Where the records of a worker come from. */
const LOGGER = 'proj.worker.nfp';

/** A ring: the oldest record gives way. Records are put into words when somebody asks. */
export class LogBook {
  readonly #name: string;
  readonly #entries: Entry[] = [];
  #next = 0;

  /** `name`: of the worker. */
  constructor(name: string) {
    this.#name = name;
  }

  /** `wallMs`: milliseconds since 1970. `fields` must not change any more. */
  add(wallMs: number, level: LogLevel, message: string, fields: object = {}): void {
    this.#entries[this.#next] = { wallMs, level, message, fields };
    this.#next = (this.#next + 1) % RECORDS_MAX;
  }

  /** The records that fit, oldest first. */
  list({ last, level, logger, since, until }: LogFilter): LogRecord[] {
    if (logger !== undefined && logger !== LOGGER) return [];
    const inOrder = [...this.#entries.slice(this.#next), ...this.#entries.slice(0, this.#next)];
    const fitting = inOrder
      .filter((entry) => level === undefined || entry.level === level.toUpperCase())
      .map((entry) => this.#recordOf(entry))
      .filter(({ ts }) => (since === undefined || ts >= since) && (until === undefined || ts <= until));
    return last === 0 ? fitting : fitting.slice(-last);
  }

  #recordOf({ wallMs, level, message, fields }: Entry): LogRecord {
    const rest = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
    return { ts: isoTime(wallMs), level, logger: LOGGER, message: message + rest, role: 'worker', name: this.#name };
  }
}
