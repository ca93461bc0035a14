/** A shared allowance, such as the bytes that all queues together may hold. No protocol. */

/** Counts what is in use against a fixed maximum. */
export class Budget {
  readonly max: number;
  #used = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** The amount taken and not yet given back. */
  get used(): number {
    return this.#used;
  }

  /** The amount left. */
  get left(): number {
    return this.max - this.#used;
  }

  /** Takes the amount, or takes nothing and returns false if less is left. */
  take(amount: number): boolean {
    if (this.#used + amount > this.max) return false;
    this.#used += amount;
    return true;
  }

  /** Gives back what was taken. */
  give(amount: number): void {
    this.#used -= amount;
  }
}
