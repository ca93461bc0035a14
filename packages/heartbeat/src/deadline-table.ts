/**
 * Deadlines of many owners that renew them constantly, such as a broker's workers with every message. A table instead of linked entries: of ten
 * thousand owners, each has left the caches by its next message, and fetching a row is cheap.
 */

/** Initial rows, besides those of the lists. */
const ROOM_MIN = 16;
/** Rows that an empty table keeps. */
const ROOM_KEPT = 1024;

/**
 * Values, each in at most one of several lists. All deadlines of a list have the same delay, so it is always sorted, and every operation except
 * `values` is O(1). A row takes 24 bytes. Its number, above 0, is valid from {@link DeadlineTable.add} to {@link DeadlineTable.remove} and may
 * be reused afterwards.
 */
export class DeadlineTable<Value extends object> {
  /** The delay of each list, in milliseconds. Lists are identified by their index. */
  readonly delaysMs: readonly number[];
  /** Two more lists: rows in no list, and free rows. */
  readonly #resting: number;
  readonly #free: number;
  #values: (Value | undefined)[] = [];
  #at = new Float64Array(0);
  /** The previous and next row of each row. The first rows are list ends: each precedes its first and follows its last member. */
  #links = new Int32Array(0);
  #size = 0;
  #notBefore = -Infinity;

  constructor(delaysMs: readonly number[]) {
    this.delaysMs = delaysMs;
    this.#resting = delaysMs.length;
    this.#free = delaysMs.length + 1;
    this.#makeRoom(this.#free + ROOM_MIN);
  }

  /** Number of values, including those in no list. */
  get size(): number {
    return this.#size;
  }

  /** Assigns a row to the value. It is in no list yet. */
  add(value: Value): number {
    if (this.#after(this.#free) === this.#free) this.#makeRoom(this.#values.length * 2);
    const row = this.#after(this.#free);
    this.#values[row] = value;
    this.#size++;
    this.#move(row, this.#resting, Infinity);
    return row;
  }

  /** Frees the row. Throws if it is already free. */
  remove(row: number): void {
    this.#assertTaken(row);
    this.#values[row] = undefined;
    this.#size--;
    this.#move(row, this.#free, Infinity);
    if (this.#size > 0 || this.#values.length <= ROOM_KEPT) return;
    this.#values = [];
    this.#makeRoom(this.#free + ROOM_MIN);
  }

  /** Moves the row into the list, due that list's delay after `now`. `now` must not decrease between calls. Throws for a free row. */
  renew(row: number, list: number, now: number): void {
    this.#assertTaken(row);
    this.#move(row, list, now + (this.delaysMs[list] ?? Infinity));
  }

  /** When the row is due, in milliseconds; `Infinity` while it is in no list. */
  at(row: number): number {
    return this.#at[row] ?? Infinity;
  }

  /** The value with the earliest deadline of the list, without removing it; `undefined` if the list is empty. */
  first(list: number): Value | undefined {
    return this.#values[this.#after(list)];
  }

  /** When the next value of any list falls due; `Infinity` if all are empty. */
  get deadline(): number {
    let earliest = Infinity;
    for (let list = 0; list < this.#resting; list++) earliest = Math.min(earliest, this.at(this.#after(list)));
    return Math.max(earliest, this.#notBefore);
  }

  /** Removes the earliest due value from its list and returns it, checking the lists in order. Call until `undefined`. */
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

  /** Lets nothing fall due before `now + ms`: see {@link DeadlineList.postpone}. */
  postpone(ms: number, now: number): void {
    this.#notBefore = Math.max(this.#notBefore, now + ms);
  }

  /** Values of the list, earliest deadline first. For tests, listings and invariants; do not change the table during the iteration. */
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

  /** Adds free rows, up to this many rows in total. */
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
