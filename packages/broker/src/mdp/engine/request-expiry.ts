/**
 * Majordomo broker, rule 17: how long requests wait. One limit applies while their service has no worker, another (or none) while all its
 * workers are busy; a change between the two restarts the time.
 *
 * A change affects every waiting request of the service, yet costs O(1): requests that waited before it share the service's deadline, and later
 * ones have their own. The number of the situation distinguishes them.
 */
import { type Deadline, DeadlineList } from '@proj/heartbeat';
import { dueOf } from '../../shared/due.js';
import { PAUSE_MS, SLICE } from '../../shared/errands.js';
import { type Request, type Service, WaitDeadline } from './records.js';

/** The deadlines of one situation. */
interface Limit {
  readonly requests: DeadlineList<Request>;
  readonly services: DeadlineList<Service>;
}

/** Expiry of all waiting requests. */
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

  /** When a request may have waited too long. */
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
    if (limit === undefined) request.expiry = undefined;
    else {
      request.expiry ??= new WaitDeadline(request);
      request.expiry.situation = request.service.situation;
      limit.requests.renew(request.expiry, now);
    }
  }

  /** The request has left the queue. */
  stop(request: Request): void {
    const { expiry } = request;
    if (expiry === undefined) return;
    for (const limit of this.#limits) limit.requests.remove(expiry);
  }

  /** The service has gained its first worker or lost its last. */
  change(service: Service, now: number): void {
    service.situation++;
    this.forget(service);
    if (service.queue.size > 0) this.#limitOf(service)?.services.renew(service.expiry, now);
  }

  /** The service no longer exists. */
  forget(service: Service): void {
    for (const limit of this.#limits) limit.services.remove(service.expiry);
  }

  /** Requests that have waited too long, a slice of each kind; they are still in their queues, and must leave them. */
  takeExpired(now: number): Request[] {
    const expired: Request[] = [];
    for (const { requests, services } of this.#limits) {
      for (const request of dueOf(requests, now)) {
        if (request.expiry?.situation === request.service.situation) expired.push(request);
      }
      takeLongest(services, now, expired);
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

  /** All deadlines, for invariants. */
  *values(): IterableIterator<Deadline<Request> | Deadline<Service>> {
    for (const limit of this.#limits) {
      for (const { expiry } of limit.requests.values()) if (expiry !== undefined) yield expiry;
      for (const service of limit.services.values()) yield service.expiry;
    }
  }

  #limitOf(service: Service): Limit | undefined {
    return service.workers === 0 ? this.#unserved : this.#busy;
  }
}

/** The requests that waited before the situations of these services, which are over. */
function takeLongest(services: DeadlineList<Service>, now: number, expired: Request[]): void {
  let left = SLICE;
  for (let service = services.first; service !== undefined && services.deadline <= now; service = services.first) {
    for (const request of service.queue.values()) {
      if (request.expiry?.situation === service.situation) continue;
      if (left-- === 0) {
        services.postpone(PAUSE_MS, now);
        return;
      }
      expired.push(request);
    }
    services.remove(service.expiry);
  }
}

function newLimit(ms: number): Limit {
  return { requests: new DeadlineList<Request>(ms), services: new DeadlineList<Service>(ms) };
}
