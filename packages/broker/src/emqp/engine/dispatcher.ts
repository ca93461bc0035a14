/**
 * EventMQ broker: a job's way from REQUEST to its end, done or lost. Rules 9 to 20; which peer may say what is `engine.ts`.
 */
import { fromLatin1 } from '@proj/frames';
import { decodeEmqpHeaders, encodeEmqpJson, type EmqpRequest, type EmqpResult } from '@proj/frames/emqp';
import { requestCost } from '../../shared/cost.js';
import { SETTLING_MS } from './state.js';
import type { BrokerState } from './state.js';
import type { EmqpParty, EmqpRequestLoss } from './events.js';
import { askerOf, Job, type WorkerJobs } from './job.js';
import type { EmqpBrokerSettings } from '../options.js';
import type { Output } from './output.js';
import type { Leaver, Worker } from './peers.js';
import type { EmqpKeptJob } from './records.js';
import { DEFAULT_QUEUE, type Queue, type QueueSubscription } from './queues.js';

const SLOTS_MAX = 100_000;

/** Rule 9. */
const ACCEPTANCES = { reply: ['accepted'], ack: ['ack'], both: ['accepted', 'ack'] } as const;

/** Rule 19: how long a job without timeout may take, and what is waited beyond any timeout. */
const NO_TIMEOUT_SECONDS = 300;
const RELEASE_AFTER_MS = 60_000;

/** Accepts requests, finds each a worker, and sees to it that nobody is answered twice and none is forgotten in silence. */
export class Dispatcher {
  readonly #settings: EmqpBrokerSettings;
  readonly #books: BrokerState;
  readonly #out: Output;
  readonly #perhapsEmpty = new Set<Queue>();
  #open = 0;

  constructor(settings: EmqpBrokerSettings, books: BrokerState, out: Output) {
    this.#settings = settings;
    this.#books = books;
    this.#out = out;
  }

  /** Requests accepted and neither done nor lost. */
  get open(): number {
    return this.#open;
  }

  /** Rule 36: true for a job that is open, which goes on as it is; what its client hears goes to where it is now. */
  repeat(client: EmqpParty, request: EmqpRequest): boolean {
    const job = this.#books.repeats.find(client, request);
    if (job === undefined) return false;
    this.#out.counters.repeats++;
    job.client = client;
    // On its way to the store it has yet to be accepted.
    if (!job.isAccepted) return true;
    if (job.record !== undefined) this.#books.keeper.change(job);
    job.awaited = job.replyRequested;
    if (job.awaited && job.holder !== undefined) this.#await(job);
    this.#confirm(client, job.id);
    return true;
  }

