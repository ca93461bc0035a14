/** Deadlines with individual delays, such as callers' own timeouts: a binary heap whose entries know their index. */

/** One entry of a {@link DeadlineHeap}. Its owner keeps it, so that moving and removing need no look-up. */
export class HeapDeadline<Value> {
  /** Due time in milliseconds; `Infinity` while the entry is in no heap. */
  at = Infinity;
  /** @internal Index in its heap; -1 while it is in none. */
  place = -1;
  /** @internal Sequence number of the last change: of equal deadlines, the earlier one comes first. */
  order = 0;
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }
}

/**
 * The earliest of many deadlines, each of which can move in either direction. Reading the earliest is O(1); setting and removing are O(log n).
 * An entry belongs to at most one heap. Equal deadlines fall due in the order they were set. If all delays are equal, use `DeadlineList`.
 */
export class DeadlineHeap<Value> {
  readonly #entries: HeapDeadline<Value>[] = [];
  #order = 0;
  #notBefore = -Infinity;

  /** Number of entries. */
  get size(): number {
    return this.#entries.length;
  }

  /** When the next entry falls due; `Infinity` if the heap is empty. */
  get deadline(): number {
    const first = this.#entries[0];
    return first === undefined ? Infinity : Math.max(first.at, this.#notBefore);
  }

  /** The next value to fall due, without removing it. */
  get first(): Value | undefined {
    return this.#entries[0]?.value;
  }

  /** At most `count` values, in the order they fall due, without removing them. O(count log count). */
  next(count: number): Value[] {
    const found: Value[] = [];
    // The next one is always a child of one already found.
    const candidates = new DeadlineHeap<HeapDeadline<Value>>();
    const consider = (entry: HeapDeadline<Value> | undefined): void => {
      if (entry === undefined) return;
      const candidate = new HeapDeadline(entry);
      candidate.at = entry.at;
      candidate.order = entry.order;
      candidate.place = candidates.#entries.push(candidate) - 1;
      candidates.#rise(candidate);
    };
    consider(this.#entries[0]);
    while (found.length < count) {
      const entry = candidates.takeDue(Infinity);
      if (entry === undefined) break;
      found.push(entry.value);
      consider(this.#entries[2 * entry.place + 1]);
      consider(this.#entries[2 * entry.place + 2]);
    }
    return found;
  }

  /** Makes the entry due at `at` (finite), whether or not it is in the heap. */
  set(entry: HeapDeadline<Value>, at: number): void {
    if (entry.place < 0) {
      entry.place = this.#entries.length;
      this.#entries.push(entry);
    }
    entry.at = at;
    entry.order = this.#order++;
    this.#sink(this.#rise(entry));
  }

  /** Removes the entry; no effect if it is not in the heap. */
  remove(entry: HeapDeadline<Value>): void {
    if (entry.place < 0) return;
    const last = this.#entries.pop() as HeapDeadline<Value>;
    if (last !== entry) {
      this.#put(last, entry.place);
      this.#sink(this.#rise(last));
    }
    entry.place = -1;
    entry.at = Infinity;
  }

  /** Removes and returns the earliest value if it is due, else returns `undefined`. Call until it returns `undefined`. */
  takeDue(now: number): Value | undefined {
    const first = this.#entries[0];
    if (first === undefined || first.at > now || this.#notBefore > now) return undefined;
    this.remove(first);
    return first.value;
  }

  /** Lets nothing fall due before `now + ms`. Never shortens an earlier postponement. */
  postpone(ms: number, now: number): void {
    this.#notBefore = Math.max(this.#notBefore, now + ms);
  }

  /** Throws if an entry is out of order or misplaced. */
  assertInvariants(): void {
    this.#entries.forEach((entry, place) => {
      const parent = this.#entries[(place - 1) >> 1] ?? entry;
      if (entry.place !== place) throw new Error(`heap entry at ${place} has the index ${entry.place}`);
      if (isBefore(entry, parent)) throw new Error(`heap entry at ${place} is due before its parent`);
    });
  }

  #put(entry: HeapDeadline<Value>, place: number): void {
    this.#entries[place] = entry;
    entry.place = place;
  }

  /** Moves the entry up past later ones and returns it. */
  #rise(entry: HeapDeadline<Value>): HeapDeadline<Value> {
    let place = entry.place;
    while (place > 0) {
      const parent = this.#entries[(place - 1) >> 1] as HeapDeadline<Value>;
      if (isBefore(parent, entry)) break;
      const above = parent.place;
      this.#put(parent, place);
      place = above;
    }
    this.#put(entry, place);
    return entry;
  }

  /** Moves the entry down past earlier ones. */
  #sink(entry: HeapDeadline<Value>): void {
    let place = entry.place;
    for (let child = this.#earlierChild(place); child !== undefined && isBefore(child, entry);) {
      const below = child.place;
      this.#put(child, place);
      place = below;
      child = this.#earlierChild(place);
    }
    this.#put(entry, place);
  }

  #earlierChild(place: number): HeapDeadline<Value> | undefined {
    const left = this.#entries[2 * place + 1];
    const right = this.#entries[2 * place + 2];
    return right !== undefined && left !== undefined && isBefore(right, left) ? right : left;
  }
}

function isBefore(a: HeapDeadline<unknown>, b: HeapDeadline<unknown>): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
