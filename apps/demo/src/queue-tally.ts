/** The summary of the queue's act: what was promised, and what happened. */

/** The consumer that has handled a message: before the crash, or after it. */
export type ConsumerName = 'first' | 'second';

/** Message names, and what is known about each. */
export class QueueTally {
  readonly #acknowledged = new Set<string>();
  readonly #handled: Readonly<Record<ConsumerName, Map<string, number>>> = { first: new Map(), second: new Map() };
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  #wrong = 0;
  #isEmpty = true;

  /** The queue has acknowledged this message. */
  acknowledged(name: string): void {
    this.#acknowledged.add(name);
    for (const { count, resolve } of this.#waiting) if (this.#acknowledged.size >= count) resolve();
  }

  /** A consumer received this message, unchanged or not, and settles it. */
  handled(name: string, taker: ConsumerName, isRight: boolean): void {
    const handled = this.#handled[taker];
    handled.set(name, (handled.get(name) ?? 0) + 1);
    if (!isRight) this.#wrong++;
  }

  /** The queue still holds messages although all were settled. */
  leftOver(): void {
    this.#isEmpty = false;
  }

  /** Resolves when this many messages are acknowledged. */
  until(count: number): Promise<void> {
    if (this.#acknowledged.size >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }

  get acknowledgedCount(): number {
    return this.#acknowledged.size;
  }

  /** Messages that a consumer has handled. */
  get handledCount(): number {
    return new Set([...this.#handled.first.keys(), ...this.#handled.second.keys()]).size;
  }

  /** Settled by the first consumer. */
  get settledCount(): number {
    return this.#handled.first.size;
  }

  /** Acknowledged to the producer but never delivered. */
  get lostCount(): number {
    const { first, second } = this.#handled;
    return [...this.#acknowledged].filter((name) => !first.has(name) && !second.has(name)).length;
  }

  /** Settled by the first consumer and delivered to the second. */
  get returnedCount(): number {
    return [...this.#handled.first.keys()].filter((name) => this.#handled.second.has(name)).length;
  }

  /** Delivered to one consumer more than once. */
  get repeatedCount(): number {
    return Object.values(this.#handled).reduce(
      (sum, handled) => sum + [...handled.values()].reduce((more, times) => more + times - 1, 0),
      0,
    );
  }

  /** Changed since they were pushed. */
  get wrongCount(): number {
    return this.#wrong;
  }

  /** True if every message arrived once and unchanged, and none is left. */
  get sound(): boolean {
    return this.#isEmpty && this.lostCount + this.returnedCount + this.repeatedCount + this.wrongCount === 0;
  }
}
