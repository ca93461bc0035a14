/**
 * The queue of waiting requests: first in, first out for each client, and clients take turns, those with few waiting requests before those with
 * many (docs/adr/0038-few-before-many.md). Requests that waited before go to a front that is served first. Knows no protocol.
 */
import { surplusOf } from './displacement.js';
import { HolderClasses, Holding } from './holder-classes.js';
import { RemovableQueue, QueueSlot } from './removable-queue.js';

/** A client with fewer waiting values never makes room for others. */
const LEAST = 16;
/** A client with more waiting values has many. */
const FEW = 4;
/** Of the turns for which both kinds wait, the first of this many goes to a client with many. */
const MANY_SHARE = 4;

/** The waiting values of one client, or a single value at the front. Exists only while it is not empty. */
export class ClientQueue<Value> extends RemovableQueue<Value> {
  /** `undefined` at the front. */
  readonly client: unknown;
  /** @internal Place among the clients of the fair queue, or at its front. */
  readonly turn = new QueueSlot<ClientQueue<Value>>(this);
  /** @internal How many of its values count for {@link FairQueue.surplus}. */
  readonly share = new Holding<ClientQueue<Value>>(this);
  /** @internal Place in its client's list of queues. */
  readonly owned = new QueueSlot<ClientQueue<Value>>(this);

  constructor(client?: unknown) {
    super();
    this.client = client;
  }
}

/**
 * A bounded queue. `max` bounds `push`; the front is exempt, because its values were admitted before and return one per worker at most.
 * Every operation but `values`, `surplus` and `newest` is O(1).
 *
 * A client is any value but `undefined`, told apart as by a `Map`. An owner that must find everything a client has waiting passes that client's list of {@link ClientQueue}s along with each value; the fair
 * queues keep the list up to date.
 */
export class FairQueue<Value> {
  readonly max: number;
  readonly #front = new RemovableQueue<ClientQueue<Value>>();
  readonly #byClient = new Map<unknown, ClientQueue<Value>>();
  /** Clients in the order of their turns: those with few values waiting, and those that had many when they came, or at their last turn. */
  readonly #few = new RemovableQueue<ClientQueue<Value>>();
  readonly #many = new RemovableQueue<ClientQueue<Value>>();
  /** Get no turns any more. */
  readonly #retired = new RemovableQueue<ClientQueue<Value>>();
  readonly #classes = [this.#front, this.#few, this.#many, this.#retired];
  /** Turns for which both kinds were waiting. */
  #contended = 0;
  readonly #shares = new HolderClasses<ClientQueue<Value>>(LEAST);
  #size = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** Number of waiting values, the front included. */
  get size(): number {
    return this.#size;
  }

  /** True when `push` would exceed the bound. */
  get full(): boolean {
    return this.#size >= this.max;
  }

  /** The value at the front; `undefined` when a client's turn is next. */
  get front(): Value | undefined {
    return this.#front.first?.first;
  }

  /** Number of clients with waiting values outside the front. */
  get clients(): number {
    return this.#byClient.size;
  }

  /** Appends the value to those of that client, or returns false when the queue is full. */
  push(slot: QueueSlot<Value>, client: unknown, owned?: RemovableQueue<ClientQueue<Value>>): boolean {
    if (this.full) return false;
    let queue = this.#byClient.get(client);
    if (queue === undefined) {
      queue = new ClientQueue<Value>(client);
      this.#byClient.set(client, queue);
      this.#few.push(queue.turn);
      owned?.push(queue.owned);
    }
    queue.push(slot);
    if (queue.size === FEW + 1) this.#await(queue);
    this.#shares.add(queue.share, 1);
    this.#size++;
    return true;
  }

  /** Puts the value at the front, behind the values already there. Never refused. */
  pushFront(slot: QueueSlot<Value>, owned?: RemovableQueue<ClientQueue<Value>>): void {
    const queue = new ClientQueue<Value>();
    this.#front.push(queue.turn);
    owned?.push(queue.owned);
    queue.push(slot);
    this.#size++;
  }

  /** The client of this queue is gone and pushes no more: its values are never taken, and stay until they are removed. */
  retire(queue: ClientQueue<Value>): void {
    queue.turn.queue?.remove(queue.turn);
    this.#retired.push(queue.turn);
  }

  /** Takes the next value: the front first, then from the client whose turn it is; `undefined` if there is none to take. */
  shift(): Value | undefined {
    const queue = this.#front.first ?? this.#next();
    if (queue === undefined) return undefined;
    const value = queue.shift();
    this.#left(queue);
    if (queue.size === 0) this.#close(queue);
    else this.#await(queue);
    return value;
  }

  /** Removes a value from anywhere. Returns false if it was not in this queue. */
  remove(slot: QueueSlot<Value>): boolean {
    const queue = slot.queue instanceof ClientQueue ? (slot.queue as ClientQueue<Value>) : undefined;
    if (queue === undefined || !this.#classes.some((queues) => queues === queue.turn.queue)) return false;
    queue.remove(slot);
    this.#left(queue);
    if (queue.size === 0) this.#close(queue);
    return true;
  }

  /** How many values must leave before another can be pushed. */
  get excess(): number {
    return Math.max(0, this.#size - this.max + 1);
  }

  /** The newest values of clients that have far more waiting than this one: they make room for this client when the queue is full. */
  surplus(client: unknown): Iterable<Value> {
    const mine = (this.#byClient.get(client)?.size ?? 0) + 1;
    const hoardOf = (queue: ClientQueue<Value>) => ({ held: queue.share.amount, newest: queue.newest() });
    return surplusOf(this.#shares, mine, hoardOf, () => 1);
  }

  /** The values of this client, newest first, without the front. */
  newest(client: unknown): Iterable<Value> {
    return this.#byClient.get(client)?.newest() ?? [];
  }

  /** The first value of the front, and that of each client: the oldest is among them. */
  *heads(): IterableIterator<Value> {
    for (const queue of this.#classes) for (const { first } of queue.values()) if (first !== undefined) yield first;
  }

  /** The waiting values by client; each value of the front is separate. None is empty. */
  *lines(): IterableIterator<Pick<ClientQueue<Value>, 'first' | 'size'>> {
    for (const queues of this.#classes) yield* queues.values();
  }

  /** Everything that waits: the front, then client by client. While iterating, remove only the value just yielded. */
  *values(): IterableIterator<Value> {
    for (const queues of this.#classes) for (const queue of queues.values()) yield* queue.values();
  }

  #next(): ClientQueue<Value> | undefined {
    const few = this.#few.first;
    const many = this.#many.first;
    if (few === undefined || many === undefined) return few ?? many;
    return this.#contended++ % MANY_SHARE === 0 ? many : few;
  }

  /** The client waits for its next turn, behind others of its kind. */
  #await(queue: ClientQueue<Value>): void {
    const turns = queue.size > FEW ? this.#many : this.#few;
    if (queue.turn.queue === turns && turns.size === 1) return;
    queue.turn.queue?.remove(queue.turn);
    turns.push(queue.turn);
  }

  #left(queue: ClientQueue<Value>): void {
    this.#size--;
    if (queue.client !== undefined) this.#shares.add(queue.share, -1);
  }

  #close(queue: ClientQueue<Value>): void {
    queue.turn.queue?.remove(queue.turn);
    queue.owned.queue?.remove(queue.owned);
    if (queue.client !== undefined) this.#byClient.delete(queue.client);
  }
}
