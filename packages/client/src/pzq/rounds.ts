/** "Everything that began before now has ended", for flushing without a promise per message. No protocol. */
import type { Clock, Timer } from '@proj/heartbeat';

interface Round {
  readonly last: number;
  open: number;
  readonly resolve: () => void;
}

/** Counts what began and ended, in rounds: a new round begins with each {@link Rounds.next}. */
export class Rounds {
  #current = 0;
  #open = 0;
  #waiting: Round[] = [];

  /** Something begins. The number is for {@link end}. */
  begin(): number {
    this.#open++;
    return this.#current;
  }

  /** Something that began under this number has ended. */
  end(round: number): void {
    this.#open--;
    if (this.#waiting.length === 0) return;
    for (const waiting of this.#waiting) if (round <= waiting.last && --waiting.open === 0) waiting.resolve();
    this.#waiting = this.#waiting.filter(({ open }) => open > 0);
  }

  /** Resolves when everything that has begun so far has ended. */
  next(): Promise<void> {
    if (this.#open === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ last: this.#current++, open: this.#open, resolve });
    });
  }
}

/** Waits for a promise that does not reject, for `ms` at most. Without a clock there is no limit. */
export async function within(ms: number, clock: Clock | undefined, done: Promise<void>): Promise<void> {
  let timer: Timer | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = clock?.at(clock.now() + ms, resolve);
  });
  await Promise.race([done, limit]);
  timer?.cancel();
}
