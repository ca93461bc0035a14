/**
 * Majordomo broker, rule 17: how long requests wait. One limit holds while their service has no worker, another (or none)
 * while all its workers are busy; a change between the two starts the time anew.
 *
 * A change concerns every waiting request of the service, yet costs O(1): those that waited before it share one deadline,
 * the service's; those that come after it have their own. A number on both sides tells them apart.
 */
import { Deadline, DeadlineList } from '@proj/heartbeat';
import type { Request } from './requests.js';
import type { Service } from './services.js';

/** When a request will have waited too long, if its service is still in the situation in which it began to wait. */
export class WaitDeadline extends Deadline<Request> {
  situation = 0;
}

/** Deadlines of one situation. */
interface Limit {
  readonly requests: DeadlineList<Request>;
  readonly services: DeadlineList<Service>;
}

/** The patience of all waiting requests. */
export class RequestExpiry {
  readonly #unserved: Limit;
  readonly #busy: Limit | undefined;
  readonly #limits: readonly Limit[];

  /** Both in milliseconds; `busyTtlMs` 0 means no limit. */
  constructor(options: { readonly requestTtlMs: number; readonly busyTtlMs: number }) {
    this.#unserved = newLimit(options.requestTtlMs);
    this.#busy = options.busyTtlMs > 0 ? newLimit(options.busyTtlMs) : undefined;
    this.#limits = this.#busy === undefined ? [this.#unserved] : [this.#unserved, this.#busy];
  }

  /** When something may have waited too long. */
  get deadline(): number {
    let deadline = Infinity;
    for (const limit of this.#limits) {
      deadline = Math.min(deadline, limit.requests.deadline, limit.services.deadline);
    }
    return deadline;
  }

  /** The request has joined its service's queue. */
  start(request: Request, now: number): void {
    const limit = this.#limitOf(request.service);
    if (limit === undefined) request.patience = undefined;
    else {
      request.patience ??= new WaitDeadline(request);
      request.patience.situation = request.service.situation;
      limit.requests.renew(request.patience, now);
    }
  }

  /** The request has left the queue. */
  stop(request: Request): void {
    const { patience } = request;
    if (patience === undefined) return;
    for (const limit of this.#limits) limit.requests.remove(patience);
  }

  /** The service has got its first worker or lost its last. */
  change(service: Service, now: number): void {
    service.situation++;
    this.forget(service);
    if (service.queue.size > 0) this.#limitOf(service)?.services.renew(service.patience, now);
  }

  /** The service is no more. */
  forget(service: Service): void {
    for (const limit of this.#limits) limit.services.remove(service.patience);
  }

  /** Requests that have waited too long. They are still in their queues. */
  takeExpired(now: number): Request[] {
    const expired: Request[] = [];
    for (const limit of this.#limits) {
      for (let request = limit.requests.takeDue(now); request !== undefined; request = limit.requests.takeDue(now)) {
        if (request.patience?.situation === request.service.situation) expired.push(request);
      }
      for (let service = limit.services.takeDue(now); service !== undefined; service = limit.services.takeDue(now)) {
        for (const request of service.queue.values()) {
          if (request.patience?.situation !== service.situation) expired.push(request);
        }
      }
    }
    return expired;
  }

  /** Lets nothing expire before `now + ms`. */
  postpone(ms: number, now: number): void {
    for (const limit of this.#limits) {
      limit.requests.postpone(ms, now);
      limit.services.postpone(ms, now);
    }
  }

  /** Deadlines that stand, for invariants. */
  *values(): IterableIterator<Deadline<Request> | Deadline<Service>> {
    for (const limit of this.#limits) {
      for (const { patience } of limit.requests.values()) if (patience !== undefined) yield patience;
      for (const service of limit.services.values()) yield service.patience;
    }
  }

  #limitOf(service: Service): Limit | undefined {
    return service.workers === 0 ? this.#unserved : this.#busy;
  }
}

function newLimit(ms: number): Limit {
  return { requests: new DeadlineList<Request>(ms), services: new DeadlineList<Service>(ms) };
}
