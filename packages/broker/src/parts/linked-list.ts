/** Intrusive doubly linked list: the O(1) order behind the pools and queues of all brokers. No protocol. */

/** The place of one value in at most one {@link LinkedList}. Kept by the value's owner, so that removal needs no search. */
export class Link<Value> {
  readonly value: Value;
  /** @internal */
  list: LinkedList<Value> | undefined;
  /** @internal */
  previous: Link<Value> | undefined;
  /** @internal */
  next: Link<Value> | undefined;

  /** Without a value the link is its own: that of a class `X extends Link<X>`, of which there are too many for a link beside each. */
  constructor(value?: Value) {
    this.value = value ?? (this as unknown as Value);
  }

  /** True while the link is in a list. */
  get linked(): boolean {
    return this.list !== undefined;
  }
}

/** A list of {@link Link}s. Every operation but `values` is O(1); memory is the links' own. */
export class LinkedList<Value> {
  #first: Link<Value> | undefined;
  #last: Link<Value> | undefined;
  #size = 0;

  /** Number of links. */
  get size(): number {
    return this.#size;
  }

  /** The value at the front, which stays. */
  get first(): Value | undefined {
    return this.#first?.value;
  }

  /** Appends the link. It must be in no list. */
  pushBack(link: Link<Value>): void {
    this.#adopt(link);
    link.previous = this.#last;
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
  }

  /** Takes out and returns the value at the front; `undefined` when the list is empty. */
  shift(): Value | undefined {
    const first = this.#first;
    if (first === undefined) return undefined;
    this.remove(first);
    return first.value;
  }

  /** Takes the link out and tells whether it was here. */
  remove(link: Link<Value>): boolean {
    if (link.list !== this) return false;
    if (link.previous === undefined) this.#first = link.next;
    else link.previous.next = link.next;
    if (link.next === undefined) this.#last = link.previous;
    else link.next.previous = link.previous;
    link.previous = link.next = link.list = undefined;
    this.#size--;
    return true;
  }

  /** The values, front first. The value just yielded may be removed meanwhile, no other. */
  *values(): IterableIterator<Value> {
    let link = this.#first;
    while (link !== undefined) {
      const next: Link<Value> | undefined = link.next;
      yield link.value;
      link = next;
    }
  }

  #adopt(link: Link<Value>): void {
    if (link.list !== undefined) throw new Error('a link can be in one list only');
    link.list = this;
    this.#size++;
  }
}
