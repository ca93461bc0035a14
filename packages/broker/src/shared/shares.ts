/** A limit shared by many: the holder with most of it is the first to be refused. Knows no protocol. */

/** No holder gets more than this many times what is left: the first at most three quarters of all, the next three quarters of the rest. */
const TIMES_LEFT = 3;
/** What any holder may have while there is any left, and the fraction of `max` that any holder may have at the cost of others. */
const LEAST = 16;
const LEAST_PART = 1 / 64;

/** What one holder has. Only {@link Shares} changes it. */
export class Share {
  held = 0;
}

/** Counts what is in use against a fixed maximum, in total and per holder. Every operation is O(1). */
export class Shares {
  readonly max: number;
  #used = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** What all hold together; exceeds `max` only through {@link put}. */
  get used(): number {
    return this.#used;
  }

  /** Takes the amount, or takes nothing and returns false if too little is left or the holder would have too much. */
  take(share: Share, amount: number): boolean {
    const left = this.max - this.#used;
    if (amount > left || share.held + amount > Math.max(LEAST, TIMES_LEFT * left)) return false;
    this.put(share, amount);
    return true;
  }

  /** Takes the amount, whatever is left. */
  put(share: Share, amount: number): void {
    share.held += amount;
    this.#used += amount;
  }

  /** Gives back what was taken. */
  give(share: Share, amount: number): void {
    share.held -= amount;
    this.#used -= amount;
  }

  /** True when this holder may have `more` at the cost of others. */
  mayHold(share: Share, more = 0): boolean {
    const most = Math.max(LEAST, this.max * LEAST_PART, TIMES_LEFT * (this.max - this.#used));
    return share.held + more <= most;
  }
}
