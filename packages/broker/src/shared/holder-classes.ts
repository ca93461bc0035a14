/** Who holds how much of a bound that all share, so that whoever holds most gives way when it is used up. No protocol. */
import { QueueSlot, RemovableQueue } from './removable-queue.js';

/** What one of them holds. Changed by {@link HolderClasses} alone. */
export class Holding<Owner> extends QueueSlot<Owner> {
  amount = 0;
}

/**
 * HolderClasses by how much they hold, each class twice as wide as the one below it. Every operation is O(1). Whoever holds less than `least` is
 * in no class and never gives way.
 */
export class HolderClasses<Owner> {
  readonly #least: number;
  readonly #classes: RemovableQueue<Owner>[] = [];

  constructor(least: number) {
    this.#least = least;
  }

  /** It holds so much more, or less. */
  add(holding: Holding<Owner>, amount: number): void {
    const before = this.#classOf(holding.amount);
    holding.amount += amount;
    const after = this.#classOf(holding.amount);
    if (before === after) return;
    this.#classes[before]?.remove(holding);
    if (after > 0) (this.#classes[after] ??= new RemovableQueue()).push(holding);
  }

  /** Somebody of those who hold most, if that is a class above this amount. */
  above(amount: number): Owner | undefined {
    for (let at = this.#classes.length - 1; at > this.#classOf(amount); at--) {
      const owner = this.#classes[at]?.first;
      if (owner !== undefined) return owner;
    }
    return undefined;
  }

  #classOf(amount: number): number {
    return amount < this.#least ? 0 : 1 + Math.floor(Math.log2(amount / this.#least));
  }
}
