/** A bound that many share, and whose it is: whoever holds most of it is the first to get no more. No protocol. */

/** Nobody gets more than so many times what is left: one alone three quarters of all, the next one three quarters of the rest. */
const TIMES_LEFT = 3;
/** So many anybody gets while there are any, and this part of all anybody may hold at the cost of others. */
const LEAST = 16;
const LEAST_PART = 1 / 64;

/** What one of them holds. Changed by {@link Shares} alone. */
export class Share {
  held = 0;
}

/** Counts what is in use against a fixed maximum, and what of that each holds. Every operation is O(1). */
export class Shares {
  readonly max: number;
  #used = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** What all hold together; more than `max` only by {@link put}. */
  get used(): number {
    return this.#used;
  }

  /** Takes the amount if so much is left, and not too much of it for this one; else takes nothing and returns false. */
  take(share: Share, amount: number): boolean {
    const left = this.max - this.#used;
    if (amount > left || share.held + amount > Math.max(LEAST, TIMES_LEFT * left)) return false;
    this.put(share, amount);
    return true;
  }

  /** Takes the amount whatever is left. */
  put(share: Share, amount: number): void {
    share.held += amount;
    this.#used += amount;
  }

  /** Gives back what was taken. */
  give(share: Share, amount: number): void {
    share.held -= amount;
    this.#used -= amount;
  }

  /** Whether this one may hold so much more, if others must make room for it. */
  mayHold(share: Share, more = 0): boolean {
    const most = Math.max(LEAST, this.max * LEAST_PART, TIMES_LEFT * (this.max - this.#used));
    return share.held + more <= most;
  }
}
