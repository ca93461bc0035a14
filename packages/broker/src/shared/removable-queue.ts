/** A queue that its members may leave from anywhere: the O(1) order behind the pools and queues of all brokers. No protocol. */

/** Positions go up to here and begin again at 0. */
const LAST_POSITION = 2 ** 30 - 1;
/** Just below, so that each line begins again early in its life and not for the first time after years. */
const FIRST_POSITION = LAST_POSITION - 8;
/** A power of two, as is all room: a position's bits are its slot. */
const ROOM_MIN = 4;
/** Slots that an empty line keeps. */
const ROOM_KEPT = 1024;

/** The place of one value in at most one {@link RemovableQueue}. Kept by the value's owner, so that leaving needs no search. */
export class QueueSlot<Value> {
  readonly value: Value;
  /** @internal */
  line: RemovableQueue<Value> | undefined;
  /** @internal Which one it is in its line. */
  position = 0;

  /** Without a value the place is its own: that of a class `X extends Place<X>`, of which there are too many for a place beside each. */
  constructor(value?: Value) {
    this.value = value ?? (this as unknown as Value);
  }

  /** True while it is in a line. */
  get taken(): boolean {
    return this.line !== undefined;
  }
}

/**
 * Values in the order in which they came. Every operation but `values` is O(1), making room now and then included. An array and not a
 * chain: what comes to its turn among a million is far away in memory, and its neighbour, which a chain would have to touch, is as far.
 */
export class RemovableQueue<Value> {
  /** From the head to the tail; what has left from between is an empty slot. */
  #slots: (QueueSlot<Value> | undefined)[] = [];
  /** Position of the first one, or of the next one to come. */
  #head = FIRST_POSITION;
  #tail = FIRST_POSITION;
  #size = 0;

  /** Number of values. */
  get size(): number {
    return this.#size;
  }

  /** @internal Slots held: fewer than four times the values there were when it last made room, or {@link ROOM_MIN}. */
  get room(): number {
    return this.#slots.length;
  }

  /** The value at the front, which stays. */
  get first(): Value | undefined {
    return this.#size === 0 ? undefined : this.#at(this.#head)?.value;
  }

  /** Appends the place. It must be in no line. */
  push(place: QueueSlot<Value>): void {
    if (place.line !== undefined) throw new Error('a place can be in one line only');
    if (((this.#tail - this.#head) & LAST_POSITION) === this.#slots.length) this.#makeRoom();
    place.line = this;
    place.position = this.#tail;
    this.#slots[this.#tail & (this.#slots.length - 1)] = place;
    this.#tail = (this.#tail + 1) & LAST_POSITION;
    this.#size++;
  }

  /** Takes out and returns the value at the front; `undefined` when the line is empty. */
  shift(): Value | undefined {
    const place = this.#size === 0 ? undefined : this.#at(this.#head);
    if (place === undefined) return undefined;
    this.#leave(place, this.#head);
    this.#advance();
    return place.value;
  }

  /** Takes the place out and tells whether it was here. */
  remove(place: QueueSlot<Value>): boolean {
    if (place.line !== this) return false;
    this.#leave(place, place.position);
    if (place.position === this.#head) this.#advance();
    return true;
  }

  /** The values, front first. The value just yielded may be removed meanwhile, no other, and none may be added. */
  *values(): IterableIterator<Value> {
    for (let at = this.#head; at !== this.#tail; at = (at + 1) & LAST_POSITION) {
      const place = this.#at(at);
      if (place !== undefined) yield place.value;
    }
  }

  #at(position: number): QueueSlot<Value> | undefined {
    return this.#slots[position & (this.#slots.length - 1)];
  }

  #leave(place: QueueSlot<Value>, position: number): void {
    place.line = undefined;
    this.#slots[position & (this.#slots.length - 1)] = undefined;
    this.#size--;
  }

  /** To the next one that is still here. */
  #advance(): void {
    if (this.#size === 0) {
      this.#head = this.#tail;
      if (this.#slots.length > ROOM_KEPT) this.#slots = [];
      return;
    }
    do this.#head = (this.#head + 1) & LAST_POSITION;
    while (this.#at(this.#head) === undefined);
  }

  /** At least twice as many slots as values: each of them pays for one move. No place is touched that keeps its position. */
  #makeRoom(): void {
    let room = ROOM_MIN;
    while (room < this.#size * 2) room *= 2;
    const slots = new Array<QueueSlot<Value> | undefined>(room);
    let tail = this.#head;
    for (let at = this.#head, left = this.#size; left > 0; at = (at + 1) & LAST_POSITION) {
      const place = this.#at(at);
      if (place === undefined) continue;
      slots[tail & (room - 1)] = place;
      if (at !== tail) place.position = tail;
      tail = (tail + 1) & LAST_POSITION;
      left--;
    }
    this.#slots = slots;
    this.#tail = tail;
  }
}
