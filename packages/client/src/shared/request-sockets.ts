/** The sockets of a client as numbers: which are open, which are free, which one a call gets. 18/MDP and 6/PPP clients. */
import { Deadline, DeadlineList } from '@proj/heartbeat';

/** One socket to one endpoint, with at most one open request: the conversation is the correlation. */
export class RequestSocket<Call> {
  /** Never used twice. */
  readonly id: number;
  /** Index into the list of endpoints. */
  readonly endpoint: number;
  /** Whose request is open; undefined while the lane is free. */
  call: Call | undefined;
  /** @internal When the free lane is closed. */
  readonly expiry = new Deadline<RequestSocket<Call>>(this);

  constructor(id: number, endpoint: number) {
    this.id = id;
    this.endpoint = endpoint;
  }
}

/** Settings of {@link RequestSockets}. */
export interface RequestSocketsOptions {
  /** Number of endpoints, at least 1. */
  readonly endpoints: number;
  /** Most lanes open at a time, at least 1. */
  readonly sockets: number;
  /** How long a free lane stays open. Milliseconds, at least 1. */
  readonly idleMs: number;
}

/** Told of each lane as it comes and goes. */
export interface RequestSocketsListener<Call> {
  onOpen(lane: RequestSocket<Call>): void;
  onClose(lane: RequestSocket<Call>): void;
}

/** A bounded set of lanes. A free lane is used again, the last one first, so that surplus ones fall out of use and expire. */
export class RequestSockets<Call> {
  readonly #options: RequestSocketsOptions;
  readonly #listener: RequestSocketsListener<Call>;
  readonly #open = new Map<number, RequestSocket<Call>>();
  readonly #free: RequestSocket<Call>[][];
  readonly #expiry: DeadlineList<RequestSocket<Call>>;
  #last = 0;

  constructor(options: RequestSocketsOptions, listener: RequestSocketsListener<Call>) {
    this.#options = options;
    this.#listener = listener;
    this.#free = Array.from({ length: options.endpoints }, () => []);
    this.#expiry = new DeadlineList(options.idleMs);
  }

  /** Number of open lanes. */
  get size(): number {
    return this.#open.size;
  }

  /** True when no lane can be had: as many as allowed are open, and none is free. */
  get full(): boolean {
    return this.#open.size >= this.#options.sockets && this.#free.every((lanes) => lanes.length === 0);
  }

  /** When the next free lane expires; `Infinity` when none is free. */
  get deadline(): number {
    return this.#expiry.deadline;
  }

  /** The open lane of that number. */
  get(id: number): RequestSocket<Call> | undefined {
    return this.#open.get(id);
  }

  /**
   * A lane to that endpoint without a call: a free one, else a new one, if need be in the place of one that is free
   * elsewhere. `undefined` when all are in use. The caller puts a call on it before anything else happens.
   */
  acquire(endpoint: number): RequestSocket<Call> | undefined {
    const free = this.#freeAt(endpoint).pop();
    if (free !== undefined) {
      this.#expiry.remove(free.expiry);
      return free;
    }
    if (this.#open.size >= this.#options.sockets) {
      const elsewhere = this.#free.find((lanes) => lanes.length > 0)?.[0];
      if (elsewhere === undefined) return undefined;
      this.discard(elsewhere);
    }
    return this.open(endpoint);
  }

  /** A new lane. The caller has made sure that there is room. */
  open(endpoint: number): RequestSocket<Call> {
    const lane = new RequestSocket<Call>(++this.#last, endpoint);
    this.#open.set(lane.id, lane);
    this.#listener.onOpen(lane);
    return lane;
  }

  /** Takes the call off the lane, which is free from now on. */
  free(lane: RequestSocket<Call>, now: number): void {
    lane.call = undefined;
    this.#freeAt(lane.endpoint).push(lane);
    this.#expiry.renew(lane.expiry, now);
  }

  /** Closes the lane for good, free or not. */
  discard(lane: RequestSocket<Call>): void {
    const free = this.#freeAt(lane.endpoint);
    const place = free.indexOf(lane);
    if (place >= 0) free.splice(place, 1);
    this.#expiry.remove(lane.expiry);
    this.#open.delete(lane.id);
    this.#listener.onClose(lane);
  }

  /** Closes the free lanes whose time has come. */
  expire(now: number): void {
    for (let lane = this.#expiry.takeDue(now); lane !== undefined; lane = this.#expiry.takeDue(now)) this.discard(lane);
  }

  /** Closes all lanes. */
  discardAll(): void {
    for (const lane of this.#open.values()) this.discard(lane);
  }

  /** The open lanes, oldest first. For listings and invariants; do not change the set meanwhile. */
  values(): IterableIterator<RequestSocket<Call>> {
    return this.#open.values();
  }

  /** Throws when the books on free lanes do not agree. */
  assertInvariants(): void {
    const free = this.#free.flat();
    const expiring = new Set(this.#expiry.values());
    if (this.#open.size > this.#options.sockets) throw new Error(`${this.#open.size} lanes are open`);
    if (free.length !== expiring.size) throw new Error(`${free.length} lanes are free, ${expiring.size} expire`);
    for (const lane of this.#open.values()) {
      const isFree = this.#freeAt(lane.endpoint).includes(lane);
      if (isFree !== expiring.has(lane)) throw new Error(`lane ${lane.id} is free but never expires, or the reverse`);
      if (isFree !== (lane.call === undefined)) throw new Error(`lane ${lane.id} is free and in use, or neither`);
    }
    if (free.some((lane) => this.#open.get(lane.id) !== lane)) throw new Error('a closed lane is free');
  }

  #freeAt(endpoint: number): RequestSocket<Call>[] {
    return this.#free[endpoint] as RequestSocket<Call>[];
  }
}
