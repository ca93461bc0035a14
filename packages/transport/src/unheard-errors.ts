/** Handler errors without a listener: prints a line on standard error, so that they are not lost silently. */
import { systemClock } from '@proj/heartbeat';
import type { Clock } from '@proj/heartbeat';

const PERIOD_MS = 60_000;

/** The clock and output of {@link UnheardErrors}. */
export interface UnheardErrorsParts {
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Default: standard error. */
  readonly write?: (text: string) => void;
}

/** Prints one a minute, with its stack; counts the others and reports the count with the next one. */
export class UnheardErrors {
  readonly #who: string;
  readonly #clock: Clock;
  readonly #write: (text: string) => void;
  #silentUntil = -Infinity;
  #withheld = 0;

  /** `who`: the owner, such as `MdpWorker "echo"`. */
  constructor(who: string, { clock = systemClock, write = toStandardError }: UnheardErrorsParts = {}) {
    this.#who = who;
    this.#clock = clock;
    this.#write = write;
  }

  /** Reports this error. Never throws, whatever the value. */
  tell(error: unknown): void {
    const now = this.#clock.now();
    if (now < this.#silentUntil) {
      this.#withheld++;
      return;
    }
    this.#silentUntil = now + PERIOD_MS;
    const others = this.#withheld === 0 ? '' : ` (and ${this.#withheld} before it)`;
    this.#withheld = 0;
    this.#write(`${this.#who}: error without a listener${others}: ${textOf(error)}`);
  }
}

function textOf(error: unknown): string {
  try {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  } catch {
    return 'a value that cannot be converted to text';
  }
}

function toStandardError(text: string): void {
  // oxlint-disable-next-line no-console -- programs redirect them by adding a listener
  console.error(text);
}
