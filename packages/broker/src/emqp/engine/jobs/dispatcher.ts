/** EventMQ broker: a job's path from REQUEST to a worker. Rules 9 to 15 and 17; `job-endings.ts` handles its end. */
import { decodeEmqpHeaders, type EmqpReadHeaders, type EmqpRequest } from '@proj/frames/emqp';
import { setSince } from '@proj/transport/engine';
import { chooseDisplaced } from '../../../shared/displacement.js';
import { dueOf } from '../../../shared/due.js';
import { PAUSE_MS, SLICE } from '../../../shared/errands.js';
import { sharerOf } from '../../../shared/names.js';
import type { EmqpBrokerSettings } from '../../options.js';
import type { EmqpParty } from '../events.js';
import { askerOf, Job } from './job.js';
import { costOf, type JobEndings } from './job-endings.js';
import type { Output } from '../output.js';
import type { Worker } from '../peers/peers.js';
import { DEFAULT_QUEUE, type Queue, type QueueSubscription } from './queues.js';
import type { BrokerState } from '../state.js';

/** Rule 9. */
const ACCEPTANCES = { reply: ['accepted'], ack: ['ack'], both: ['accepted', 'ack'] } as const;

/** Rule 19: time limit of a job without timeout, and the grace period after any timeout. */
const NO_TIMEOUT_SECONDS = 300;
const RELEASE_AFTER_MS = 60_000;

/** Accepts requests, and finds a queue and a worker for each. */
export class Dispatcher {
  readonly #settings: EmqpBrokerSettings;
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #endings: JobEndings;

  constructor(settings: EmqpBrokerSettings, state: BrokerState, out: Output, endings: JobEndings) {
    this.#settings = settings;
    this.#state = state;
    this.#out = out;
    this.#endings = endings;
  }

