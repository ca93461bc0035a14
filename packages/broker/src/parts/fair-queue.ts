/**
 * The queue of waiting requests: first in, first out for each client, client after client in turn when several wait, with
 * a front for what has waited before. No protocol.
 */
import { Link, LinkedList } from './linked-list.js';

/** The place of one value in at most one {@link FairQueue}; the queue's handle for removing it from the middle. */
export class Place<Value> {
  /** @internal */
  readonly link: Link<Place<Value>>;
  /** @internal The lane it waits in; `undefined` in the front. */
  lane: Lane<Value> | undefined;
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
    this.link = new Link<Place<Value>>(this);
  }

  /** True while the value waits in a queue. */
  get waiting(): boolean {
    return this.link.linked;
  }
}

/** What one client has waiting. Exists only while it is not empty. */
class Lane<Value> {
  readonly places = new LinkedList<Place<Value>>();
  readonly turn: Link<Lane<Value>>;
  readonly client: string;

  constructor(client: string) {
    this.client = client;
    this.turn = new Link<Lane<Value>>(this);
  }
}

/**
 * A bounded queue. `max` bounds what `push` may add; the front is exempt, because its values were admitted before and
 * come back one per worker at most. Every operation but `values` is O(1).
 */
export class FairQueue<Value> {
  readonly max: number;
  readonly #front = new LinkedList<Place<Value>>();
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
  push(place: Place<Value>, client: string): boolean {
    if (this.full) return false;
    const lane = this.#lanes.get(client) ?? this.#open(client);
    lane.places.pushBack(place.link);
    place.lane = lane;
    this.#size++;
    return true;
  }

  /** Puts the value before everything but earlier calls of this method. Never refused. */
  pushFront(place: Place<Value>): void {
    this.#front.pushBack(place.link);
    this.#size++;
  }

  /** Takes the next value: the front first, then the client whose turn it is; `undefined` when nothing waits. */
  shift(): Value | undefined {
    const place = this.#front.first ?? this.#turns.first?.places.first;
    if (place === undefined) return undefined;
    const lane = place.lane;
    this.remove(place);
    if (lane !== undefined && this.#turns.size > 1 && this.#turns.remove(lane.turn)) this.#turns.pushBack(lane.turn);
    return place.value;
  }

  /** Takes a value out of the middle and tells whether it was here. */
  remove(place: Place<Value>): boolean {
    const lane = place.lane;
    if (!(lane === undefined ? this.#front : lane.places).remove(place.link)) return false;
    place.lane = undefined;
    this.#size--;
    if (lane?.places.size === 0) this.#close(lane);
    return true;
  }

  /** Everything that waits: the front, then client by client. The value just yielded may be removed meanwhile, no other. */
  *values(): IterableIterator<Value> {
    for (const place of this.#front.values()) yield place.value;
    for (const lane of this.#turns.values()) for (const place of lane.places.values()) yield place.value;
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
