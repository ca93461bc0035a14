/** How much each holder has of a shared limit, so that those with most give way when it is used up. Knows no protocol. */
import { QueueSlot, RemovableQueue } from './removable-queue.js';

/** What one holder has. Only {@link HolderClasses} changes it. */
export class Holding<Owner> extends QueueSlot<Owner> {
  amount = 0;
  /** @internal Its class, and the amounts that belong to it: from `low` to below `high`. */
  class = 0;
  low = 0;
  high = 0;
}

/**
 * Holders by how much they hold, each class twice as wide as the one below it. Every step of an operation is O(1). A holder with less than
 * `least` is in no class and never gives way.
 */
export class HolderClasses<Owner> {
  readonly #least: number;
  readonly #classes: RemovableQueue<Owner>[] = [];

  constructor(least: number) {
    this.#least = least;
  }

  /** It holds this much more, or less. */
  add(holding: Holding<Owner>, amount: number): void {
    holding.amount += amount;
    if (holding.amount < holding.high && holding.amount >= holding.low) return;
    const at = this.#classOf(holding.amount);
    holding.low = at === 0 ? 0 : this.#least * 2 ** (at - 1);
    holding.high = this.#least * 2 ** at;
    if (at === holding.class) return;
    this.#classes[holding.class]?.remove(holding);
    holding.class = at;
    if (at > 0) (this.#classes[at] ??= new RemovableQueue()).push(holding);
  }

  /** The holders in a class above this amount, largest first. None may take or give back anything meanwhile. */
  *above(amount: number): Generator<Owner> {
    const own = this.#classOf(amount);
    for (let at = this.#classes.length - 1; at > own; at--) yield* this.#classes[at]?.values() ?? [];
  }

  /** How much they hold at least. */
  leastAbove(amount: number): number {
    return this.#least * 2 ** this.#classOf(amount);
  }

  #classOf(amount: number): number {
    return amount < this.#least ? 0 : 1 + Math.floor(Math.log2(amount / this.#least));
  }
}
