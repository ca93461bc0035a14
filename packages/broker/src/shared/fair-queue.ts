/**
 * The queue of waiting requests: first in, first out for each client, client after client in turn when several wait, with
 * a front for what has waited before. No protocol.
 */
import { RemovableQueue, QueueSlot } from './removable-queue.js';

/** What one client has waiting in a queue, or one value at the front. Exists only while it is not empty. */
export class ClientQueue<Value> extends RemovableQueue<Value> {
  /** `undefined` at the front. */
  readonly client: string | undefined;
  /** @internal Place among the lanes of the queue. */
  readonly turn = new QueueSlot<ClientQueue<Value>>(this);
  /** @internal Place among the lanes of its client, in whatever queues they are. */
  readonly owned = new QueueSlot<ClientQueue<Value>>(this);

  constructor(client?: string) {
    super();
    this.client = client;
  }
}

/**
 * A bounded queue. `max` bounds what `push` may add; the front is exempt, because its values were admitted before and
 * come back one per worker at most. Every operation but `values` is O(1).
 *
 * Whoever must find all that a client has waiting keeps a list of its lanes over all queues, and names it with each value; the
 * queues see to what is in it.
 */
export class FairQueue<Value> {
  readonly max: number;
  readonly #front = new RemovableQueue<ClientQueue<Value>>();
  readonly #lanes = new Map<string, ClientQueue<Value>>();
  readonly #turns = new RemovableQueue<ClientQueue<Value>>();
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

  /** The value at the front; `undefined` when what is next is a client's turn. */
  get front(): Value | undefined {
    return this.#front.first?.first;
  }

  /** Number of clients with something waiting outside the front. */
  get clients(): number {
    return this.#turns.size;
  }

  /** Puts the value behind everything else of that client, or returns false when the queue is full. */
  push(place: QueueSlot<Value>, client: string, owned?: RemovableQueue<ClientQueue<Value>>): boolean {
    if (this.full) return false;
    let lane = this.#lanes.get(client);
    if (lane === undefined) {
      lane = new ClientQueue<Value>(client);
      this.#lanes.set(client, lane);
      this.#turns.push(lane.turn);
      owned?.push(lane.owned);
    }
    lane.push(place);
    this.#size++;
    return true;
  }

  /** Puts the value before everything but earlier calls of this method. Never refused. */
  pushFront(place: QueueSlot<Value>, owned?: RemovableQueue<ClientQueue<Value>>): void {
    const lane = new ClientQueue<Value>();
    this.#front.push(lane.turn);
    owned?.push(lane.owned);
    lane.push(place);
    this.#size++;
  }

  /** Takes the next value: the front first, then the client whose turn it is; `undefined` when nothing waits. */
  shift(): Value | undefined {
    const lane = this.#front.first ?? this.#turns.first;
    if (lane === undefined) return undefined;
    const value = lane.shift();
    this.#size--;
    if (lane.size === 0) this.#close(lane);
    else if (this.#turns.size > 1 && this.#turns.remove(lane.turn)) this.#turns.push(lane.turn);
    return value;
  }

  /** Takes a value out of the middle and tells whether it was here. */
  remove(place: QueueSlot<Value>): boolean {
    const lane = place.line instanceof ClientQueue ? (place.line as ClientQueue<Value>) : undefined;
    const turns = lane?.turn.line;
    if (lane === undefined || (turns !== this.#turns && turns !== this.#front)) return false;
    lane.remove(place);
    this.#size--;
    if (lane.size === 0) this.#close(lane);
    return true;
  }

  /** Everything that waits: the front, then client by client. The value just yielded may be removed meanwhile, no other. */
  *values(): IterableIterator<Value> {
    for (const lane of this.#front.values()) yield* lane.values();
    for (const lane of this.#turns.values()) yield* lane.values();
  }

  #close(lane: ClientQueue<Value>): void {
    lane.turn.line?.remove(lane.turn);
    lane.owned.line?.remove(lane.owned);
    if (lane.client !== undefined) this.#lanes.delete(lane.client);
  }
}
