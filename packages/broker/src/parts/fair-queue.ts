/**
 * The queue of waiting requests: first in, first out for each client, client after client in turn when several wait, with
 * a front for what has waited before. No protocol.
 */
import { Link, LinkedList } from './linked-list.js';

/** What one client has waiting. Exists only while it is not empty. */
class Lane<Value> extends LinkedList<Value> {
  readonly turn = new Link<Lane<Value>>(this);
  readonly client: string;

  constructor(client: string) {
    super();
    this.client = client;
  }
}

/**
 * A bounded queue. `max` bounds what `push` may add; the front is exempt, because its values were admitted before and
 * come back one per worker at most. Every operation but `values` is O(1).
 */
export class FairQueue<Value> {
  readonly max: number;
  readonly #front = new LinkedList<Value>();
  readonly #lanes = new Map<string, Lane<Value>>();
  readonly #turns = new LinkedList<Lane<Value>>();
  #size = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** Number of values waiting, the front included. */
  get size(): number {
    return this.#size;
  }

  /** True when `push` would exceed the bound. */
  get full(): boolean {
    return this.#size >= this.max;
  }

  /** Number of clients with something waiting outside the front. */
  get clients(): number {
    return this.#turns.size;
  }

  /** Puts the value behind everything else of that client, or returns false when the queue is full. */
  push(link: Link<Value>, client: string): boolean {
    if (this.full) return false;
    (this.#lanes.get(client) ?? this.#open(client)).pushBack(link);
    this.#size++;
    return true;
  }

  /** Puts the value before everything but earlier calls of this method. Never refused. */
  pushFront(link: Link<Value>): void {
    this.#front.pushBack(link);
    this.#size++;
  }

  /** Takes the next value: the front first, then the client whose turn it is; `undefined` when nothing waits. */
  shift(): Value | undefined {
    const lane = this.#front.size === 0 ? this.#turns.first : undefined;
    const list = lane ?? this.#front;
    if (list.size === 0) return undefined;
    const value = list.shift();
    this.#size--;
    if (lane === undefined) return value;
    if (lane.size === 0) this.#close(lane);
    else if (this.#turns.size > 1 && this.#turns.remove(lane.turn)) this.#turns.pushBack(lane.turn);
    return value;
  }

  /** Takes a value out of the middle and tells whether it was here. */
  remove(link: Link<Value>): boolean {
    const lane = link.list instanceof Lane ? (link.list as Lane<Value>) : undefined;
    const list = lane === undefined ? this.#front : this.#lanes.get(lane.client);
    if (list?.remove(link) !== true) return false;
    this.#size--;
    if (lane?.size === 0) this.#close(lane);
    return true;
  }

  /** Everything that waits: the front, then client by client. The value just yielded may be removed meanwhile, no other. */
  *values(): IterableIterator<Value> {
    yield* this.#front.values();
    for (const lane of this.#turns.values()) yield* lane.values();
  }

  #open(client: string): Lane<Value> {
    const lane = new Lane<Value>(client);
    this.#lanes.set(client, lane);
    this.#turns.pushBack(lane.turn);
    return lane;
  }

  #close(lane: Lane<Value>): void {
    this.#turns.remove(lane.turn);
    this.#lanes.delete(lane.client);
  }
}
