/** Where log lines go: written before the call returns, never waited for, never piled up. */
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Writes as much as fits now, or throws. */
type Write = (bytes: Uint8Array) => number;

/**
 * Writes lines to a descriptor. One that takes nothing (a pipe nobody reads, a terminal that was stopped, a full disk, a reader
 * that has gone) loses lines instead of stopping the program: they are counted, and told with the next line that can be written.
 */
export class LogSink {
  readonly #write: Write;
  readonly #tell: (dropped: number) => string;
  /** The rest of a partly written line, which must go first. At most one line. */
  #rest: Uint8Array | undefined;
  #dropped = 0;

  /** `tell` makes the line that says how many lines were dropped; `write` is for tests. */
  constructor(fd: 1 | 2, tell: (dropped: number) => string, write: Write = writerOf(fd)) {
    this.#write = write;
    this.#tell = tell;
  }

  /** Lines dropped since the last report. */
  get dropped(): number {
    return this.#dropped;
  }

  write(line: string): void {
    if (!this.#flush()) {
      this.#dropped++;
      return;
    }
    if (this.#dropped > 0) {
      const dropped = this.#dropped;
      if (!this.#put(this.#tell(dropped))) {
        this.#dropped++;
        return;
      }
      this.#dropped = 0;
    }
    if (this.#rest !== undefined || !this.#put(line)) this.#dropped++;
  }

  /** False while part of a line is left. */
  #flush(): boolean {
    if (this.#rest === undefined) return true;
    const { length } = this.#rest;
    const written = this.#attempt(this.#rest);
    this.#rest = written === length ? undefined : this.#rest.subarray(written);
    return this.#rest === undefined;
  }

  /** False when nothing of it was written. */
  #put(line: string): boolean {
    const bytes = Buffer.from(line);
    const written = this.#attempt(bytes);
    if (written > 0 && written < bytes.length) this.#rest = bytes.subarray(written);
    return written > 0;
  }

  #attempt(bytes: Uint8Array): number {
    try {
      return this.#write(bytes);
    } catch {
      return 0;
    }
  }
}

function writerOf(fd: 1 | 2): Write {
  const open = nonBlocking(fd);
  return (bytes) => writeSync(open, bytes);
}

/** The same file without waiting: of a pipe or socket Node.js makes it so, a terminal has to be opened again. */
function nonBlocking(fd: 1 | 2): number {
  if (isatty(fd)) {
    try {
      return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    } catch {
      // Other systems than Linux: a stopped terminal stops us, too.
      return fd;
    }
  }
  // In numbers, what it finds stays behind in Node.js 20, whose module loader takes a pipe there for the end of a path: no import works.
  const stats = fstatSync(fd, { bigint: true });
  if (!stats.isFIFO() && !stats.isSocket()) return fd;
  // Making the stream is what makes the descriptor so; a reader that has gone is no failure of ours.
  (fd === 1 ? process.stdout : process.stderr).on('error', () => undefined);
  return fd;
}
