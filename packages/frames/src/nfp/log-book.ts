/** The recent log of an NFP worker or broker, for `get_logs`: its last thousand notes and errors. */
import { isoTime } from './times.js';

/** Number of records kept. */
const RECORDS_MAX = 1000;

/** Levels, in NORFAB's spelling. */
export type NfpLogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR';

/** A record in the form that NORFAB's tools read. */
export interface NfpLogRecord {
  /** ISO 8601 in UTC. */
  readonly ts: string;
  readonly level: NfpLogLevel;
  readonly logger: string;
  readonly message: string;
  readonly role: NfpLogSource['role'];
  /** The worker, or the broker. */
  readonly name: string;
}

/** The owner of the records. */
export interface NfpLogSource {
  readonly role: 'worker' | 'broker';
  readonly name: string;
  readonly logger: string;
}

/** The filter of records. */
export interface NfpLogFilter {
  /** At most this many matching records, the latest; 0 for all. */
  readonly last: number;
  readonly level: string | undefined;
  readonly logger: string | undefined;
  /** A complete `ts`, or its beginning. */
  readonly since: string | undefined;
  readonly until: string | undefined;
}

interface Entry {
  readonly wallMs: number;
  readonly level: NfpLogLevel;
  readonly message: string;
  readonly fields: object;
}

/** A ring: a new record replaces the oldest. Records are formatted only on request. */
export class NfpLogBook {
  readonly #source: NfpLogSource;
  readonly #entries: Entry[] = [];
  #next = 0;

  constructor(source: NfpLogSource) {
    this.#source = source;
  }

  /** Number of records. */
  get size(): number {
    return this.#entries.length;
  }

  /** `wallMs`: milliseconds since 1970. Do not change `fields` afterwards. */
  add(wallMs: number, level: NfpLogLevel, message: string, fields: object = {}): void {
    this.#entries[this.#next] = { wallMs, level, message, fields };
    this.#next = (this.#next + 1) % RECORDS_MAX;
  }

  /** The records that match, oldest first. */
  list({ last, level, logger, since, until }: NfpLogFilter): NfpLogRecord[] {
    if (logger !== undefined && logger !== this.#source.logger) return [];
    const inOrder = [...this.#entries.slice(this.#next), ...this.#entries.slice(0, this.#next)];
    const fitting = inOrder
      .filter((entry) => level === undefined || entry.level === level.toUpperCase())
      .map((entry) => this.#recordOf(entry))
      .filter(({ ts }) => (since === undefined || ts >= since) && (until === undefined || ts <= until));
    return last === 0 ? fitting : fitting.slice(-last);
  }

  #recordOf({ wallMs, level, message, fields }: Entry): NfpLogRecord {
    const rest = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
    const { logger, role, name } = this.#source;
    return { ts: isoTime(wallMs), level, logger, message: message + rest, role, name };
  }
}
