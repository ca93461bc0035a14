/**
 * NFP broker: names of workers, and which jobs are with each: rules 12 and 13. A name outlives its registration, since the worker behind it
 * keeps its jobs on disk and comes back. Books only.
 */
import { latin1 } from '@proj/frames';
import { isNfpName, nfpRoutingId } from '@proj/frames/nfp';
import { Deadline, DeadlineList } from '@proj/heartbeat';
import type { Job } from './job-table.js';
import { EVERY_SERVICE } from './names.js';
import type { Worker } from './workers.js';

/** How long a name that has left is known. */
const KNOWN_MS = 600_000;

/**
 * Where one worker is with a job: it is to be sent when the worker is there (`held`); it was sent, and nothing has been said about it (`sent`); the
 * worker has it (`taken`); another worker has it now, and this one is to drop it (`moved`).
 */
export type PartState = 'held' | 'sent' | 'taken' | 'moved';

/** A job at one worker. */
export class Part {
  readonly job: Job;
  readonly holder: Holder;
  state: PartState;
  /** The worker was told to drop it. */
  isTold = false;
  /** It has answered that it does not have it any more, or not for long. */
  hasDropped = false;
  /** When it was last sent, counted in such. */
  sent = 0;

  constructor(job: Job, holder: Holder, state: PartState) {
    this.job = job;
    this.holder = holder;
    this.state = state;
  }
}

/** A name of a worker, there or not. */
export class Holder {
  readonly key: string;
  readonly name: string;
  /** What it was last registered for, or is waited for at. */
  service: string;
  /** Its registration. */
  worker: Worker | undefined;
  /** The registration that its connection ended, and until when that may go on. */
  away: { readonly worker: Worker; readonly until: number } | undefined;
  /** There were too many names without it: it goes once nothing is with it. */
  isForgotten = false;
  /** By uuid, in the order in which they came to it. */
  readonly parts = new Map<string, Part>();
  /** @internal When it is forgotten; in no list while it is there, or was never registered. */
  readonly memory = new Deadline<Holder>(this);
  /** @internal When its jobs wait for it no longer. */
  readonly patience = new Deadline<Holder>(this);

  constructor(key: string, name: string, service: string) {
    this.key = key;
    this.name = name;
    this.service = service;
  }

  /** Its registration does not go on. */
  end(): void {
    this.away = undefined;
  }
}

/** All names that are there, that were there lately, or that a job waits for. Every operation but `awayFrom` is O(1). */
export class Holders {
  readonly #byKey = new Map<string, Holder>();
  /** Those without a registration, by service. */
  readonly #absent = new Map<string, Set<Holder>>();
  readonly #memory = new DeadlineList<Holder>(KNOWN_MS);
  readonly #patience: DeadlineList<Holder>;
  readonly #max: number;
  #absentCount = 0;

  constructor(options: { readonly returnMs: number; readonly workersMax: number }) {
    this.#patience = new DeadlineList(options.returnMs);
    this.#max = options.workersMax;
  }

  /** Names without a registration. */
  get absent(): number {
    return this.#absentCount;
  }

  /** When jobs next stop waiting for their worker. */
  get deadline(): number {
    return this.#patience.deadline;
  }

  get size(): number {
    return this.#byKey.size;
  }

  find(key: string): Holder | undefined {
    return this.#byKey.get(key);
  }

  named(name: string): Holder | undefined {
    return isNfpName(name) ? this.#byKey.get(latin1(nfpRoutingId(name))) : undefined;
  }

  /** The worker of that name has registered. */
  arrive(worker: Worker): Holder {
    const { key } = worker.peer;
    const holder = this.#byKey.get(key) ?? this.#add(key, worker.name, worker.service.name);
    if (holder.worker === undefined) this.#leaveAbsent(holder);
    this.#memory.remove(holder.memory);
    this.#patience.remove(holder.patience);
    holder.away = undefined;
    holder.isForgotten = false;
    holder.worker = worker;
    holder.service = worker.service.name;
    return holder;
  }