  /** Rules 9, 13, 14 and 15: gives the request to a worker or a queue and accepts it, or refuses it. */
  accept(client: EmqpParty, request: EmqpRequest): void {
    const headers = decodeEmqpHeaders(request.headers);
    this.#out.counters.headersIgnored += headers.invalid;
    const isStored = headers.guarantee && this.#settings.store !== undefined;
    const queue = this.route(request.queue, client, { isStored, isNew: true });
    const cost = costOf(request);
    // By the time a job is in the store, the slot may be taken.
    const subscription = isStored ? undefined : queue.taker;
    // Without workers, it might wait for ever; in the store it may.
    const isUnserved = !isStored && queue.subscriptions.size === 0;
    const mayWait = !isUnserved || this.#state.queues.backlogs.mayWaitUnserved(askerOf(client));
    if (!mayWait || !this.#makeRoom(client, headers, cost, subscription === undefined ? queue : undefined)) {
      const reason = this.#state.bytes.isTight ? 'memory' : 'queue-full';
      queue.meter.ended(reason);
      this.#out.dropRequest(reason, client, request.queue);
      this.#endings.reviewLater(queue);
      return;
    }
    const job = new Job(client, request, headers, queue, cost, this.#out.now);
    this.#state.repeats.add(job);
    if (job.kept) this.#state.queues.backlogs.keep(job);
    if (isStored) {
      job.settle(this.#state.slack);
      this.#state.keeper.add(job);
      queue.expect(job);
      return;
    }
    this.taken(job);
    if (subscription === undefined) this.#wait(job, queue, 'back');
    else this.#dispatch(job, subscription);
  }

  /** The job is accepted: counts it and answers the client. */
  taken(job: Job): void {
    this.#endings.open++;
    this.#out.counters.requests++;
    job.queue.meter.requests++;
    job.isAccepted = true;
    this.confirm(job.client, job.id);
  }

  /** Rule 9: in the product's word, the specification's, or both. */
  confirm(client: EmqpParty, of: string): void {
    if (this.#state.silenced.why(client) !== undefined) return;
    for (const kind of ACCEPTANCES[this.#settings.acceptance])
      this.#out.send(client, { kind, id: this.#out.newId(), of });
  }

  /** Rule 14: the named queue if a worker serves it, otherwise the queue where such requests wait. Without `isNew`, no client's share is counted. */
  route(name: string, client: EmqpParty, { isStored, isNew = false }: { isStored: boolean; isNew?: boolean }): Queue {
    const { queues } = this.#state;
    const { now } = this.#out;
    const known = queues.find(name);
    if (known !== undefined && known.subscriptions.size > 0) return known;
    // A stored job may be here before its workers.
    if (!isStored && this.#settings.unknownQueue !== 'wait') return queues.open(DEFAULT_QUEUE, now);
    if (known !== undefined) return known;
    const sharer = sharerOf(client.peer);
    return queues.open(queues.mayAsk(isNew ? sharer : undefined) ? name : DEFAULT_QUEUE, now, sharer);
  }

  /** To a worker of the queue with a free slot, otherwise into the queue. */
  place(job: Job, queue: Queue, where: 'front' | 'back'): void {
    if (queue !== job.queue) {
      job.queue.meter.ended('moved');
      queue.meter.requests++;
    }
    const subscription = queue.taker;
    if (subscription === undefined) this.#wait(job, queue, where);
    else this.#dispatch(job, subscription);
  }

  /** Rules 14 and 16: the job came back: to the next worker at once, or to the front. */
  again(job: Job): void {
    this.#out.counters.resends++;
    this.#state.routes.remove(job.route);
    const queue = this.route(job.name, job.client, { isStored: job.record !== undefined });
    setSince(job, this.#out.now);
    queue.meter.resends++;
    this.place(job, queue, 'front');
  }

  /** Rule 13: a worker has its first free slot: it takes the next job, or becomes idle. */
  offer(worker: Worker): void {
    for (const subscription of worker.subscriptions) {
      if (subscription.queue.isStopped) continue;
      const job = subscription.queue.next();
      if (job === undefined) continue;
      this.#dispatch(job, subscription);
      return;
    }
    for (const subscription of worker.subscriptions) subscription.queue.free.add(subscription);
  }

  /** The next job of the queue to its next free worker; false if there is none. */
  handOut(queue: Queue): boolean {
    const taker = queue.free.first;
    const job = taker === undefined ? undefined : queue.next();
    if (taker === undefined || job === undefined) return false;
    this.#dispatch(job, taker);
    return true;
  }

  /** Rule 14: starts the timeout of the first request of a queue without workers. */
  beginPatience(queue: Queue): void {
    const { oldest, subscriptions } = queue;
    if (queue.name === DEFAULT_QUEUE || queue.isStopped || subscriptions.size > 0 || oldest === undefined) return;
    this.#state.patience.set(queue.patience, this.#movesAt(oldest, queue));
  }

  /** Rule 37: the worker gets no further job. */
  retire(worker: Worker): void {
    worker.isLeaving = true;
    for (const subscription of worker.subscriptions) subscription.queue.free.remove(subscription);
  }

  /** Rule 14: the worker's queues are served; their waiting jobs need not move. */
  subscribed(worker: Worker): void {
    for (const { queue } of worker.subscriptions) this.#state.patience.remove(queue.patience);
  }

  /** Rule 14: the worker's queues have one worker less. Jobs in queues without any begin to time out. */
  unsubscribe(worker: Worker): void {
    this.#state.settling.remove(worker.settling);
    for (const subscription of worker.subscriptions) {
      const { queue } = subscription;
      this.#endings.reviewLater(queue);
      if (!this.#state.queues.leave(subscription)) continue;
      queue.unservedSince = this.#out.now;
      this.beginPatience(queue);
    }
    worker.slots = 0;
  }

  /** Rule 10: the result is forwarded for this long, unless too many are awaited. */
  awaitResult(job: Job): void {
    const { routes } = this.#state;
    routes.renew(job.route, this.#out.now);
    if (routes.size <= this.#settings.resultRouteMax) return;
    const [oldest] = routes.values() as Iterable<Job | undefined>;
    if (oldest === undefined) return;
    routes.remove(oldest.route);
    this.#noLongerAwaited(oldest, 'result-evicted');
  }

  /** Rules 10 and 14: results that are too late, and queues that have waited too long for a worker. */
  expire(): void {
    const { routes, patience } = this.#state;
    const { now } = this.#out;
    for (const job of dueOf(routes, now)) this.#noLongerAwaited(job, 'result-expired');
    let left = SLICE;
    for (const queue of dueOf(patience, now)) left = this.#moveOn(queue, left);
  }

  /**
   * Rule 15: takes the bytes of a job from the budget and, if it has to wait, ensures its place in `queue`. Beyond a limit, clients with far
   * more waiting give up their newest for it. Guaranteed jobs are never given up, so no client may have too many of them.
   */
  #makeRoom(client: EmqpParty, headers: EmqpReadHeaders, cost: number, queue: Queue | undefined): boolean {
    const { bytes, queues } = this.#state;
    const { backlogs } = queues;
    const isKept = headers.guarantee || headers.retryCount > 0;
    const waits = queue !== undefined;
    if (!isKept && queue?.full !== true && bytes.take(cost, waits)) return true;
    const asker = askerOf(client);
    if (isKept && !backlogs.mayKeep(asker, cost)) return false;
    if (headers.guarantee && queue?.places.mayGuarantee(asker) === false) return false;
    // Jobs that came back from workers are never refused, so there may be more than one too many.
    const lack = { places: queue?.excess ?? 0, bytes: cost - bytes.left(waits) };
    const others = chooseDisplaced(lack, queue?.places.surplus(asker) ?? [], backlogs.surplus(asker, cost));
    if (others === undefined) return false;
    for (const other of others) this.#endings.lose(other, 'displaced');
    return bytes.takeOver(cost, waits);
  }

  #wait(job: Job, queue: Queue, where: 'front' | 'back'): void {
    job.settle(this.#state.slack);
    queue.enqueue(job, where, this.#out.now);
    this.beginPatience(queue);
  }

  #movesAt(job: Job, queue: Queue): number {
    return Math.max(job.waitingSince, queue.unservedSince) + this.#settings.requestTtlMs;
  }

  /** Rule 14: requests that have waited too long move to queue `default`, this many at most. Returns how many others may move in this step. */
  #moveOn(queue: Queue, most: number): number {
    const { now } = this.#out;
    let left = most;
    for (let job = queue.oldest; job !== undefined && left > 0; job = queue.oldest, left--) {
      if (this.#movesAt(job, queue) > now) break;
      queue.withdraw(job);
      this.#out.counters.moved++;
      this.place(job, this.#state.queues.open(DEFAULT_QUEUE, now), 'back');
    }
    this.#endings.reviewLater(queue);
    if (left > 0 || queue.oldest === undefined) this.beginPatience(queue);
    else this.#state.patience.set(queue.patience, now + PAUSE_MS);
    return left;
  }

  #dispatch(job: Job, subscription: QueueSubscription): void {
    const { worker, queue } = subscription;
    // Only a running job may be without its request.
    const request = job.request as EmqpRequest;
    worker.slots--;
    worker.busy++;
    worker.served(subscription);
    for (const each of worker.subscriptions) {
      each.queue.free.remove(each);
      // Used last, so it comes last among its equals, in every queue.
      if (worker.slots > 0) each.queue.free.add(each);
    }
    job.queue = queue;
    job.attempts++;
    queue.meter.dispatched(job, this.#out.now);
    worker.open.add(job, this.#out.now);
    queue.inFlight++;
    this.#out.counters.dispatches++;
    this.#out.send(worker, request);
    if (job.kept) this.#keep(job, worker);
    else this.#endings.discharge(job);
    if (job.awaited) this.awaitResult(job);
  }

  /** Rules 17 and 19: kept until a worker answers it, or none will. */
  #keep(job: Job, worker: Worker): void {
    job.settle(this.#state.slack);
    if (job.attempts === 1 && !job.isRestored) this.#state.kept.add(job);
    if (!job.isSilent || worker.answersAll) return;
    const seconds = job.timeoutSeconds === 0 ? NO_TIMEOUT_SECONDS : job.timeoutSeconds;
    this.#state.releases.set(job.release, this.#out.now + seconds * 1000 + RELEASE_AFTER_MS);
  }

  #noLongerAwaited(job: Job, reason: 'result-expired' | 'result-evicted'): void {
    job.awaited = false;
    this.#out.dropReply(reason, job.client);
    if (job.kept) return;
    if (job.holder !== undefined) job.holder.readyOwed++;
    this.#endings.unconfirmed(job);
  }
}
