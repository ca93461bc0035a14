/** EventMQ broker: named queues, and which worker is next in each (rules 13 to 15). Books only, no protocol decisions. */
import { HeapDeadline } from '@proj/heartbeat';
import { FairQueue } from '../../shared/fair-queue.js';
import { RemovableQueue, QueueSlot } from '../../shared/removable-queue.js';
import { type Name, Names } from '../../shared/names.js';
import type { Job } from './job.js';
import type { Worker } from './peers.js';

/** The queue for everything nobody else takes. */
export const DEFAULT_QUEUE = 'default';

/** Names of queues that are gone, whose totals are remembered. */
const RETIRED_MAX = 1000;

/** What an admin may know of a queue beyond what is in it. */
export interface QueueTotals {
  /** Jobs that ended. */
  processed: number;
  /** Milliseconds from REQUEST to REPLY, of the last one and at most. */
  latencyMs: number;
  maxLatencyMs: number;
}

/** A worker's place at one of its queues. */
export class QueueSubscription {
  readonly worker: Worker;
  readonly queue: Queue;
  readonly weight: number;
  /** Place among the queue's seats of this weight whose workers have a free slot. */
  readonly free = new QueueSlot<QueueSubscription>(this);

  constructor(worker: Worker, queue: Queue, weight: number) {
    this.worker = worker;
    this.queue = queue;
    this.weight = weight;
  }
}

/** Seats whose workers have a free slot: the highest weight first, then who has not been used for longest. */
class FreeSeats {
  readonly #pools = new Map<number, RemovableQueue<QueueSubscription>>();
  /** Weights of pools that are not empty, highest first. */
  readonly #weights: number[] = [];

  /** Who is next. */
  get first(): QueueSubscription | undefined {
    const [weight] = this.#weights;
    return weight === undefined ? undefined : this.#pools.get(weight)?.first;
  }

  add(seat: QueueSubscription): void {
    let pool = this.#pools.get(seat.weight);
    if (pool === undefined) {
      pool = new RemovableQueue();
      this.#pools.set(seat.weight, pool);
      const at = this.#weights.findIndex((weight) => weight < seat.weight);
      this.#weights.splice(at < 0 ? this.#weights.length : at, 0, seat.weight);
    }
    pool.push(seat.free);
  }

  remove(seat: QueueSubscription): void {
    const pool = this.#pools.get(seat.weight);
    pool?.remove(seat.free);
    if (pool?.size !== 0) return;
    this.#pools.delete(seat.weight);
    this.#weights.splice(this.#weights.indexOf(seat.weight), 1);
  }

  *values(): IterableIterator<QueueSubscription> {
    for (const weight of this.#weights) yield* this.#pools.get(weight)?.values() ?? [];
  }
}

/** A queue that somebody serves or that something waits in. */
export class Queue {
  readonly name: string;
  /** How many may wait; what was accepted before is not refused for it. */
  readonly max: number;
  /** Rule 13: each client's jobs in their order, client after client. Changed by this class alone. */
  readonly waiting = new FairQueue<Job>(Infinity);
  /** What waits and has never been in front, longest first. */
  readonly #arrived = new RemovableQueue<Job>();
  readonly seats = new Set<QueueSubscription>();
  readonly free = new FreeSeats();
  readonly totals: QueueTotals;
  /** Jobs that are on their way to the store. */
  arriving = 0;
  /** Jobs of this queue that are open at workers. */
  inFlight = 0;
  /** Since when nobody has served it. */
  unservedSince: number;
  /** Rule 14: when what waits here has waited too long for a worker. */
  readonly patience = new HeapDeadline<Queue>(this);
  /** Its place among the names that are counted; queue `default` has none. */
  readonly counted: Name | undefined;

  constructor(name: string, max: number, totals: QueueTotals, now: number, counted?: Name) {
    this.name = name;
    this.counted = counted;
    this.max = max;
    this.totals = totals;
    this.unservedSince = now;
  }

  /** True when no further request may be accepted to wait. */
  get full(): boolean {
    return this.waiting.size + this.arriving >= this.max;
  }

  /** What has waited longest. */
  get oldest(): Job | undefined {
    return this.waiting.front ?? this.#arrived.first;
  }

  /** Puts the job behind what its client has here, or before all that has not been in front before. */
  enqueue(job: Job, where: 'front' | 'back', now: number): void {
    job.queue = this;
    // In front of others it waits as long as they do, so that what is in front has always waited longest.
    job.waitingSince = where === 'front' ? (this.oldest?.waitingSince ?? now) : now;
    if (where === 'front') {
      this.waiting.pushFront(job.place);
    } else {
      this.waiting.push(job.place, job.asker);
      this.#arrived.push(job.order);
    }
  }

