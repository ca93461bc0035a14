/** Detects when everything that began before now has ended, for flushing without a promise per message. Knows no protocol. */
import type { Clock, Timer } from '@proj/heartbeat';

interface Round {
  readonly last: number;
  open: number;
  readonly resolve: () => void;
}

/** Counts begins and ends, in rounds: each {@link Rounds.next} begins a new round. */
export class Rounds {
  #current = 0;
  #open = 0;
  #waiting: Round[] = [];

  /** Something begins. Pass the number to {@link end}. */
  begin(): number {
    this.#open++;
    return this.#current;
  }

  /** What began under this number has ended. */
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

/** Waits for a promise that does not reject, at most `ms`. Without a clock there is no limit. */
export async function within(ms: number, clock: Clock | undefined, done: Promise<void>): Promise<void> {
  let timer: Timer | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = clock?.at(clock.now() + ms, resolve);
  });
  await Promise.race([done, limit]);
  timer?.cancel();
}
