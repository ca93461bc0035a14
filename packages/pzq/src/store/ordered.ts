/** A list that stays sorted: the memory store's B-tree. */

/** Larger chunks are split; an insertion moves half of it. */
const CHUNK_MAX = 512;

/** Distinct items in ascending order. Adding and removing take O(√n) for practical n, at the ends O(1). */
export class OrderedList<T> {
  readonly #compare: (a: T, b: T) => number;
  /** Sorted chunks of sorted items, none of them empty. */
  readonly #chunks: T[][] = [];

  /** `compare` as for `Array.sort`. */
  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get first(): T | undefined {
    return this.#chunks[0]?.[0];
  }

  /** Adds an item that is not there yet. */
  add(item: T): void {
    const at = Math.max(0, this.#chunkBehind(item) - 1);
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#chunks.push([item]);
      return;
    }
    chunk.splice(this.#placeIn(chunk, item), 0, item);
    if (chunk.length <= CHUNK_MAX) return;
    // Messages arrive in order: a full chunk stays full, and the newest item begins the next one.
    const keep = at === this.#chunks.length - 1 ? CHUNK_MAX : CHUNK_MAX >> 1;
    this.#chunks.splice(at + 1, 0, chunk.splice(keep));
  }

  /** Removes the item that compares equal, if there is one. */
  delete(item: T): void {
    const at = this.#chunkBehind(item) - 1;
    const chunk = this.#chunks[at];
    if (chunk === undefined) return;
    const place = this.#placeIn(chunk, item);
    const found = chunk[place];
    if (found === undefined || this.#compare(found, item) !== 0) return;
    chunk.splice(place, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
  }

  /** Items not less than `item`, ascending. Do not change the list meanwhile. */
  *from(item: T): Generator<T, undefined, undefined> {
    let at = Math.max(0, this.#chunkBehind(item) - 1);
    let place = this.#placeIn(this.#chunks[at] ?? [], item);
    for (; at < this.#chunks.length; at++, place = 0) yield* (this.#chunks[at] ?? []).slice(place);
  }

  /** Index of the first chunk that begins after the item. */
  #chunkBehind(item: T): number {
    return firstWhere(this.#chunks, ([head]) => head !== undefined && this.#compare(head, item) > 0);
  }

  /** Position of the first item that is not less. */
  #placeIn(chunk: readonly T[], item: T): number {
    return firstWhere(chunk, (other) => this.#compare(other, item) >= 0);
  }
}

/** Index of the first element for which the predicate is true, given that it is true for all later ones. */
function firstWhere<E>(list: readonly E[], isSo: (element: E) => boolean): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isSo(list[middle] as E)) high = middle;
    else low = middle + 1;
  }
  return low;
}