  /** Rules 9, 13, 14 and 15: takes the request to a worker or into a queue and says so, or refuses it. */
  accept(client: EmqpParty, request: EmqpRequest): void {
    const { bytes, isTight } = this.#books;
    const headers = decodeEmqpHeaders(request.headers);
    this.#out.counters.headersIgnored += headers.invalid;
    const isStored = headers.guarantee && this.#settings.store !== undefined;
    const queue = this.#route(request.queue, client, { isStored, isNew: true });
    const cost = costOf(request);
    // What is to be stored may find the slot taken by then.
    const seat = isStored ? undefined : queue.free.first;
    const hasNoRoom = isTight && queue.free.first === undefined;
    if (hasNoRoom || (seat === undefined && queue.full) || !bytes.take(cost)) {
      this.#out.dropRequest(hasNoRoom ? 'memory' : 'queue-full', client, request.queue);
      this.#perhapsEmpty.add(queue);
      return;
    }
    const job = new Job(client, request, headers, queue, cost, this.#out.now);
    this.#books.repeats.add(job);
    if (isStored) {
      job.settle(this.#books.slack);
      this.#books.keeper.add(job);
      queue.arriving++;
      return;
    }
    this.#taken(job);
    if (seat === undefined) this.#wait(job, queue, 'back');
    else this.#dispatch(job, seat);
  }

  /** Rules 9 and 35: these guaranteed jobs are on the disk, or `error` says why not. */
  stored(write: number, error: string | undefined): void {
    const { keeper } = this.#books;
    if (error !== undefined) this.#out.storeFailed(error);
    for (const job of keeper.stored(write, error !== undefined, this.#out.now)) {
      job.queue.arriving--;
      this.#perhapsEmpty.add(job.queue);
      if (error === undefined) {
        this.#taken(job);
        this.#place(job, this.#route(job.name, job.client, { isStored: true }), 'back');
      } else {
        this.#out.dropRequest('store-failed', job.client, job.name);
        this.#books.repeats.remove(job);
        this.#discharge(job);
      }
    }
  }

  /** Rule 35: what an earlier life has promised. */
  restore(jobs: readonly EmqpKeptJob[]): void {
    if (jobs.length > 0) this.#out.effects.push({ kind: 'note', code: 'jobs-restored', jobs: jobs.length });
    for (const { record, client, request, attempts } of jobs) {
      const twin = this.#books.repeats.find(client, request);
      if (twin !== undefined) {
        // The first had ended and could not be removed any more when it was asked for again.
        twin.client = client;
        this.#books.keeper.change(twin);
        this.#books.keeper.discard(record);
        continue;
      }
      const headers = decodeEmqpHeaders(request.headers);
      const queue = this.#route(request.queue, client, { isStored: true });
      const job = new Job(client, request, headers, queue, 0, this.#out.now);
      job.attempts = attempts;
      job.isRestored = true;
      this.#books.kept.add(job);
      this.#charge(job, request);
      this.#books.keeper.restore(job, record);
      this.#books.repeats.add(job);
      job.isAccepted = true;
      this.#open++;
      this.#out.counters.restored++;
      this.#place(job, queue, 'back');
    }
  }

  #taken(job: Job): void {
    this.#open++;
    this.#out.counters.requests++;
    job.isAccepted = true;
    this.#confirm(job.client, job.id);
  }

  /** READY: a job has ended, a slot is free, and the next job comes from the worker's best queue (rule 13). */
  ready(worker: Worker): void {
    if (worker.slots >= SLOTS_MAX) {
      this.#out.dropMessage('slots-capped', worker);
      return;
    }
    if (worker.busy > 0) worker.busy--;
    const { open } = worker;
    if (open.readyOwed > 0) {
      open.readyOwed--;
    } else if (open.oldestPlain !== undefined) {
      this.#processed(open.oldestPlain, worker);
    } else {
      this.#suspect(worker);
    }
    worker.slots++;
    if (worker.slots === 1) this.#offer(worker);
    this.#loseMissing(worker);
    this.releaseSilent(worker);
  }

  /**
   * Rules 10, 11, 17 and 18: somebody who is or was a worker has done a job; false when there is no such job, or none of a
   * queue that it may serve.
   */
  result(
    worker: Worker | undefined,
    leaver: Leaver | undefined,
    result: EmqpResult,
    mayServe: (queue: string) => boolean,
  ): boolean {
    const own = worker?.open.find(result.of) ?? leaver?.open.find(result.of);
    const job = own ?? this.#findKept(result.of);
    if (job === undefined || (own === undefined && !mayServe(job.queue.name))) return false;
    if (job.holder !== undefined) job.holder.readyOwed++;
    if (job.isSilent && worker !== undefined) worker.answersAll = true;
    if (job.awaited) {
      this.#out.counters.results++;
      this.#answer(job, result.id, result.result);
    }
    job.queue.totals.latencyMs = Math.round(this.#out.now - job.acceptedAt);
    job.queue.totals.maxLatencyMs = Math.max(job.queue.totals.maxLatencyMs, job.queue.totals.latencyMs);
    this.#processed(job, worker);
    if (own !== undefined && worker !== undefined) this.#loseMissing(worker);
    return true;
  }

  /** Rules 17 and 20: the worker, which is in no book any more, is dead: jobs that are kept go on, others are lost. */
  recover(open: WorkerJobs): void {
    const again: Job[] = [];
    for (const job of open.values()) {
      if (!job.kept) this.#lose(job, 'jobs-lost');
      else again.push(job);
    }
    for (const job of again) this.#resend(job);
  }

  /** Rule 18: the worker has left. What it may still answer goes to the books of those who leave. */
  leave(worker: Worker): void {
    const answerable: Job[] = [];
    for (const job of worker.open.values()) {
      if (job.isPlain) this.#unconfirmed(job);
      else answerable.push(job);
    }
    this.#entrust(worker, answerable);
  }

  /**
   * Rules 16 and 17: a message to the worker, which is registered no more, came back. Guaranteed jobs go on at once. Of the
   * others nobody knows yet: those that did not go out come back one by one, the rest counts as lost after a while.
   */
  strand(worker: Worker): void {
    const again: Job[] = [];
    const uncertain: Job[] = [];
    for (const job of worker.open.values()) (job.guarantee ? again : uncertain).push(job);
    this.#entrust(worker, uncertain);
    for (const job of again) this.#resend(job);
  }

  /** Rule 16: takes back a job whose dispatch came back; `undefined` when it is over. It was no attempt. */
  takeBack(open: WorkerJobs, request: EmqpRequest): Job | undefined {
    const job = open.findLatest(request.id);
    if (job === undefined) return undefined;
    this.#detach(job);
    job.attempts--;
    if (job.attempts === 0 && !job.isRestored) this.#books.kept.remove(job);
    if (job.request === undefined) job.request = request;
    if (job.cost === 0) this.#charge(job, request);
    return job;
  }

  /** Rules 14 and 16: to the next worker at once, or to the front. */
  again(job: Job): void {
    this.#out.counters.resends++;
    this.#books.routes.remove(job.route);
    this.#place(job, this.#route(job.name, job.client, { isStored: job.record !== undefined }), 'front');
  }

  /** Rule 14: the worker’s queues are served. What waited in them for a worker need not move. */
  seated(worker: Worker): void {
    for (const { queue } of worker.seats) this.#books.patience.remove(queue.patience);
  }

  /** Rule 14: the worker’s queues have one worker less; the last one gone, patience begins. */
  unseat(worker: Worker): void {
    this.#books.settling.remove(worker.settling);
    for (const seat of worker.seats) {
      const { queue } = seat;
      this.#perhapsEmpty.add(queue);
      if (!this.#books.queues.leave(seat)) continue;
      queue.unservedSince = this.#out.now;
      this.#beginPatience(queue);
    }
    worker.slots = 0;
  }

  /** Rules 10, 14 and 19: what time brings. */
  expire(): void {
    const { routes, patience, releases, settling } = this.#books;
    const { now } = this.#out;
    for (let job = routes.takeDue(now); job !== undefined; job = routes.takeDue(now)) {
      this.#noLongerAwaited(job, 'result-expired');
    }
    for (let queue = patience.takeDue(now); queue !== undefined; queue = patience.takeDue(now)) this.#moveOn(queue);
    for (let job = releases.takeDue(now); job !== undefined; job = releases.takeDue(now)) this.#unconfirmed(job);
    for (let worker = settling.takeDue(now); worker !== undefined; worker = settling.takeDue(now)) {
      worker.settled = true;
      this.releaseSilent(worker);
    }
  }

  /** Rule 19: with all its slots free, a worker that never answers such jobs has none. `evenIfNew` for one that is told to go. */
  releaseSilent(worker: Worker, evenIfNew = false): void {
    if (worker.busy > 0 || worker.answersAll || !(worker.settled || evenIfNew) || worker.open.size === 0) return;
    for (const job of worker.open.values()) if (job.isSilent) this.#unconfirmed(job);
  }

  /** Rule 27: nothing more will come of any of these. */
  abandonAll(): void {
    const { peers, queues } = this.#books;
    for (const { open } of [...peers.workers(), ...peers.leavers()]) {
      for (const job of open.values()) this.#abandon(job);
    }
    for (const queue of queues.values()) {
      for (const job of queue.waiting.values()) this.#abandon(job);
    }
  }

  /** Ends a step: forgets queues without purpose. Not earlier, or a job could return to one of them. */
  tidy(): void {
    for (const queue of this.#perhapsEmpty) {
      if (queue.waiting.size === 0) this.#books.patience.remove(queue.patience);
      this.#books.queues.tidy(queue);
    }
    this.#perhapsEmpty.clear();
  }

  /** Rule 9: in the product's word, in the text's, or in both. */
  #confirm(client: EmqpParty, of: string): void {
    if (this.#books.silenced.why(client) !== undefined) return;
    for (const kind of ACCEPTANCES[this.#settings.acceptance])
      this.#out.send(client, { kind, id: this.#out.newId(), of });
  }

  /** Rule 8: to who has said farewell nothing is sent, nor to who must find out that nobody knows it. */
  #answer({ client, id: of }: Job, id: string, result: Uint8Array): void {
    if (this.#books.silenced.why(client) === undefined) this.#out.send(client, { kind: 'result', id, result, of });
    else this.#out.dropReply('reply-undeliverable', client);
  }

  /** Clients that wait for a result. */
  *awaiters(): IterableIterator<EmqpParty> {
    const { peers, queues } = this.#books;
    for (const { open } of [...peers.workers(), ...peers.leavers()])
      for (const { awaited, client } of open.values()) if (awaited) yield client;
    for (const { waiting } of queues.values())
      for (const { awaited, client } of waiting.values()) if (awaited) yield client;
  }

  /** Rule 14: the queue of that name if somebody serves it, else where such requests wait. What was accepted before needs no share. */
  #route(name: string, client: EmqpParty, { isStored, isNew = false }: { isStored: boolean; isNew?: boolean }): Queue {
    const { queues } = this.#books;
    const { now } = this.#out;
    const known = queues.find(name);
    if (known !== undefined && known.seats.size > 0) return known;
    // What is stored may be here before its workers are.
    if (!isStored && this.#settings.unknownQueue !== 'wait') return queues.open(DEFAULT_QUEUE, now);
    if (known !== undefined) return known;
    const asker = askerOf(client);
    return queues.open(queues.mayAsk(isNew ? asker : undefined) ? name : DEFAULT_QUEUE, now, asker);
  }

  #wait(job: Job, queue: Queue, where: 'front' | 'back'): void {
    job.settle(this.#books.slack);
    queue.enqueue(job, where, this.#out.now);
    if (queue.seats.size === 0) this.#beginPatience(queue);
  }

  /** Lets the queue's first request wait for as long as it may. */
  #beginPatience(queue: Queue): void {
    const { oldest } = queue;
    if (queue.name === DEFAULT_QUEUE || oldest === undefined) return;
    this.#books.patience.set(queue.patience, this.#movesAt(oldest, queue));
  }

  #movesAt(job: Job, queue: Queue): number {
    return Math.max(job.waitingSince, queue.unservedSince) + this.#settings.requestTtlMs;
  }

  /** Rule 14: what has waited too long moves to queue `default`. */
  #moveOn(queue: Queue): void {
    for (let job = queue.oldest; job !== undefined; job = queue.oldest) {
      if (this.#movesAt(job, queue) > this.#out.now) break;
      queue.withdraw(job);
      this.#out.counters.moved++;
      this.#place(job, this.#books.queues.open(DEFAULT_QUEUE, this.#out.now), 'back');
    }
    this.#perhapsEmpty.add(queue);
    this.#beginPatience(queue);
  }

  /** To a worker of the queue that has a slot, else into the queue. */
  #place(job: Job, queue: Queue, where: 'front' | 'back'): void {
    const seat = queue.free.first;
    if (seat === undefined) this.#wait(job, queue, where);
    else this.#dispatch(job, seat);
  }

  /** A worker has a slot where it had none: the next job, or a rest. */
  #offer(worker: Worker): void {
    for (const seat of worker.seats) {
      const job = seat.queue.next();
      if (job === undefined) continue;
      this.#dispatch(job, seat);
      return;
    }
    for (const seat of worker.seats) seat.queue.free.add(seat);
  }

  #dispatch(job: Job, seat: QueueSubscription): void {
    const { worker, queue } = seat;
    // Only a job that runs has none.
    const request = job.request as EmqpRequest;
    worker.slots--;
    worker.busy++;
    worker.served(seat);
    for (const each of worker.seats) {
      each.queue.free.remove(each);
      // Used last, it comes last among its equals, everywhere.
      if (worker.slots > 0) each.queue.free.add(each);
    }
    job.queue = queue;
    job.attempts++;
    worker.open.add(job);
    queue.inFlight++;
    this.#out.counters.dispatches++;
    this.#out.send(worker, request);
    if (job.kept) this.#hold(job, worker);
    else this.#discharge(job);
    if (job.awaited) this.#await(job);
  }

  /** Rules 17 and 19: kept until somebody answers it, or nobody will. */
  #hold(job: Job, worker: Worker): void {
    job.settle(this.#books.slack);
    if (job.attempts === 1 && !job.isRestored) this.#books.kept.add(job);
    if (!job.isSilent || worker.answersAll) return;
    const seconds = job.timeoutSeconds === 0 ? NO_TIMEOUT_SECONDS : job.timeoutSeconds;
    this.#books.releases.set(job.release, this.#out.now + seconds * 1000 + RELEASE_AFTER_MS);
  }

  /** Rule 10: the result finds its way for so long, unless too many are awaited. */
  #await(job: Job): void {
    const { routes } = this.#books;
    routes.renew(job.route, this.#out.now);
    if (routes.size <= this.#settings.resultRouteMax) return;
    const [oldest] = routes.values() as Iterable<Job | undefined>;
    if (oldest === undefined) return;
    routes.remove(oldest.route);
    this.#noLongerAwaited(oldest, 'result-evicted');
  }

  #noLongerAwaited(job: Job, reason: 'result-expired' | 'result-evicted'): void {
    job.awaited = false;
    this.#out.dropReply(reason, job.client);
    if (job.kept) return;
    if (job.holder !== undefined) job.holder.readyOwed++;
    this.#unconfirmed(job);
  }

  /** Rule 17: the only job of that id that is kept, wherever it is now: a worker that was given up has done it after all. */
  #findKept(id: string | undefined): Job | undefined {
    const jobs = id === undefined ? [] : this.#books.kept.get(id);
    return jobs.length === 1 ? jobs[0] : undefined;
  }

  /** Rule 17: to the next worker at once, or to the front; or given up. */
  #resend(job: Job): void {
    this.#detach(job);
    const attemptsMax = job.guarantee ? this.#settings.guaranteeAttempts : job.retryCount + 1;
    if (job.attempts < attemptsMax) {
      if (job.record !== undefined) this.#books.keeper.change(job);
      this.again(job);
    } else {
      this.#lose(job, job.guarantee ? 'guarantee-exhausted' : 'jobs-lost');
    }
  }

  /**
   * Rule 20: a slot is free that no job has left. It is a new one, while processes start; later a process was replaced, and a
   * job was lost with the old one. Where jobs may end in silence nobody can tell.
   */
  #suspect(worker: Worker): void {
    const { open } = worker;
    if (open.hasSilent && !worker.answersAll) return;
    if (open.size === 0 || this.#out.now - worker.grownAt < SETTLING_MS) {
      worker.grownAt = this.#out.now;
      return;
    }
    for (const job of open.values()) open.suspects.add(job);
    open.missing++;
  }

