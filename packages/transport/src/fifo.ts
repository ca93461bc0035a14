/** A queue whose `shift` does not move the rest. Arrays do, which makes a long queue quadratic. */

/** Empty slots in front before the array is cut. */
const SLACK = 1024;

/** First in, first out; unbounded, so its owner must limit it. */
export class Fifo<Item> {
  #items: (Item | undefined)[] = [];
  #head = 0;
  /** The end of the items; slots behind it are undefined. Resizing the array with each item would dominate the cost. */
  #tail = 0;

  get length(): number {
    return this.#tail - this.#head;
  }

  push(item: Item): void {
    this.#items[this.#tail++] = item;
  }

  /** The oldest item, without removing it. */
  peek(): Item | undefined {
    return this.#items[this.#head];
  }

  /** Removes the oldest item. */
  shift(): Item | undefined {
    const head = this.#head;
    if (head === this.#tail) return undefined;
    const item = this.#items[head];
    this.#items[head] = undefined;
    this.#head = head + 1;
    if (this.#head === this.#tail) this.#clear();
    else if (this.#head >= SLACK && this.#head * 2 >= this.#tail) this.#cut();
    return item;
  }

  #clear(): void {
    // A queue that was long frees its memory; a short one keeps its array.
    if (this.#head >= SLACK) this.#items = [];
    this.#head = this.#tail = 0;
  }

  #cut(): void {
    this.#items = this.#items.slice(this.#head, this.#tail);
    this.#tail -= this.#head;
    this.#head = 0;
  }
}
