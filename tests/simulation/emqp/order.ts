/**
 * Checker of broker rules 13, 14, 16 and 17 of docs/protocols/emqp.md: which worker gets a job, from which queue, and which client's job. It is exact
 * for jobs that were never given to a worker. Only the broker knows whether a dispatched job waits again, so no other job must go after it; the same
 * holds for a job that was requested again, unless it waits.
 */
import { decodeEmqpHeaders } from '@proj/frames/emqp';
import type { EmqpRequest } from '@proj/frames/emqp';
import type { Clock } from '@proj/heartbeat';
import { jobName } from './sight.js';
import type { BrokerChecker, BrokerSight } from './sight.js';

const DEFAULT = 'default';

/** A peer that leaves this way may finish its jobs. */
const ORDERLY: readonly string[] = ['bye', 'informed-again', 'drained'];

/** Positions before all jobs that came from clients. */
const FRONT = -1e9;

/** A client with more waiting jobs in a queue has many (ADR 38). */
const FEW = 4;

/** How long a `Driver` leaves a timer that has fallen due to the clock, whatever is read meanwhile. Milliseconds. */
const TIMER_LATE_MS = 20;

/** Not earlier and not later. */
type Span = readonly [from: number, to: number];

interface Worker {
  readonly weights: ReadonlyMap<string, number>;
  slots: number;
  /** When it last got a job, or a slot if it had none. */
  usedAt: number;
  /** When it last got a job from each queue: between these times. At first, the order of INFORM. */
  readonly servedAt: Map<string, Span>;
}

/** A job that certainly waits. */
interface Waiting {
  readonly name: string;
  /** The client. */
  readonly client: string;
  /** The queues it may be in: two if only the broker knows. */
  readonly queues: Set<string>;
  /** Lower is earlier, below 0 are jobs that came back; for a moved job it is unknown. */
  turn: number | undefined;
  /** When it began to wait: between these times. */
  readonly since: Span;
  /** The broker may have moved it to queue `default` by now. */
  isDue: boolean;
}

/** What the broker does with unknown queues. */
export interface OrderOptions {
  readonly unknownQueue: 'default' | 'wait';
  readonly requestTtlMs: number;
  /** Whether guaranteed jobs go to a store first. */
  readonly store: boolean;
}

/** Keeps its own record of slots, weights and queues. */
export class OrderChecker implements BrokerChecker {
  readonly #options: OrderOptions;
  readonly #clock: Clock;
  /** Queues of connections that have sent INFORM. */
  readonly #informed = new Map<string, ReadonlyMap<string, number>>();
  readonly #workers = new Map<string, Worker>();
  readonly #waiting = new Map<string, Waiting>();
  /** Jobs without an answer, and the workers that got them last. */
  readonly #given = new Map<string, { readonly worker: string; readonly request: EmqpRequest }>();
  /** Their clients, also for jobs that seem to be over: several for a job that was requested again. */
  readonly #clients = new Map<string, readonly string[]>();
  /** Jobs that must continue but that the broker has not had time to handle, and the queues they may be in. */
  readonly #returned = new Map<string, { readonly request: EmqpRequest; readonly queues: Set<string> }>();
  /** When a client's job was last taken in its turn, by queue and client. */
  readonly #turns = new Map<string, Span>();
  /** The most jobs that a client may have had waiting since its last turn, by queue and client. */
  readonly #peaks = new Map<string, number>();
  /** Jobs that seem to be over. The broker may know better. */
  readonly #doubtful = new Map<string, Waiting>();
  /** When a queue lost its last worker. */
  readonly #unservedSince = new Map<string, number>();
  /** Requests that are not accepted yet, by id: the last one, and those on their way to the store. */
  readonly #asked = new Map<string, EmqpRequest>();
  /** The worker whose first free slot has just been announced to the broker. */
  #freed: string | undefined;
  /** Counts events. */
  #turn = 0;