  /** Its registration is over, or goes on until `awayUntil` without a connection. Its jobs wait from now on. */
  leave(holder: Holder, awayUntil: number | undefined, now: number): void {
    const { worker } = holder;
    holder.away = worker !== undefined && awayUntil !== undefined ? { worker, until: awayUntil } : undefined;
    holder.worker = undefined;
    this.#joinAbsent(holder);
    this.#memory.renew(holder.memory, now);
    this.#patience.renew(holder.patience, now);
  }

  /** A name to wait for, known or not; `undefined` for what is no name, or when too many are waited for. */
  expect(name: string, service: string): Holder | undefined {
    const known = this.named(name);
    if (known !== undefined || this.#absentCount >= this.#max) return known;
    const holder = this.#add(latin1(nfpRoutingId(name)), name, service);
    this.#joinAbsent(holder);
    return holder;
  }

  /** Whether a worker of the service has been there lately. */
  knows(service: string, now: number): boolean {
    this.#sweep(now);
    if (service === EVERY_SERVICE) return this.#memory.size > 0;
    for (const { memory } of this.#absent.get(service) ?? []) if (memory.list !== undefined) return true;
    return false;
  }

  /** Whether that name was there lately, for the service or, where that is `all`, for any. */
  knowsName(holder: Holder, service: string, now: number): boolean {
    this.#sweep(now);
    return holder.memory.list !== undefined && (service === EVERY_SERVICE || holder.service === service);
  }

  /** Those of the service whose registration goes on without a connection. */
  awayFrom(service: string, now: number): Holder[] {
    const sets = service === EVERY_SERVICE ? this.#absent.values() : [this.#absent.get(service) ?? []];
    const holders: Holder[] = [];
    for (const set of sets)
      for (const holder of set) if (holder.away !== undefined && holder.away.until > now) holders.push(holder);
    return holders;
  }

  /** The next name whose jobs have waited for it for long enough. Call until `undefined`. */
  takeOverdue(now: number): Holder | undefined {
    return this.#patience.takeDue(now);
  }

  /** The name that has been away for longest, when there are too many; the caller gives up what is with it, and drops it. */
  get surplus(): Holder | undefined {
    return this.#absentCount > this.#max ? this.#memory.first : undefined;
  }

  /** Lets no job stop waiting before `now + ms`. */
  postpone(ms: number, now: number): void {
    this.#patience.postpone(ms, now);
  }

  /** Forgets a name that is not there, once no job is with it. */
  drop(holder: Holder): void {
    if (holder.worker !== undefined) return;
    this.#memory.remove(holder.memory);
    this.#patience.remove(holder.patience);
    holder.away = undefined;
    holder.isForgotten = true;
    this.#leaveAbsent(holder);
    this.tidy(holder);
  }

  /** Forgets a name that nobody has a use for. */
  tidy(holder: Holder): void {
    if (holder.worker !== undefined || holder.memory.list !== undefined || holder.parts.size > 0) return;
    this.#leaveAbsent(holder);
    this.#byKey.delete(holder.key);
  }

  values(): IterableIterator<Holder> {
    return this.#byKey.values();
  }

  #sweep(now: number): void {
    for (let holder = this.#memory.takeDue(now); holder !== undefined; holder = this.#memory.takeDue(now))
      this.tidy(holder);
  }

  #add(key: string, name: string, service: string): Holder {
    const holder = new Holder(key, name, service);
    this.#byKey.set(key, holder);
    return holder;
  }

  #joinAbsent(holder: Holder): void {
    const set = this.#absent.get(holder.service) ?? new Set();
    if (set.size === 0) this.#absent.set(holder.service, set);
    if (set.has(holder)) return;
    set.add(holder);
    this.#absentCount++;
  }

  #leaveAbsent(holder: Holder): void {
    const set = this.#absent.get(holder.service);
    if (set?.delete(holder) !== true) return;
    this.#absentCount--;
    if (set.size === 0) this.#absent.delete(holder.service);
  }
}
