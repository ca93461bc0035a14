/** A shared allowance, such as the bytes that all queues together may hold. Knows no protocol. */

/** What may begin to wait while the process is short of memory: enough for small messages of many, and little of any machine's memory. */
export const RESERVE_BYTES = 2 ** 20;

/** Counts what is in use against a fixed maximum. */
export class Budget {
  readonly max: number;
  #used = 0;
  #isTight = false;
  /** Up to here more may wait. */
  #waitingMax: number;

  constructor(max: number) {
    this.max = this.#waitingMax = max;
  }

  /** The amount taken and not yet given back. */
  get used(): number {
    return this.#used;
  }

  /** The amount left, or left for what has to wait. */
  left(waits = false): number {
    return (waits ? this.#waitingMax : this.max) - this.#used;
  }

  /** True while the process is short of memory. Then what waits may bring the use to {@link RESERVE_BYTES} above the least since, and no further. */
  get isTight(): boolean {
    return this.#isTight;
  }

  set isTight(isTight: boolean) {
    this.#isTight = isTight;
    this.#waitingMax = this.max;
    if (isTight) this.#tighten();
  }

  /** Takes the amount, or takes nothing and returns false if less is {@link left}. */
  take(amount: number, waits = false): boolean {
    return amount <= this.left(waits) && this.takeOver(amount, waits);
  }

  /** Takes the amount in place of what others have given back for it, which has lowered what is {@link left} for what has to wait. */
  takeOver(amount: number, waits: boolean): boolean {
    if (amount > this.left()) return false;
    this.#used += amount;
    if (!waits) this.#waitingMax = Math.min(this.max, this.#waitingMax + amount);
    return true;
  }

  /** Gives back what was taken. */
  give(amount: number): void {
    this.#used -= amount;
    if (this.#isTight) this.#tighten();
  }

  #tighten(): void {
    this.#waitingMax = Math.min(this.#waitingMax, this.#used + RESERVE_BYTES);
  }
}
