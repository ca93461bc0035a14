/**
 * Paranoid Pirate, the workers' side: a request's path from acceptance to its end, answered or given up. Rules 8, 9 and 13 to 16; `backend.ts`
 * decides which worker may send what.
 */
import type { PppAddressedReply } from '@proj/frames/ppp';
import { setSince } from '@proj/transport/engine';
import { chooseDisplaced } from '../../shared/displacement.js';
import type { ClientQueue } from '../../shared/fair-queue.js';
import type { RemovableQueue } from '../../shared/removable-queue.js';
import type { PppBackendSettings } from '../options.js';
import type { PppRequestLoss } from './events.js';
import type { Output } from './output.js';
import type { BrokerState, Request, Worker } from './state.js';

/** All that a client has waiting. */
type Lines<Asked> = RemovableQueue<ClientQueue<Asked>>;

/** The side that asks, as the workers' side sees it: the clients of a queue, or the process that has a pool. */
export interface Requester<Asked extends Request> {
  /** The request begins to wait, for its first worker or, at the front, for another one. */
  onWaiting(request: Asked, where: 'front' | 'back'): void;
  /** Where its client finds what it has waiting. */
  linesOf(request: Asked): Lines<Asked> | undefined;
  /** It no longer waits: it runs, or is about to be given up. */
  onWaited(request: Asked): void;
  /** Rule 14: the newest waiting requests of clients that have far more bytes waiting than the client of this one. */
  surplus(request: Asked): Iterable<Asked>;
  /** The request ends with the reply of its worker. It may be `abandoned` by now. */
  onReply(request: Asked, reply: PppAddressedReply): void;
  /** The request ends without a reply. This has been counted. */
  onLost(request: Asked, reason: PppRequestLoss): void;
}

/** Finds a worker for each request, and makes sure that none is lost or answered twice. */
export class Dispatcher<Asked extends Request> {
  readonly #settings: PppBackendSettings;
  readonly #state: BrokerState<Asked>;
  readonly #out: Output<unknown>;
  readonly #requester: Requester<Asked>;
  #open = 0;

  constructor(
    settings: PppBackendSettings,
    state: BrokerState<Asked>,
    out: Output<unknown>,
    requester: Requester<Asked>,
  ) {
    this.#settings = settings;
    this.#state = state;
    this.#out = out;
    this.#requester = requester;
  }

  /** Requests accepted and neither answered nor given up. */
  get open(): number {
    return this.#open;
  }

