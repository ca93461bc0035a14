/**
 * Paranoid Pirate, the workers' side: a request's way from acceptance to its one end, answered or given up. Rules 8, 9, 13,
 * 14 and 16; which worker may say what is `backend.ts`.
 */
import type { PppAddressedReply } from '@proj/frames/ppp';
import type { BrokerState } from './state.js';
import type { PppRequestLoss } from './events.js';
import type { PppBackendSettings } from '../options.js';
import type { Output } from './output.js';
import type { Request, Requester } from './requests.js';
import type { Worker } from './workers.js';

/** Rule 14: first in, first out over all, so everybody is one and the same to a queue that is fair to each. */
const EVERYBODY = '';

/** Finds each request a worker, and sees to it that none is lost or answered twice. */
export class Dispatcher<Asked extends Request> {
  readonly #settings: PppBackendSettings;
  readonly #books: BrokerState<Asked>;
  readonly #out: Output<unknown>;
  readonly #requester: Requester<Asked>;
  #open = 0;

  constructor(
    settings: PppBackendSettings,
    books: BrokerState<Asked>,
    out: Output<unknown>,
    requester: Requester<Asked>,
  ) {
    this.#settings = settings;
    this.#books = books;
    this.#out = out;
    this.#requester = requester;
  }

  /** Requests accepted and neither answered nor given up. */
  get open(): number {
    return this.#open;
  }

  /** Rules 8 and 14: takes the request to an idle worker or into the queue; false when there is no room for it. */
  accept(request: Asked): boolean {
    const { queue, bytes, idle, isTight } = this.#books;
    if (isTight && idle.size === 0) return false;
    if (queue.full || !bytes.take(request.cost)) return false;
    this.#open++;
    this.#out.counters.requests++;
    const worker = idle.take();
    if (worker === undefined) this.#wait(request, 'back');
    else this.#dispatch(request, worker);
    return true;
  }

  /** Rule 8: a worker without a job takes the next request, or rests as the most recently used one. */
  free(worker: Worker<Asked>): void {
    const request = this.#books.queue.shift();
    if (request === undefined) {
      this.#books.idle.release(worker.idle);
      this.#books.workers.renew(worker, this.#out.now);
    } else {
      this.#unwait(request);
      this.#dispatch(request, worker);
    }
  }

  /** Rule 9: the reply of the worker that has the job closes the request, whatever becomes of it, and frees the worker. */
  reply(worker: Worker<Asked>, request: Asked, reply: PppAddressedReply): void {
    this.#unburden(worker);
    this.#out.counters.replies++;
    this.#close(request);
    this.#requester.onReply(request, reply);
    this.free(worker);
  }

  /** Rule 13: the jobs of workers that are no more go to the next ones, or to the front of the queue, or are given up. */
  recover(lost: readonly Worker<Asked>[]): void {
    for (const worker of lost) {
      const request = worker.request;
      this.#unburden(worker);
      if (request === undefined) continue;
      const loss = this.#lossOf(request);
      if (loss === undefined) this.#resend(request);
      else this.giveUp(request, loss);
    }
  }

  /** Nobody waits for the reply any more. What waits is given up; what runs finishes, unheard. */
  abandon(request: Asked, reason: PppRequestLoss): void {
    if (request.place.taken) this.giveUp(request, reason);
    else request.abandoned ??= reason;
  }

  /** Gives up all that waits. */
  giveUpWaiting(reason: PppRequestLoss): void {
    for (const request of this.#books.queue.values()) this.giveUp(request, reason);
  }

  /** Gives up a request that waits, or whose worker is no more. */
  giveUp(request: Asked, reason: PppRequestLoss): void {
    if (this.#books.queue.remove(request.place)) this.#unwait(request);
    this.#out.counters.dropped[reason]++;
    this.#close(request);
    this.#requester.onLost(request, reason);
  }

  #wait(request: Asked, where: 'front' | 'back'): void {
    request.settle(this.#books.slack);
    if (where === 'front') this.#books.queue.pushFront(request.place);
    else this.#books.queue.push(request.place, EVERYBODY);
    this.#requester.onWaiting(request);
  }

  #unwait(request: Asked): void {
    request.leave(this.#books.slack);
    this.#requester.onWaited(request);
  }

  #dispatch(request: Asked, worker: Worker<Asked>): void {
    request.attempts++;
    worker.request = request;
    this.#books.workers.renew(worker, this.#out.now);
    this.#books.jobs?.renew(worker.patience, this.#out.now);
    this.#out.counters.dispatches++;
    const { addresses, content } = request;
    this.#out.sendToWorker(worker.peer, { kind: 'request', addresses, content });
  }

  #unburden(worker: Worker<Asked>): void {
    worker.request = undefined;
    this.#books.jobs?.remove(worker.patience);
  }

  #lossOf(request: Asked): PppRequestLoss | undefined {
    if (request.abandoned !== undefined) return request.abandoned;
    return request.attempts >= this.#settings.maxAttempts ? 'attempts-exhausted' : undefined;
  }

  #resend(request: Asked): void {
    this.#out.counters.resends++;
    const worker = this.#books.idle.take();
    if (worker === undefined) this.#wait(request, 'front');
    else this.#dispatch(request, worker);
  }

  /** The request has come to its end: nothing of it is kept. */
  #close(request: Asked): void {
    this.#open--;
    this.#books.bytes.give(request.cost);
  }
}
