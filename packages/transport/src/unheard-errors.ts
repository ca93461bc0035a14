/** Errors of handlers when there is no listener for them: a line on standard error, so that they are not silently lost. */
import { systemClock } from '@proj/heartbeat';
import type { Clock } from '@proj/heartbeat';

const PERIOD_MS = 60_000;

/** What an {@link UnheardErrors} works with. */
export interface UnheardErrorsParts {
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Default: standard error. */
  readonly write?: (text: string) => void;
}

/** One a minute, with its stack; the others are counted and told with the next. */
export class UnheardErrors {
  readonly #who: string;
  readonly #clock: Clock;
  readonly #write: (text: string) => void;
  #silentUntil = -Infinity;
  #withheld = 0;

  /** `who`: whose they are, such as `MdpWorker "echo"`. */
  constructor(who: string, { clock = systemClock, write = toStandardError }: UnheardErrorsParts = {}) {
    this.#who = who;
    this.#clock = clock;
    this.#write = write;
  }

  /** Tells of this one. Never throws for what it is given. */
  tell(error: unknown): void {
    const now = this.#clock.now();
    if (now < this.#silentUntil) {
      this.#withheld++;
      return;
    }
    this.#silentUntil = now + PERIOD_MS;
    const others = this.#withheld === 0 ? '' : ` (and ${this.#withheld} before it in the last minutes)`;
    this.#withheld = 0;
    this.#write(`${this.#who}: an error that nobody listens for${others}: ${textOf(error)}`);
  }
}

function textOf(error: unknown): string {
  try {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  } catch {
    return 'something that has no text';
  }
}

function toStandardError(text: string): void {
  // oxlint-disable-next-line no-console -- a program that wants them elsewhere adds a listener
  console.error(text);
}
