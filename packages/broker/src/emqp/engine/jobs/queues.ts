/** EventMQ broker: named queues, and which worker is next in each (rules 13 to 15). No protocol decisions. */
import { HeapDeadline } from '@proj/heartbeat';
import { ServiceMeter } from '@proj/transport/engine';
import { FairQueue } from '../../../shared/fair-queue.js';
import { RemovableQueue, QueueSlot } from '../../../shared/removable-queue.js';
import { type Name, Names } from '../../../shared/names.js';
import { ClientBacklogs, Places } from './backlogs.js';
import type { Job } from './job.js';
import type { Worker } from '../peers/peers.js';

/** The queue for requests that no other queue takes. */
export const DEFAULT_QUEUE = 'default';

/** Forgotten queues whose totals are remembered. */
const RETIRED_MAX = 1000;

/** Totals of a queue, for admins and operators. */
export interface QueueTotals {
  /** Jobs that ended. */
  processed: number;
  /** Milliseconds from REQUEST to REPLY: the last job's, and the longest. */
  latencyMs: number;
  maxLatencyMs: number;
  readonly meter: ServiceMeter;
}

/** A worker's subscription to one of its queues. */
export class QueueSubscription {
  readonly worker: Worker;
  readonly queue: Queue;
  readonly weight: number;
  /** Place among the queue's subscriptions of this weight whose workers have a free slot. */
  readonly free = new QueueSlot<QueueSubscription>(this);

  constructor(worker: Worker, queue: Queue, weight: number) {
    this.worker = worker;
    this.queue = queue;
    this.weight = weight;
  }
}

/** Subscriptions whose workers have a free slot: highest weight first, then least recently used. */
class FreeSubscriptions {
  readonly #pools = new Map<number, RemovableQueue<QueueSubscription>>();
  /** Weights in use, highest first. */
  readonly #weights: number[] = [];

  get first(): QueueSubscription | undefined {
    const [weight] = this.#weights;
    return weight === undefined ? undefined : this.#pools.get(weight)?.first;
  }

  add(subscription: QueueSubscription): void {
    let pool = this.#pools.get(subscription.weight);
    if (pool === undefined) {
      pool = new RemovableQueue();
      this.#pools.set(subscription.weight, pool);
      const at = this.#weights.findIndex((weight) => weight < subscription.weight);
      this.#weights.splice(at < 0 ? this.#weights.length : at, 0, subscription.weight);
    }
    pool.push(subscription.free);
  }

  remove(subscription: QueueSubscription): void {
    const pool = this.#pools.get(subscription.weight);
    pool?.remove(subscription.free);
    if (pool?.size !== 0) return;
    this.#pools.delete(subscription.weight);
    this.#weights.splice(this.#weights.indexOf(subscription.weight), 1);
  }

  *values(): IterableIterator<QueueSubscription> {
    for (const weight of this.#weights) yield* this.#pools.get(weight)?.values() ?? [];
  }
}

/** A queue that a worker serves, or that has waiting requests. */
export class Queue {
  readonly name: string;
  /** How many requests may wait; requests accepted before do not count as new. */
  readonly max: number;
  /** Rule 13: clients take turns, and each client's jobs are in order. Only this class changes it. */
  readonly waiting = new FairQueue<Job>(Infinity);
  /** Waiting jobs that were never put in front, longest wait first. */
  readonly #arrived = new RemovableQueue<Job>();
  /** Rule 15: how much each client has waiting, here and everywhere. */
  readonly places: Places;
  readonly #backlogs: ClientBacklogs;
  readonly subscriptions = new Set<QueueSubscription>();
  readonly free = new FreeSubscriptions();
  readonly totals: QueueTotals;
  /** Jobs being stored. */
  arriving = 0;
  /** Jobs at workers. */
  inFlight = 0;
  /** Rule 38: its waiting jobs stay. */
  isPaused = false;
  /** What an operator began with it is not finished. */
  isHeld = false;
  /** The end of this step decides whether it is forgotten. */
  isReviewed = false;
  /** Since when it has had no worker. */
  unservedSince: number;
  /** Rule 14: when its first request has waited too long for a worker. */
  readonly patience = new HeapDeadline<Queue>(this);
  /** Counted name; queue `default` has none. */
  readonly counted: Name | undefined;

  constructor(
    name: string,
    max: number,
    totals: QueueTotals,
    backlogs: ClientBacklogs,
    { now, counted }: { readonly now: number; readonly counted: Name | undefined },
  ) {
    this.name = name;
    this.counted = counted;
    this.max = max;
    this.places = new Places(max);
    this.#backlogs = backlogs;
    this.totals = totals;
    this.unservedSince = now;
  }

  get meter(): ServiceMeter {
    return this.totals.meter;
  }

  /** The worker that the next job goes to. */
  get taker(): QueueSubscription | undefined {
    return this.isStopped ? undefined : this.free.first;
  }

  /** Free workers take nothing from it. */
  get isStopped(): boolean {
    return this.isPaused || this.isHeld;
  }

  /** No further request may wait. */
  get full(): boolean {
    return this.waiting.size + this.arriving >= this.max;
  }

  /** How many must leave before another may wait. */
  get excess(): number {
    return Math.max(0, this.waiting.size + this.arriving - this.max + 1);
  }