  /** Rule 20: once the others have been answered, it is known which ones were lost. */
  #loseMissing({ open }: Worker): void {
    const { suspects } = open;
    if (suspects.size > open.missing) return;
    open.missing = 0;
    for (const job of [...suspects]) {
      if (job.kept) this.#resend(job);
      else this.#lose(job, 'jobs-lost');
    }
  }

  /** Leaves these jobs of a worker that is registered no more to itself for a while. */
  #entrust(worker: Worker, jobs: readonly Job[]): void {
    if (jobs.length === 0) return;
    const leaver = this.#books.peers.leave(worker, this.#out.now);
    for (const job of jobs) {
      worker.open.remove(job);
      leaver.open.add(job);
    }
  }

  #processed(job: Job, worker: Worker | undefined): void {
    this.#out.counters.processed++;
    job.queue.totals.processed++;
    if (worker !== undefined) worker.processed++;
    this.#close(job);
  }

  #unconfirmed(job: Job): void {
    this.#out.counters.unconfirmed++;
    this.#close(job);
  }

  /** Rule 20: whoever waits for the result is told in its place. */
  #lose(job: Job, reason: EmqpRequestLoss): void {
    if (job.awaited) {
      this.#answer(job, this.#out.newId(), fromLatin1(encodeEmqpJson({ value: lossOf(job, reason) })));
    }
    this.#out.dropRequest(reason, job.client, job.name);
    this.#close(job);
  }

  /** Rule 27, and rule 35: what is in the store is for the next broker. */
  #abandon(job: Job): void {
    if (job.record === undefined) {
      this.#lose(job, 'drained');
      return;
    }
    job.record = undefined;
    this.#out.counters.leftInStore++;
    this.#close(job);
  }

  /** The job has come to its end: nothing of it is kept. */
  #close(job: Job): void {
    this.#books.keeper.remove(job);
    this.#detach(job);
    job.queue.withdraw(job);
    this.#books.routes.remove(job.route);
    this.#books.kept.remove(job);
    this.#books.repeats.remove(job);
    this.#discharge(job);
    this.#open--;
  }

  /** Takes the job from who has it, if anybody has. */
  #detach(job: Job): void {
    const { holder } = job;
    this.#perhapsEmpty.add(job.queue);
    this.#books.releases.remove(job.release);
    if (holder === undefined) return;
    holder.remove(job);
    job.queue.inFlight--;
    if (holder.leaver !== undefined && holder.size === 0) this.#books.peers.forget(holder.leaver);
  }

  /** Takes the bytes of a request that came back. It was accepted, so it is kept even when there are none left. */
  #charge(job: Job, request: EmqpRequest): void {
    const cost = costOf(request);
    if (this.#books.bytes.take(cost)) job.cost = cost;
  }

  #discharge(job: Job): void {
    this.#books.bytes.give(job.cost);
    job.leave(this.#books.slack);
    job.cost = 0;
    job.request = undefined;
  }
}

/** What a client is told in the place of a result. */
function lossOf({ guarantee, attempts }: Job, reason: EmqpRequestLoss): string {
  if (reason === 'drained') return 'job lost: the broker has stopped';
  const workers = attempts === 1 ? 'its worker' : `${attempts} workers`;
  return `${guarantee ? 'guaranteed job' : 'job'} lost with ${workers}`;
}

function costOf({ headers, body }: EmqpRequest): number {
  return requestCost([headers, body]);
}