  /** Rules 8 and 14: gives the request to an idle worker or queues it. Returns false if there is no room for it. */
  accept(request: Asked): boolean {
    if (!this.#makeRoom(request)) return false;
    this.#open++;
    this.#out.counters.requests++;
    this.#out.figures.requests++;
    this.#place(request, 'back');
    return true;
  }

  /** Rule 8: a worker without a job takes the next request, or joins the idle workers as the last. */
  free(worker: Worker<Asked>): void {
    const request = this.#state.queue.shift();
    if (request === undefined) {
      setSince(worker, this.#out.now);
      this.#state.idle.push(worker.idle);
      this.#state.workers.renew(worker, this.#out.now);
    } else {
      this.#unwait(request);
      this.#dispatch(request, worker);
    }
  }

  /** Rule 9: the reply of the worker that has the job ends the request and frees the worker. */
  reply(worker: Worker<Asked>, request: Asked, reply: PppAddressedReply): void {
    this.#unburden(worker);
    worker.done++;
    this.#out.figures.finished(request, this.#out.now, request.abandoned);
    this.#out.counters.replies++;
    this.#close(request);
    this.#requester.onReply(request, reply);
    if (!worker.isLeaving) this.free(worker);
  }

  /** Rule 13: the jobs of lost workers go to idle workers or to the front of the queue, or are given up. */
  recover(lost: readonly Worker<Asked>[]): void {
    for (const worker of lost) {
      const request = worker.request;
      this.#unburden(worker);
      if (request === undefined) continue;
      const loss = this.#lossOf(request);
      if (loss !== undefined) this.giveUp(request, loss);
      else {
        worker.resends++;
        this.#out.figures.resends++;
        this.#out.counters.resends++;
        this.#place(request, 'front');
      }
    }
  }

  /** Rule 15: the client is gone. No worker gets what it has waiting, which is given up a slice at a time. */
  leave(client: object, waiting: Lines<Asked>): void {
    for (const line of waiting.values()) this.#state.queue.retire(line);
    this.#state.errands.begin(client, this.#dropLeft(waiting), this.#out.now);
  }

  giveUpWaiting(reason: PppRequestLoss): void {
    for (const request of this.#state.queue.values()) this.giveUp(request, reason);
    this.#state.errands.clear();
  }

  /** Gives up a request that waits, or whose worker is lost. */
  giveUp(request: Asked, reason: PppRequestLoss): void {
    if (this.#state.queue.remove(request.place)) this.#unwait(request);
    this.#out.counters.dropped[reason]++;
    this.#out.figures.ended(reason);
    this.#close(request);
    this.#requester.onLost(request, reason);
  }

  /** Others may be given up between two pieces, so each asks for the first. */
  *#dropLeft(waiting: Lines<Asked>): Generator<void, void, void> {
    for (let left = waiting.first?.first; left !== undefined; left = waiting.first?.first) {
      this.giveUp(left, 'client-gone');
      yield;
    }
  }

  /** Rule 14: takes the bytes of the request from the budget. Beyond a limit, clients with far more waiting give up their newest for it. */
  #makeRoom(request: Asked): boolean {
    const { idle, queue, bytes } = this.#state;
    const { asker, cost } = request;
    const waits = idle.size === 0;
    if (!queue.full && bytes.take(cost, waits)) return true;
    // Requests that came back from workers are never refused, so there may be more than one too many.
    const lack = { places: queue.excess, bytes: cost - bytes.left(waits) };
    const others = chooseDisplaced(lack, queue.surplus(asker), this.#requester.surplus(request));
    if (others === undefined) return false;
    for (const other of others) this.giveUp(other, 'displaced');
    return bytes.takeOver(cost, waits);
  }

  #place(request: Asked, where: 'front' | 'back'): void {
    const { idle, slack, queue } = this.#state;
    const worker = idle.shift();
    setSince(request, this.#out.now);
    if (worker !== undefined) {
      this.#dispatch(request, worker);
      return;
    }
    request.settle(slack);
    const lines = this.#requester.linesOf(request);
    if (where === 'front') queue.pushFront(request.place, lines);
    else queue.push(request.place, request.asker, lines);
    this.#requester.onWaiting(request, where);
  }

  #unwait(request: Asked): void {
    request.leave(this.#state.slack);
    this.#requester.onWaited(request);
  }

  #dispatch(request: Asked, worker: Worker<Asked>): void {
    request.attempts++;
    this.#out.figures.dispatched(request, this.#out.now);
    worker.request = request;
    this.#state.workers.renew(worker, this.#out.now);
    this.#state.jobs?.renew(worker.jobExpiry, this.#out.now);
    this.#out.counters.dispatches++;
    const { addresses, content } = request;
    this.#out.sendToWorker(worker.peer, { kind: 'request', addresses, content });
  }

  #unburden(worker: Worker<Asked>): void {
    worker.request = undefined;
    this.#state.jobs?.remove(worker.jobExpiry);
  }

  #lossOf(request: Asked): PppRequestLoss | undefined {
    if (request.abandoned !== undefined) return request.abandoned;
    return request.attempts >= this.#settings.maxAttempts ? 'attempts-exhausted' : undefined;
  }

  #close(request: Asked): void {
    this.#open--;
    this.#state.bytes.give(request.cost);
  }
}
