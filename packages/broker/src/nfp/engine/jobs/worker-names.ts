/** NFP broker: names of workers, registered or not, so that jobs can wait for them (rules 12 and 13). No protocol decisions. */
import { latin1 } from '@proj/frames';
import { isNfpName, nfpRoutingId } from '@proj/frames/nfp';
import { DeadlineList } from '@proj/heartbeat';
import { setSince } from '@proj/transport/engine';
import { dueOf } from '../../../shared/due.js';
import { EVERY_SERVICE } from '../management/reserved-names.js';
import { Holder, type Worker } from '../records.js';

/** How long the name of an absent worker is remembered. */
const KNOWN_MS = 600_000;

/** Most names: their routing ids, as text, are the names themselves. One call may name thousands. */
const OWN_KEY = /^[ -~]{1,255}$/;

/** Every name that is registered, was recently registered, or is awaited by a job. Every operation is O(1), `awayFrom` for each name. */
export class Holders {
  readonly #byKey = new Map<string, Holder>();
  /** Names without a registration, by service. */
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

  /** When jobs next stop waiting for a lost worker. */
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
    if (OWN_KEY.test(name)) return this.#byKey.get(name);
    return isNfpName(name) ? this.#byKey.get(latin1(nfpRoutingId(name))) : undefined;
  }

  /** The worker has registered: its name is no longer absent. */
  arrive(worker: Worker): Holder {
    const { key } = worker.peer;
    const holder = this.#byKey.get(key) ?? this.#add(key, worker.name, worker.service.name);
    if (holder.worker === undefined) this.#leaveAbsent(holder);
    this.#memory.remove(holder.memory);
    this.#patience.remove(holder.patience);
    holder.away = undefined;
    holder.isForgotten = false;
    holder.worker = worker;
    if (holder.running === 0) setSince(holder, worker.since);
    holder.service = worker.service.name;
    return holder;
  }

  /** The registration ends, or continues without a connection until `awayUntil`. The worker's jobs wait from now on. */
  leave(holder: Holder, awayUntil: number | undefined, now: number): void {
    const { worker } = holder;
    holder.away =
      worker !== undefined && awayUntil !== undefined ? { worker, since: now, until: awayUntil } : undefined;
    holder.worker = undefined;
    this.#joinAbsent(holder);
    this.#memory.renew(holder.memory, now);
    this.#patience.renew(holder.patience, now);
  }

  /** The name to wait for, added if necessary; `undefined` if too many names are absent. */
  expect(name: string, service: string): Holder | undefined {
    const known = this.named(name);
    if (known !== undefined || this.#absentCount >= this.#max) return known;
    const holder = this.#add(latin1(nfpRoutingId(name)), name, service);
    this.#joinAbsent(holder);
    return holder;
  }

  /** Whether the service recently had a worker. */
  knows(service: string, now: number): boolean {
    this.#sweep(now);
    if (service === EVERY_SERVICE) return this.#memory.size > 0;
    for (const { memory } of this.#absent.get(service) ?? []) if (memory.list !== undefined) return true;
    return false;
  }

  /** Whether the name was recently registered for the service, or for any if that is `all`. */
  knowsName(holder: Holder, service: string, now: number): boolean {
    this.#sweep(now);
    return holder.memory.list !== undefined && (service === EVERY_SERVICE || holder.service === service);
  }

  /** Names of the service whose registration continues without a connection. */
  *awayFrom(service: string, now: number): Generator<Holder, void, void> {
    const sets = service === EVERY_SERVICE ? this.#absent.values() : [this.#absent.get(service) ?? []];
    for (const set of sets)
      for (const holder of set) if (holder.away !== undefined && holder.away.until > now) yield holder;
  }

  /** Names that their jobs have awaited for long enough. */
  takeOverdue(now: number): Iterable<Holder> {
    return dueOf(this.#patience, now);
  }

  /** The name that has been absent longest, if there are too many; the caller gives up its jobs and calls {@link drop}. */
  get surplus(): Holder | undefined {
    return this.#absentCount > this.#max ? this.#memory.first : undefined;
  }

  /** No job stops waiting before `now + ms`. */
  postpone(ms: number, now: number): void {
    this.#patience.postpone(ms, now);
  }

  /** Forgets an absent name, once it has no job. */
  drop(holder: Holder): void {
    if (holder.worker !== undefined) return;
    this.#memory.remove(holder.memory);
    this.#patience.remove(holder.patience);
    holder.away = undefined;
    holder.isForgotten = true;
    this.#leaveAbsent(holder);
    this.tidy(holder);
  }

  /** Forgets a name that is neither registered nor remembered and has no job. */
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