  /** The job that has waited longest. */
  get oldest(): Job | undefined {
    return this.waiting.front ?? this.#arrived.first;
  }

  /** The job is being stored. */
  expect(job: Job): void {
    this.arriving++;
    this.#backlogs.enter(job, this.places);
  }

  /** It is no longer being stored. */
  arrive(job: Job): void {
    this.arriving--;
    this.#backlogs.leave(job);
  }

  /** Adds the job behind its client's others, or in front of all that were never put in front. */
  enqueue(job: Job, where: 'front' | 'back', now: number): void {
    job.queue = this;
    // A job in front counts as waiting as long as the one behind it, so that the front has always waited longest.
    job.waitingSince = where === 'front' ? (this.oldest?.waitingSince ?? now) : now;
    if (where === 'front') {
      this.waiting.pushFront(job.place);
    } else {
      this.waiting.push(job.place, job.asker);
      this.#arrived.push(job.order);
      this.#backlogs.enter(job, this.places);
    }
  }

  /** Takes out the next job. */
  next(): Job | undefined {
    const job = this.waiting.shift();
    if (job !== undefined) this.#left(job);
    return job;
  }

  /** Takes out this job, if it waits here. */
  withdraw(job: Job): void {
    if (this.waiting.remove(job.place)) this.#left(job);
  }

  #left(job: Job): void {
    this.#arrived.remove(job.order);
    this.#backlogs.leave(job);
  }

  /** Waiting jobs that were never put in front, in order of arrival. For invariants. */
  arrived(): IterableIterator<Job> {
    return this.#arrived.values();
  }
}

/** All queues. Names with workers have one bound, names that clients only ask for another; `default` counts in neither. */
export class Queues {
  readonly #names: Names;
  readonly #queues = new Map<string, Queue>();
  readonly #retired = new Map<string, QueueTotals>();
  /** Rule 15: what the broker keeps for each client. */
  readonly backlogs: ClientBacklogs;
  readonly #options: { readonly queueMax: number; readonly defaultQueueMax: number };

  constructor(options: {
    readonly queueMax: number;
    readonly defaultQueueMax: number;
    readonly queueMaxBytes: number;
    readonly queuesMax: number;
  }) {
    this.#options = options;
    this.backlogs = new ClientBacklogs(options);
    this.#names = new Names(options.queuesMax);
  }

  get size(): number {
    return this.#queues.size;
  }

  find(name: string): Queue | undefined {
    return this.#queues.get(name);
  }

  /** Whether a worker may serve all these distinct names. */
  mayServe(names: Iterable<string>): boolean {
    let more = 0;
    for (const name of names) if (name !== DEFAULT_QUEUE && this.#queues.get(name)?.counted?.isServed !== true) more++;
    return this.#names.mayServe(more);
  }

  /** Whether a queue without workers may be opened. Without `asker`, no client's share is counted. */
  mayAsk(asker?: string): boolean {
    return this.#names.mayAsk(asker);
  }

  join(subscription: QueueSubscription): void {
    subscription.queue.subscriptions.add(subscription);
    if (subscription.queue.counted !== undefined) this.#names.serve(subscription.queue.counted);
  }

  /** Ends a subscription; true if the queue has no worker now. */
  leave(subscription: QueueSubscription): boolean {
    const { queue } = subscription;
    queue.free.remove(subscription);
    queue.subscriptions.delete(subscription);
    if (queue.subscriptions.size > 0) return false;
    if (queue.counted !== undefined) this.#names.desert(queue.counted);
    return true;
  }

  /** The queue with that name, opened if necessary: then it counts as one that `asker` asks for until a worker serves it. */
  open(name: string, now: number, asker?: string): Queue {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const totals = this.#retired.get(name) ?? {
      processed: 0,
      latencyMs: 0,
      maxLatencyMs: 0,
      meter: new ServiceMeter(),
    };
    this.#retired.delete(name);
    const max = name === DEFAULT_QUEUE ? this.#options.defaultQueueMax : this.#options.queueMax;
    const counted = name === DEFAULT_QUEUE ? undefined : this.#names.add(asker);
    const queue = new Queue(name, max, totals, this.backlogs, { now, counted });
    this.#queues.set(name, queue);
    return queue;
  }

  /** Forgets a queue without workers, waiting requests or running jobs, unless it is paused; its totals are kept for a while. */
  tidy(queue: Queue): void {
    if (queue.subscriptions.size > 0 || queue.waiting.size > 0 || queue.arriving > 0 || queue.inFlight > 0) return;
    if (queue.isPaused) return;
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

  /** Throws if the names are miscounted. Linear. */
  assertInvariants(): void {
    const counted: Name[] = [];
    for (const { counted: name, subscriptions } of this.values()) {
      if (name === undefined) continue;
      if (name.isServed !== subscriptions.size > 0) throw new Error('a name is served while a worker lists it');
      counted.push(name);
    }
    this.#names.assertInvariants(counted);
  }

  /** Totals of all queues, including forgotten ones. */
  *totals(): IterableIterator<[name: string, totals: QueueTotals]> {
    yield* this.#retired;
    for (const queue of this.#queues.values()) yield [queue.name, queue.totals];
  }
}