  constructor(options: OrderOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  onSight(sight: BrokerSight): void {
    this.#turn++;
    switch (sight.kind) {
      case 'crashed':
        for (const books of [this.#informed, this.#workers, this.#waiting, this.#given, this.#returned]) books.clear();
        for (const books of [this.#turns, this.#peaks, this.#doubtful, this.#unservedSince, this.#asked]) books.clear();
        // A job on disk is not new when it is requested again.
        if (!this.#options.store) this.#clients.clear();
        break;
      case 'joined':
        this.#onJoined(sight.peer);
        break;
      case 'left':
        this.#onLeft(sight.peer, sight.reason);
        break;
      case 'received':
        this.#settle();
        this.#requireNoneIdle();
        this.#onReceived(sight);
        break;
      case 'returned':
        if (sight.command.kind === 'request') this.#onReturned(sight.peer, sight.command);
        break;
      case 'sent':
        if (sight.command.kind === 'accepted') this.#onAccepted(sight.peer, sight.command.of);
        else if (sight.command.kind === 'request') this.#onDispatch(sight.peer, sight.command);
        else if (sight.command.kind === 'result') this.#onAnswered(sight.command.of);
        break;
      default:
        break;
    }
  }

  /** Everything that the broker had to do before it read on is done. */
  #settle(): void {
    const now = this.#clock.now();
    this.#freed = undefined;
    for (const [id, { request, queues }] of this.#returned) {
      queues.add(this.#route(request));
      const turn = FRONT + this.#turn;
      const name = jobName(request.body);
      const [client = ''] = this.#clients.get(id) ?? [];
      this.#waiting.set(id, { name, client, queues, turn, since: [0, now], isDue: false });
    }
    this.#returned.clear();
    for (const job of this.#waiting.values()) {
      if (job.isDue) for (const queue of job.queues) if (queue !== DEFAULT) job.queues.delete(queue);
      this.#age(job, now);
    }
  }

  /**
   * Rule 14: a job that has waited too long in a queue without workers is moved, at the latest when the broker has read the next
   * message after a timer may have been late.
   */
  #age(job: Waiting, now: number): void {
    const queue = [...job.queues].find((each) => each !== DEFAULT);
    if (queue === undefined || this.#isServed(queue)) {
      job.isDue = false;
      return;
    }
    const [from, to] = job.since.map(
      (since) => Math.max(since, this.#unservedSince.get(queue) ?? 0) + this.#options.requestTtlMs,
    ) as [number, number];
    if (from > now) return;
    job.queues.add(DEFAULT);
    this.#grew(DEFAULT, job.client);
    job.turn = undefined;
    job.isDue = to + TIMER_LATE_MS <= now;
  }

  #requireNoneIdle(): void {
    for (const { name, queues } of this.#waiting.values()) {
      const [queue = DEFAULT] = queues;
      if (queues.size > 1) continue;
      for (const { slots, weights } of this.#workers.values())
        if (slots > 0 && weights.has(queue)) throw new Error(`${name} waits in ${queue} beside a free slot`);
    }
  }

  #onReceived({ peer, command }: BrokerSight & { kind: 'received' }): void {
    switch (command.kind) {
      case 'inform-worker':
        this.#informed.set(peer, new Map(command.queues?.map(({ weight, name }) => [name, weight])));
        break;
      case 'ready':
        this.#onReady(peer);
        break;
      case 'request':
        for (const [id, request] of this.#asked) if (!this.#isStored(request)) this.#asked.delete(id);
        if (!this.#clients.has(command.id)) this.#asked.set(command.id, command);
        this.#clients.set(command.id, [...(this.#clients.get(command.id) ?? []), peer]);
        break;
      case 'result':
        // Only the broker knows whether that ends the job.
        this.#onAnswered(command.of);
        break;
      default:
        break;
    }
  }

  #onJoined(peer: string): void {
    const weights = this.#informed.get(peer);
    if (weights === undefined) return;
    const servedAt = new Map([...weights.keys()].map((queue, i): [string, Span] => [queue, [i - 1000, i - 1000]]));
    this.#workers.set(peer, { weights, slots: 0, usedAt: 0, servedAt });
  }

  /** A worker has done the job, or it was given up. */
  #onAnswered(of: string | undefined): void {
    if (of === undefined) return;
    const job = this.#waiting.get(of);
    if (job !== undefined) this.#doubtful.set(of, job);
    for (const books of [this.#waiting, this.#given, this.#returned]) books.delete(of);
  }

  #onLeft(peer: string, reason: string): void {
    const worker = this.#workers.get(peer);
    this.#workers.delete(peer);
    for (const queue of worker?.weights.keys() ?? [])
      if (!this.#isServed(queue)) this.#unservedSince.set(queue, this.#clock.now());
    if (!ORDERLY.includes(reason)) this.#goOn(peer);
    for (const { request, queues } of this.#returned.values()) queues.add(this.#route(request));
  }

  /** Rule 17: jobs of the dead worker that must be answered. */
  #goOn(peer: string): void {
    for (const [id, { worker, request }] of this.#given) {
      const { guarantee, replyRequested } = decodeEmqpHeaders(request.headers);
      if (worker !== peer || !guarantee || !replyRequested) continue;
      this.#given.delete(id);
      this.#returned.set(id, { request, queues: new Set() });
    }
  }

  #onReady(peer: string): void {
    const worker = this.#workers.get(peer);
    if (worker === undefined) return;
    worker.slots++;
    if (worker.slots > 1) return;
    worker.usedAt = this.#turn;
    this.#freed = peer;
  }

  #onAccepted(client: string, of: string): void {
    const request = this.#asked.get(of);
    if (request === undefined) return;
    this.#asked.delete(of);
    // The answer came from the disk, not from a worker.
    if (this.#isStored(request)) this.#freed = undefined;
    const now = this.#clock.now();
    const queues = new Set([this.#route(request)]);
    const name = jobName(request.body);
    this.#waiting.set(of, { name, client, queues, turn: this.#turn, since: [now, now], isDue: false });
    for (const queue of queues) this.#grew(queue, client);
  }

  #onReturned(peer: string, request: EmqpRequest): void {
    const isKnown = this.#given.get(request.id)?.worker === peer && this.#workers.has(peer);
    this.#given.delete(request.id);
    if (isKnown) this.#returned.set(request.id, { request, queues: new Set() });
  }

  #onDispatch(peer: string, request: EmqpRequest): void {
    const { id, queue: asked, body } = request;
    const name = jobName(body);
    const worker = this.#workers.get(peer);
    if (worker === undefined) throw new Error(`${name} went to a worker that is not registered`);
    if (worker.slots <= 0) throw new Error(`${name} went to a worker without a slot`);
    const job = this.#waiting.get(id);
    if (job !== undefined) this.#age(job, this.#clock.now());
    const isDrain = this.#freed === peer;
    // For a job from the store, the waiting time is unknown.
    const isUnsure = isDrain || this.#isStored(request);
    const mayBeIn = job?.queues ?? new Set(isUnsure ? [asked, DEFAULT] : [this.#isServed(asked) ? asked : DEFAULT]);
    const queues = [...mayBeIn].filter((queue) => worker.weights.has(queue));
    if (queues.length === 0) throw new Error(`${name} went to a worker that does not take ${[...mayBeIn].join()}`);
    const wrong = queues.map((queue) =>
      isDrain ? this.#wrongTurn(worker, queue, job) : this.#wrongWorker(worker, queue),
    );
    const right = queues.filter((_, i) => wrong[i] === undefined);
    if (right.length === 0) throw new Error(`${name} ${wrong[0] ?? ''}`);
    this.#waiting.delete(id);
    this.#doubtful.delete(id);
    for (const queue of right) {
      const [from] = worker.servedAt.get(queue) ?? [0];
      worker.servedAt.set(queue, [right.length === 1 ? this.#turn : from, this.#turn]);
      const clients = this.#clients.get(id) ?? [];
      const isCertain = right.length === 1 && clients.length === 1;
      if (isDrain) for (const client of clients) this.#tookTurn(queue, client, job?.turn, isCertain);
    }
    worker.usedAt = this.#turn;
    worker.slots--;
    this.#freed = undefined;
    this.#returned.delete(id);
    this.#given.set(id, { worker: peer, request });
  }

  /** Rule 13: the highest weight; among equals the least recently used. */
  #wrongWorker(chosen: Worker, queue: string): string | undefined {
    const weight = chosen.weights.get(queue) ?? 0;
    for (const other of this.#workers.values()) {
      const rival = other === chosen || other.slots <= 0 ? undefined : other.weights.get(queue);
      if (rival === undefined || rival < weight) continue;
      if (rival > weight) return `went to weight ${weight} although ${rival} had a slot`;
      if (other.usedAt < chosen.usedAt) return 'went to a worker that was used more recently than its equal';
    }
    return undefined;
  }

  /** Rule 13: the queue with the highest weight, among equals the least recently served; from it the first job. */
  #wrongTurn(worker: Worker, queue: string, job: Waiting | undefined): string | undefined {
    const weight = worker.weights.get(queue) ?? 0;
    const [servedFrom] = worker.servedAt.get(queue) ?? [0];
    for (const other of this.#waiting.values()) {
      const [place = DEFAULT] = other.queues;
      const rival = other === job || other.queues.size > 1 ? undefined : worker.weights.get(place);
      if (rival === undefined || rival < weight) continue;
      if (rival > weight) return `of weight ${weight} went before ${other.name} of weight ${rival}`;
      const [, servedTo] = worker.servedAt.get(place) ?? [0, 0];
      if (place === queue) {
        if (this.#goesBefore(other, job, queue)) return `overtook ${other.name} in ${queue}`;
      } else if (servedTo < servedFrom) return `went although ${place} was served less recently than ${queue}`;
    }
    return undefined;
  }

  /** Whether this job, which is certainly in the queue, goes before the job, which may be. */
  #goesBefore(other: Waiting, job: Waiting | undefined, queue: string): boolean {
    if (job?.turn === undefined || job.turn < 0 || (other.turn ?? 0) < 0 || job.client === other.client)
      return (other.turn ?? Infinity) < (job?.turn ?? -Infinity);
    const [from] = this.#turns.get(`${queue} ${job.client}`) ?? [0, 0];
    const [, to] = this.#turns.get(`${queue} ${other.client}`) ?? [0, 0];
    const mine = [...this.#waiting.values()].filter(({ client, queues }) => client === job.client && queues.has(queue));
    const begun = Math.min(...mine.map(({ turn = 0 }) => turn));
    const fifth = this.#certain(queue, other.client)[FEW];
    // A client whose turn it was, or that had nothing here before, goes behind all of its kind that wait.
    if (this.#hasFew(queue, job.client) && this.#hasFew(queue, other.client))
      return Math.max(to, other.turn ?? Infinity) < Math.max(from, begun);
    // So does one that has many as of now. Between the kinds, only the broker knows whose turn it is.
    return this.#hasMany(queue, job.client) && fifth !== undefined && Math.max(to, fifth) < Math.max(from, begun);
  }

  /** When the jobs that a client certainly has waiting in a queue began to wait, apart from those that came back. */
  #certain(queue: string, client: string): readonly number[] {
    return [...this.#waiting.values()]
      .filter((job) => job.client === client && job.queues.size === 1 && job.queues.has(queue))
      .flatMap(({ turn = -1 }) => (turn < 0 ? [] : [turn]))
      .toSorted((one, next) => one - next);
  }

  #hasFew(queue: string, client: string): boolean {
    return (this.#peaks.get(`${queue} ${client}`) ?? 0) <= FEW;
  }

  #hasMany(queue: string, client: string): boolean {
    return this.#certain(queue, client).length > FEW;
  }

  #grew(queue: string, client: string): void {
    const key = `${queue} ${client}`;
    this.#peaks.set(key, Math.max(this.#peaks.get(key) ?? 0, this.#mostOf(queue, client)));
  }

  /** The most jobs that may wait there. */
  #mostOf(queue: string, client: string): number {
    const all = [...this.#waiting.values(), ...this.#doubtful.values()];
    return all.filter((job) => job.client === client && job.queues.has(queue)).length;
  }

  /** A job that came back uses no client's turn, unless it was moved. */
  #tookTurn(queue: string, client: string, turn: number | undefined, certain: boolean): void {
    const key = `${queue} ${client}`;
    const [from] = this.#turns.get(key) ?? [0];
    const isTurn = certain && (turn ?? -1) >= 0;
    this.#turns.set(key, [isTurn ? this.#turn : from, this.#turn]);
    const most = this.#mostOf(queue, client);
    if (isTurn || most === 0) this.#peaks.set(key, most);
  }

  /** Rule 14. */
  #route(request: EmqpRequest): string {
    const { queue } = request;
    const waits = this.#options.unknownQueue === 'wait' || this.#isStored(request);
    return this.#isServed(queue) || waits ? queue : DEFAULT;
  }

  #isStored({ headers }: EmqpRequest): boolean {
    return this.#options.store && decodeEmqpHeaders(headers).guarantee;
  }

  #isServed(queue: string): boolean {
    for (const { weights } of this.#workers.values()) if (weights.has(queue)) return true;
    return false;
  }
}
