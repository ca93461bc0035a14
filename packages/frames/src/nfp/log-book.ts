/** The recent log of a worker or a broker of NFP, for `get_logs`: its last thousand notes and errors. */
import { isoTime } from './times.js';

/** Records kept. */
const RECORDS_MAX = 1000;

/** Levels, as NORFAB spells them. */
export type NfpLogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR';

/** A record as NORFAB's tools read it. */
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

/** Whose records they are. */
export interface NfpLogSource {
  readonly role: 'worker' | 'broker';
  readonly name: string;
  readonly logger: string;
}

/** Which records are wanted. */
export interface NfpLogFilter {
  /** At most this many matching records, the latest; 0 for all. */
  readonly last: number;
  readonly level: string | undefined;
  readonly logger: string | undefined;
  /** As in `ts`, or its beginning. */
  readonly since: string | undefined;
  readonly until: string | undefined;
}

interface Entry {
  readonly wallMs: number;
  readonly level: NfpLogLevel;
  readonly message: string;
  readonly fields: object;
}

/** A ring: a new record replaces the oldest. Records are put into words only on request. */
export class NfpLogBook {
  readonly #source: NfpLogSource;
  readonly #entries: Entry[] = [];
  #next = 0;

  constructor(source: NfpLogSource) {
    this.#source = source;
  }

  /** How many there are. */
  get size(): number {
    return this.#entries.length;
  }

  /** `wallMs`: milliseconds since 1970. `fields` must not change any more. */
  add(wallMs: number, level: NfpLogLevel, message: string, fields: object = {}): void {
    this.#entries[this.#next] = { wallMs, level, message, fields };
    this.#next = (this.#next + 1) % RECORDS_MAX;
  }

  /** The records that fit, oldest first. */
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
