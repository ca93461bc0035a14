/** A set that grows without long steps: a `Set` that doubles at 65,000 values occupies the process for 20 ms. */

const SEGMENT_MAX = 4096;

/** A set of up to some 100,000 values; `delete` looks through one segment per 4096 of them. */
export class SegmentedSet<Value> {
  readonly #segments: Set<Value>[] = [];

  /** Adds a value that is not there. */
  add(value: Value): void {
    const free = this.#segments.find(({ size }) => size < SEGMENT_MAX);
    if (free === undefined) this.#segments.push(new Set([value]));
    else free.add(value);
  }

  /** Returns true if it was there. */
  delete(value: Value): boolean {
    return this.#segments.some((segment) => segment.delete(value));
  }

  /** In no order. Values may be removed meanwhile. */
  *[Symbol.iterator](): Iterator<Value, void> {
    for (const segment of this.#segments) yield* segment;
  }
}
