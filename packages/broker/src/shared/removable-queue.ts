/** A queue whose members may leave from anywhere: the O(1) order behind all pools and queues of the brokers. Knows no protocol. */

/** Positions count up to here and wrap to 0. */
const LAST_POSITION = 2 ** 30 - 1;
/** Just below, so that every queue wraps early in its life, and not for the first time after years. */
const FIRST_POSITION = LAST_POSITION - 8;
/** A power of two, like every size: the low bits of a position are its index. */
const ROOM_MIN = 4;
/** Slots that an empty queue keeps. */
const ROOM_KEPT = 1024;

/** The place of one value in at most one {@link RemovableQueue}. The value's owner keeps it, so that leaving needs no search. */
export class QueueSlot<Value> {
  readonly value: Value;
  /** @internal */
  queue: RemovableQueue<Value> | undefined;
  /** @internal Its position in the queue. */
  position = 0;

  /** Without a value the slot is its own value, for a class `X extends QueueSlot<X>` with too many instances for a slot beside each. */
  constructor(value?: Value) {
    this.value = value ?? (this as unknown as Value);
  }

  /** True while it is in a queue. */
  get taken(): boolean {
    return this.queue !== undefined;
  }
}

/**
 * Values in order of arrival. Every operation but `values` and `newest` is O(1), amortized over growth. An array instead of a linked list: among
 * a million values the next one is far away in memory, and a list would also touch its neighbour, which is just as far.
 */
export class RemovableQueue<Value> {
  /** From head to tail; a value that left from the middle leaves a gap. */
  #slots: (QueueSlot<Value> | undefined)[] = [];
  /** Position of the first value, or of the next to come. */
  #head = FIRST_POSITION;
  #tail = FIRST_POSITION;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @internal Slots held: fewer than four times the values at the last growth, or {@link ROOM_MIN}. */
  get room(): number {
    return this.#slots.length;
  }

  /** The value at the front, without removing it. */
  get first(): Value | undefined {
    return this.#size === 0 ? undefined : this.#at(this.#head)?.value;
  }

  /** The value at the end, without removing it. */
  get last(): Value | undefined {
    return this.#size === 0 ? undefined : this.#at((this.#tail - 1) & LAST_POSITION)?.value;
  }

  /** Appends the slot. It must be in no queue. */
  push(slot: QueueSlot<Value>): void {
    if (slot.queue !== undefined) throw new Error('a slot can be in one queue only');
    if (((this.#tail - this.#head) & LAST_POSITION) === this.#slots.length) this.#makeRoom();
    slot.queue = this;
    slot.position = this.#tail;
    this.#slots[this.#tail & (this.#slots.length - 1)] = slot;
    this.#tail = (this.#tail + 1) & LAST_POSITION;
    this.#size++;
  }

  /** Removes and returns the value at the front; `undefined` if the queue is empty. */
  shift(): Value | undefined {
    const slot = this.#size === 0 ? undefined : this.#at(this.#head);
    if (slot === undefined) return undefined;
    this.#leave(slot, this.#head);
    this.#advance();
    return slot.value;
  }

  /** Removes the slot. Returns false if it was not in this queue. */
  remove(slot: QueueSlot<Value>): boolean {
    if (slot.queue !== this) return false;
    this.#leave(slot, slot.position);
    if (slot.position === this.#head) this.#advance();
    else if (slot.position === ((this.#tail - 1) & LAST_POSITION)) this.#retreat();
    return true;
  }

  /** The values, front first. Values may leave while you iterate; add none. */
  *values(): IterableIterator<Value> {
    // Removing the last value moves the tail back.
    const tail = this.#tail;
    for (let at = this.#head; at !== tail; at = (at + 1) & LAST_POSITION) {
      const slot = this.#at(at);
      if (slot !== undefined) yield slot.value;
    }
  }

  /** The values, last first. Neither add nor remove any meanwhile. */
  *newest(): IterableIterator<Value> {
    for (let at = this.#tail; at !== this.#head;) {
      at = (at - 1) & LAST_POSITION;
      const slot = this.#at(at);
      if (slot !== undefined) yield slot.value;
    }
  }

  #at(position: number): QueueSlot<Value> | undefined {
    return this.#slots[position & (this.#slots.length - 1)];
  }

  #leave(slot: QueueSlot<Value>, position: number): void {
    slot.queue = undefined;
    this.#slots[position & (this.#slots.length - 1)] = undefined;
    this.#size--;
  }

  /** Moves the head to the next value that is still here. */
  #advance(): void {
    if (this.#size === 0) {
      this.#head = this.#tail;
      if (this.#slots.length > ROOM_KEPT) this.#slots = [];
      return;
    }
    do this.#head = (this.#head + 1) & LAST_POSITION;
    while (this.#at(this.#head) === undefined);
  }

  /** Moves the tail back behind the last value that is still here. Requires that there is one. */
  #retreat(): void {
    do this.#tail = (this.#tail - 1) & LAST_POSITION;
    while (this.#at((this.#tail - 1) & LAST_POSITION) === undefined);
  }

  /** Grows to at least twice as many slots as values, so each value pays for one move. Slots that keep their position are not touched. */
  #makeRoom(): void {
    let room = ROOM_MIN;
    while (room < this.#size * 2) room *= 2;
    const slots = new Array<QueueSlot<Value> | undefined>(room);
    let tail = this.#head;
    for (let at = this.#head, left = this.#size; left > 0; at = (at + 1) & LAST_POSITION) {
      const slot = this.#at(at);
      if (slot === undefined) continue;
      slots[tail & (room - 1)] = slot;
      if (at !== tail) slot.position = tail;
      tail = (tail + 1) & LAST_POSITION;
      left--;
    }
    this.#slots = slots;
    this.#tail = tail;
  }
}
