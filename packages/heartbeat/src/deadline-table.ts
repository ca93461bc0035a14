/**
 * Deadlines of owners who are many and renew them all the time, such as a broker's workers with every message. A table, and not entries that
 * point at each other: of ten thousand owners each has long left the caches when it is heard of again, and a row is little to fetch.
 */

/** Rows that a table begins with, beyond those of its lists. */
const ROOM_MIN = 16;
/** Rows that an empty table keeps. */
const ROOM_KEPT = 1024;

/**
 * Values, each in at most one of several lists. All deadlines of a list lie the same delay ahead, so it is sorted by construction, and all
 * operations but `values` are O(1). A row takes 24 bytes; its number, above 0, is its owner's from {@link DeadlineTable.add} to
 * {@link DeadlineTable.remove}, and somebody else's afterwards.
 */
export class DeadlineTable<Value extends object> {
  /** The delay of each list, in milliseconds. Lists are known by their index. */
  readonly delaysMs: readonly number[];
  /** Two more lists: rows that are in no list, and free rows. */
  readonly #resting: number;
  readonly #free: number;
  #values: (Value | undefined)[] = [];
  #at = new Float64Array(0);
  /** The row before and the row after each row. The first rows are the list ends, each before its first and after its last member. */
  #links = new Int32Array(0);
  #size = 0;
  #notBefore = -Infinity;

  constructor(delaysMs: readonly number[]) {
    this.delaysMs = delaysMs;
    this.#resting = delaysMs.length;
    this.#free = delaysMs.length + 1;
    this.#makeRoom(this.#free + ROOM_MIN);
  }

  /** Number of values, those in no list included. */
  get size(): number {
    return this.#size;
  }

  /** Gives the value a row, which is in no list yet. */
  add(value: Value): number {
    if (this.#after(this.#free) === this.#free) this.#makeRoom(this.#values.length * 2);
    const row = this.#after(this.#free);
    this.#values[row] = value;
    this.#size++;
    this.#move(row, this.#resting, Infinity);
    return row;
  }

  /** Frees the row. Throws when it is free already. */
  remove(row: number): void {
    this.#assertTaken(row);
    this.#values[row] = undefined;
    this.#size--;
    this.#move(row, this.#free, Infinity);
    if (this.#size > 0 || this.#values.length <= ROOM_KEPT) return;
    this.#values = [];
    this.#makeRoom(this.#free + ROOM_MIN);
  }

  /** Moves the row into the list, due that list's delay after `now`. `now` must not decrease from call to call. Throws for a free row. */
  renew(row: number, list: number, now: number): void {
    this.#assertTaken(row);
    this.#move(row, list, now + (this.delaysMs[list] ?? Infinity));
  }

  /** When the row is due, in milliseconds; `Infinity` while it is in no list. */
  at(row: number): number {
    return this.#at[row] ?? Infinity;
  }

  /** The value whose deadline is the earliest of the list, which stays; `undefined` when the list is empty. */
  first(list: number): Value | undefined {
    return this.#values[this.#after(list)];
  }

  /** When the next value of all lists falls due; `Infinity` when they are empty. */
  get deadline(): number {
    let earliest = Infinity;
    for (let list = 0; list < this.#resting; list++) earliest = Math.min(earliest, this.at(this.#after(list)));
    return Math.max(earliest, this.#notBefore);
  }

  /** Takes the earliest due value out of its list and returns it; the first list comes first. Call until `undefined`. */
  takeDue(now: number): Value | undefined {
    if (this.#notBefore > now) return undefined;
    for (let list = 0; list < this.#resting; list++) {
      const row = this.#after(list);
      const value = this.#values[row];
      if (value === undefined || this.at(row) > now) continue;
      this.#move(row, this.#resting, Infinity);
      return value;
    }
    return undefined;
  }

  /** Lets nothing fall due before `now + ms`, as {@link DeadlineList.postpone} does. */
  postpone(ms: number, now: number): void {
    this.#notBefore = Math.max(this.#notBefore, now + ms);
  }

  /** Values of the list, earliest deadline first. For tests, listings and invariants; do not change the table meanwhile. */
  *values(list: number): IterableIterator<Value> {
    for (let row = this.#after(list); row !== list; row = this.#after(row)) yield this.#values[row] as Value;
  }

  #assertTaken(row: number): void {
    if (this.#values[row] === undefined) throw new Error(`row ${row} is nobody's`);
  }

  #after(row: number): number {
    return this.#links[2 * row + 1] as number;
  }

  #move(row: number, list: number, at: number): void {
    const before = this.#links[2 * row] as number;
    this.#link(before, this.#after(row));
    this.#append(row, list);
    this.#at[row] = at;
  }

  #append(row: number, list: number): void {
    const last = this.#links[2 * list] as number;
    this.#link(last, row);
    this.#link(row, list);
  }

  #link(before: number, after: number): void {
    this.#links[2 * before + 1] = after;
    this.#links[2 * after] = before;
  }

  /** Adds free rows, up to this many rows in all. */
  #makeRoom(room: number): void {
    const from = this.#values.length;
    const [at, links] = [this.#at, this.#links];
    this.#at = new Float64Array(room).fill(Infinity);
    this.#links = new Int32Array(2 * room);
    this.#at.set(at.subarray(0, from));
    this.#links.set(links.subarray(0, 2 * from));
    for (let row = from; row < room; row++) {
      this.#values.push(undefined);
      if (row <= this.#free) this.#link(row, row);
      else this.#append(row, this.#free);
    }
  }
}
