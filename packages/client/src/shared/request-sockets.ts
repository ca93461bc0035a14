/** The sockets of a client, as numbers: which are open, which are free, and which one a call gets. Knows no protocol. */
import { Deadline, DeadlineList } from '@proj/heartbeat';

/** One socket to one endpoint, with at most one open request: the conversation is the correlation. */
export class RequestSocket<Call> {
  /** Never reused. */
  readonly id: number;
  /** Index into the list of endpoints. */
  readonly endpoint: number;
  /** The call with the open request; `undefined` while the socket is free. */
  call: Call | undefined;
  /** @internal When the free socket is closed. */
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
  /** Limit of open sockets, at least 1. */
  readonly sockets: number;
  /** How long a free socket stays open. Milliseconds, at least 1. */
  readonly idleMs: number;
}

/** Called for each socket as it opens and closes. */
export interface RequestSocketsListener<Call> {
  onOpen(socket: RequestSocket<Call>): void;
  onClose(socket: RequestSocket<Call>): void;
}

/** A bounded set of sockets. The last one freed is used first, so that surplus sockets expire. */
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

  get size(): number {
    return this.#open.size;
  }

  /** True if there is no socket for another call: the limit is reached, and none is free. */
  get full(): boolean {
    return this.#open.size >= this.#options.sockets && this.#free.every((sockets) => sockets.length === 0);
  }

  /** When the next free socket expires; `Infinity` if none is free. */
  get deadline(): number {
    return this.#expiry.deadline;
  }

  get(id: number): RequestSocket<Call> | undefined {
    return this.#open.get(id);
  }

  /**
   * A socket to that endpoint without a call: a free one, otherwise a new one, if necessary replacing a free one to another endpoint.
   * `undefined` if all are in use. The caller must put a call on it at once.
   */
  acquire(endpoint: number): RequestSocket<Call> | undefined {
    const free = this.#freeAt(endpoint).pop();
    if (free !== undefined) {
      this.#expiry.remove(free.expiry);
      return free;
    }
    if (this.#open.size >= this.#options.sockets) {
      const elsewhere = this.#free.find((sockets) => sockets.length > 0)?.[0];
      if (elsewhere === undefined) return undefined;
      this.discard(elsewhere);
    }
    return this.open(endpoint);
  }

  /** A new socket. The caller ensures that there is room. */
  open(endpoint: number): RequestSocket<Call> {
    const socket = new RequestSocket<Call>(++this.#last, endpoint);
    this.#open.set(socket.id, socket);
    this.#listener.onOpen(socket);
    return socket;
  }

  free(socket: RequestSocket<Call>, now: number): void {
    socket.call = undefined;
    this.#freeAt(socket.endpoint).push(socket);
    this.#expiry.renew(socket.expiry, now);
  }

  /** Closes the socket permanently, free or not. */
  discard(socket: RequestSocket<Call>): void {
    const free = this.#freeAt(socket.endpoint);
    const place = free.indexOf(socket);
    if (place >= 0) free.splice(place, 1);
    this.#expiry.remove(socket.expiry);
    this.#open.delete(socket.id);
    this.#listener.onClose(socket);
  }

  /** Closes the free sockets whose time has come. */
  expire(now: number): void {
    for (let socket = this.#expiry.takeDue(now); socket !== undefined; socket = this.#expiry.takeDue(now))
      this.discard(socket);
  }

  discardAll(): void {
    for (const socket of this.#open.values()) this.discard(socket);
  }

  /** The open sockets, oldest first. For listings and invariants; do not change the set during the iteration. */
  values(): IterableIterator<RequestSocket<Call>> {
    return this.#open.values();
  }

  assertInvariants(): void {
    const free = this.#free.flat();
    const expiring = new Set(this.#expiry.values());
    if (this.#open.size > this.#options.sockets) throw new Error(`${this.#open.size} sockets are open`);
    if (free.length !== expiring.size) throw new Error(`${free.length} sockets are free, ${expiring.size} expire`);
    for (const socket of this.#open.values()) {
      const isFree = this.#freeAt(socket.endpoint).includes(socket);
      if (isFree !== expiring.has(socket))
        throw new Error(`socket ${socket.id} is free but never expires, or the reverse`);
      if (isFree !== (socket.call === undefined)) throw new Error(`socket ${socket.id} is free and in use, or neither`);
    }
    if (free.some((socket) => this.#open.get(socket.id) !== socket)) throw new Error('a closed socket is free');
  }

  #freeAt(endpoint: number): RequestSocket<Call>[] {
    return this.#free[endpoint] as RequestSocket<Call>[];
  }
}
