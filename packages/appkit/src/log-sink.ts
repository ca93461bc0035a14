/** Writes log lines before the call returns, without waiting and without queueing. */
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Writes as much as possible without blocking, or throws. */
type Write = (bytes: Uint8Array) => number;

/**
 * Writes lines to a descriptor. If it accepts nothing (a pipe without a reader, a stopped terminal, a full disk), lines are dropped instead of
 * stopping the program. They are counted and reported with the next line that can be written.
 */
export class LogSink {
  readonly #write: Write;
  readonly #tell: (dropped: number) => string;
  /** The rest of a partly written line, which must go first. */
  #rest: Uint8Array | undefined;
  #dropped = 0;

  /** `tell` makes the line that reports dropped lines; `write` is for tests. */
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

  /** False if part of a line is left. */
  #flush(): boolean {
    if (this.#rest === undefined) return true;
    const { length } = this.#rest;
    const written = this.#attempt(this.#rest);
    this.#rest = written === length ? undefined : this.#rest.subarray(written);
    return this.#rest === undefined;
  }

  /** False if nothing was written. */
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

/** The same file in non-blocking mode. Node.js sets it for pipes and sockets; a terminal has to be opened again. */
function nonBlocking(fd: 1 | 2): number {
  if (isatty(fd)) {
    try {
      return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    } catch {
      // On systems other than Linux, a stopped terminal stops us too.
      return fd;
    }
  }
  // As bigints: with numbers, Node.js 20 leaves its result where its module loader later mistakes the pipe for the end of a path, and no import
  // works.
  const stats = fstatSync(fd, { bigint: true });
  if (!stats.isFIFO() && !stats.isSocket()) return fd;
  // Creating the stream makes the descriptor non-blocking. A reader that has gone is not our failure.
  (fd === 1 ? process.stdout : process.stderr).on('error', () => undefined);
  return fd;
}