  /** Takes out the job whose turn it is. */
  next(): Job | undefined {
    const job = this.waiting.shift();
    if (job !== undefined) this.#arrived.remove(job.order);
    return job;
  }

  /** Takes out this job, if it waits here. */
  withdraw(job: Job): void {
    this.waiting.remove(job.place);
    this.#arrived.remove(job.order);
  }

  /** What has never been in front, in the order in which it came. For invariants. */
  arrived(): IterableIterator<Job> {
    return this.#arrived.values();
  }
}

/** All queues. Names that are served and names that are only asked for have a bound each; `default` is none of them. */
export class Queues {
  readonly #names: Names;
  readonly #queues = new Map<string, Queue>();
  readonly #retired = new Map<string, QueueTotals>();
  readonly #options: { readonly queueMax: number; readonly defaultQueueMax: number; readonly queuesMax: number };

  constructor(options: { readonly queueMax: number; readonly defaultQueueMax: number; readonly queuesMax: number }) {
    this.#options = options;
    this.#names = new Names(options.queuesMax);
  }

  get size(): number {
    return this.#queues.size;
  }

  find(name: string): Queue | undefined {
    return this.#queues.get(name);
  }

  /** True when a worker may serve all these, which differ. */
  mayServe(names: Iterable<string>): boolean {
    let more = 0;
    for (const name of names) if (name !== DEFAULT_QUEUE && this.#queues.get(name)?.counted?.isServed !== true) more++;
    return this.#names.mayServe(more);
  }

  /** True when a queue may be opened that nobody serves; without `asker`, whosever request it is for. */
  mayAsk(asker?: string): boolean {
    return this.#names.mayAsk(asker);
  }

  /** A worker takes its place. */
  join(seat: QueueSubscription): void {
    seat.queue.seats.add(seat);
    if (seat.queue.counted !== undefined) this.#names.serve(seat.queue.counted);
  }

  /** A worker leaves its place; true when nobody serves the queue any more. */
  leave(seat: QueueSubscription): boolean {
    const { queue } = seat;
    queue.free.remove(seat);
    queue.seats.delete(seat);
    if (queue.seats.size > 0) return false;
    if (queue.counted !== undefined) this.#names.desert(queue.counted);
    return true;
  }

  /** The queue of that name, made if need be: then it is part of what `asker` asks for, until somebody serves it. */
  open(name: string, now: number, asker?: string): Queue {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const totals = this.#retired.get(name) ?? { processed: 0, latencyMs: 0, maxLatencyMs: 0 };
    this.#retired.delete(name);
    const max = name === DEFAULT_QUEUE ? this.#options.defaultQueueMax : this.#options.queueMax;
    const counted = name === DEFAULT_QUEUE ? undefined : this.#names.add(asker);
    const queue = new Queue(name, max, totals, now, counted);
    this.#queues.set(name, queue);
    return queue;
  }

  /** Forgets a queue that nobody serves, nothing waits in and no job runs for; its totals are kept for a while. */
  tidy(queue: Queue): void {
    if (queue.seats.size > 0 || queue.waiting.size > 0 || queue.arriving > 0 || queue.inFlight > 0) return;
    if (this.#queues.get(queue.name) !== queue) return;
    this.#queues.delete(queue.name);
    if (queue.counted !== undefined) this.#names.remove(queue.counted);
    if (queue.totals.processed === 0) return;
    this.#retired.set(queue.name, queue.totals);
    for (const name of this.#retired.keys()) {
      if (this.#retired.size <= RETIRED_MAX) break;
      this.#retired.delete(name);
    }
  }

  values(): IterableIterator<Queue> {
    return this.#queues.values();
  }

  /** Throws when the names were not counted right. Linear. */
  assertInvariants(): void {
    const counted: Name[] = [];
    for (const { counted: name, seats } of this.values()) {
      if (name === undefined) continue;
      if (name.isServed !== seats.size > 0) throw new Error('a name is served while a worker lists it');
      counted.push(name);
    }
    this.#names.assertInvariants(counted);
  }

  /** Totals of all queues, those included that are gone. */
  *totals(): IterableIterator<[name: string, totals: QueueTotals]> {
    yield* this.#retired;
    for (const queue of this.#queues.values()) yield [queue.name, queue.totals];
  }
}
