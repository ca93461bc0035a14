/**
 * A worker's one job and the few requests that wait behind it, for protocols that know one job per worker: real brokers sometimes send a
 * second one.
 */

/** A request in hand and the number of its run. */
export interface Job<Request> {
  readonly id: number;
  readonly request: Request;
}

/**
 * Tracks one handler. At most one runs at any time: a job whose result is no longer wanted holds the slot until its handler has ended, and
 * requests wait meanwhile.
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

  get waiting(): number {
    return this.#queue.length;
  }

  /** `full`: the next request could neither run nor wait. */
  get load(): 'idle' | 'busy' | 'full' {
    if (this.#running === undefined) return 'idle';
    return this.#queue.length < this.#queueMax ? 'busy' : 'full';
  }

  /** Accepts a request: returns the job to run now, or `undefined` if it waits. Do not call it when full. */
  take(request: Request): Job<Request> | undefined {
    if (this.#running === undefined) return this.#begin(request);
    this.#queue.push(request);
    return undefined;
  }

  /** The handler of job `id` has ended. Returns the request if its result is still wanted. */
  finish(id: number): Request | undefined {
    if (this.#running?.id !== id) return undefined;
    const request = this.#wanted ? this.#running.request : undefined;
    this.#running = undefined;
    this.#wanted = false;
    return request;
  }

  /** The next job to run; `undefined` if none waits or a handler still runs. */
  next(): Job<Request> | undefined {
    if (this.#running !== undefined) return undefined;
    const request = this.#queue.shift();
    return request === undefined ? undefined : this.#begin(request);
  }

  /** Drops the waiting requests and the current result. Returns the number of the job whose handler must stop. */
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
