/**
 * The one job a worker may hold and the few requests that may wait behind it. MDP worker rules 4 and 7, PPP worker rule 9:
 * both protocols know one job per worker, and real brokers hand out a second one now and then.
 */

/** A request in hand and the number under which its handler runs. */
export interface Job<Request> {
  readonly id: number;
  readonly request: Request;
}

/**
 * Books about one handler. At most one runs at any time: a job whose result is no longer wanted keeps its place until its
 * handler has come to an end, and what arrives meanwhile waits.
 */
export class JobSlot<Request> {
  readonly #queueMax: number;
  readonly #queue: Request[] = [];
  #ids = 0;
  #running: Job<Request> | undefined;
  #wanted = false;

  /** `queueMax`: how many requests may wait. */
  constructor(queueMax: number) {
    this.#queueMax = queueMax;
  }

  /** The job whose result is wanted. */
  get current(): Job<Request> | undefined {
    return this.#wanted ? this.#running : undefined;
  }

  /** True while a handler runs, wanted or not. */
  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** True when the next request could neither run nor wait. */
  get isFull(): boolean {
    return this.isBusy && this.#queue.length >= this.#queueMax;
  }

  /** Takes a request: a job to run now, or `undefined` when it waits. Not to be called when full. */
  take(request: Request): Job<Request> | undefined {
    if (this.#running === undefined) return this.#begin(request);
    this.#queue.push(request);
    return undefined;
  }

  /** The handler of job `id` has come to an end. Returns the request when its result is still wanted. */
  finish(id: number): Request | undefined {
    if (this.#running?.id !== id) return undefined;
    const request = this.#wanted ? this.#running.request : undefined;
    this.#running = undefined;
    this.#wanted = false;
    return request;
  }

  /** The next job to run; `undefined` when none waits or a handler still runs. */
  next(): Job<Request> | undefined {
    if (this.#running !== undefined) return undefined;
    const request = this.#queue.shift();
    return request === undefined ? undefined : this.#begin(request);
  }

  /** Forgets what waits and stops wanting the current result. Returns the number of the job whose handler is to stop. */
  abandon(): number | undefined {
    const id = this.current?.id;
    this.#wanted = false;
    this.#queue.length = 0;
    return id;
  }

  #begin(request: Request): Job<Request> {
    this.#running = { id: ++this.#ids, request };
    this.#wanted = true;
    return this.#running;
  }
}
