/** A queue whose `shift` does not move the rest: arrays do, which makes a long queue quadratic. */

/** Slots that may lie empty in front before the array is cut. */
const SLACK = 1024;

/** First in, first out; unbounded, so its owner counts. */
export class Fifo<Item> {
  #items: (Item | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  /** The oldest item, left in place. */
  peek(): Item | undefined {
    return this.#items[this.#head];
  }

  /** Takes out the oldest item. */
  shift(): Item | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    if (this.#head === this.#items.length) this.#clear();
    else if (this.#head >= SLACK && this.#head * 2 >= this.#items.length) this.#cut();
    return item;
  }

  #clear(): void {
    // A queue that was long once gives its memory back; a short one keeps its array.
    if (this.#head >= SLACK) this.#items = [];
    else this.#items.length = 0;
    this.#head = 0;
  }

  #cut(): void {
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}
