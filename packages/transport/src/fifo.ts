/** A queue whose `shift` does not move the rest: arrays do, which makes a long queue quadratic. */

/** Slots that may lie empty in front before the array is cut. */
const SLACK = 1024;

/** First in, first out; unbounded, so its owner counts. */
export class Fifo<Item> {
  #items: (Item | undefined)[] = [];
  #head = 0;
  /** Behind the last item; what lies there is undefined. Growing and shrinking the array with each item would cost more than the rest. */
  #tail = 0;

  get length(): number {
    return this.#tail - this.#head;
  }

  push(item: Item): void {
    this.#items[this.#tail++] = item;
  }

  /** The oldest item, left in place. */
  peek(): Item | undefined {
    return this.#items[this.#head];
  }

  /** Takes out the oldest item. */
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
    // A queue that was long once gives its memory back; a short one keeps its array.
    if (this.#head >= SLACK) this.#items = [];
    this.#head = this.#tail = 0;
  }

  #cut(): void {
    this.#items = this.#items.slice(this.#head, this.#tail);
    this.#tail -= this.#head;
    this.#head = 0;
  }
}
