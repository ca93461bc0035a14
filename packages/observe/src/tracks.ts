/** What the observer remembers between seconds: windows of totals, and the progress of workers and clients. Pure; time is an argument. */
import type { ClientSnapshot, HistogramSnapshot, ServiceSnapshot, WorkerSnapshot } from '@proj/transport/engine';
import type { WorkerTrack } from './faults.js';
import { EMPTY, latencyOf, since } from './histograms.js';
import { failures, totalOf } from './model.js';
import type { LatencyRow } from './model.js';

/** Seconds over which rates are averaged. */
const RATE_SECONDS = 10;
/** Half the window of latencies: they cover 30 to 60 seconds. */
const HALF_WINDOW_SECONDS = 30;
/** Seconds over which faults are detected. */
const FAULT_SECONDS = 5;

/** The latest few values of a number, one per second. */
class Ring {
  readonly #values: number[] = [];
  readonly #seconds: number;

  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  push(value: number): void {
    this.#values.push(value);
    if (this.#values.length > this.#seconds + 1) this.#values.shift();
  }

  get length(): number {
    return this.#values.length - 1;
  }

  /** The growth of the number; 0 after a restart. */
  get growth(): number {
    return Math.max(0, (this.#values.at(-1) ?? 0) - (this.#values[0] ?? 0));
  }

  get sum(): number {
    return this.#values.slice(1).reduce((total, value) => total + value, 0);
  }
}

/** Durations of the last 30 to 60 seconds. Returns the same object while nothing changes. */
export class RecentDurations {
  #seconds = 0;
  #base = EMPTY;
  #middle = EMPTY;
  #total: HistogramSnapshot | undefined;
  #row = latencyOf(EMPTY);

  /** Advances by a second. In the first half minute, covers everything since the start. */
  next(total: HistogramSnapshot): LatencyRow {
    let isSame = total === this.#total;
    if (this.#seconds++ % HALF_WINDOW_SECONDS === 0) {
      isSame &&= this.#base === this.#middle;
      this.#base = this.#middle;
      this.#middle = total;
    }
    if (!isSame) this.#row = latencyOf(since(total, this.#base));
    this.#total = total;
    return this.#row;
  }
}

/** The changes of a service. */
interface ServiceNews {
  readonly ended: number;
  readonly failed: number;
  readonly wait: HistogramSnapshot;
  readonly work: HistogramSnapshot;
}

const NO_NEWS: ServiceNews = { ended: 0, failed: 0, wait: EMPTY, work: EMPTY };

/** One service. */
export class ServiceTrack {
  readonly #ended = new Ring(RATE_SECONDS);
  readonly #wait = new RecentDurations();
  readonly #work = new RecentDurations();
  #last: ServiceSnapshot | undefined;
  #total = 0;
  /** Waiting and working times of the last 30 to 60 seconds. */
  recent: readonly [wait: LatencyRow, work: LatencyRow] = [latencyOf(EMPTY), latencyOf(EMPTY)];

  /** The changes since the last second: requests that ended, how many of them failed, and durations. */
  next(service: ServiceSnapshot): ServiceNews {
    const last = this.#last;
    const { outcomes, waitMs, workMs } = service;
    const total = outcomes === last?.outcomes ? this.#total : totalOf(outcomes);
    this.#total = total;
    this.#ended.push(total);
    this.recent = [this.#wait.next(waitMs), this.#work.next(workMs)];
    this.#last = service;
    if (last === undefined || (outcomes === last.outcomes && waitMs === last.waitMs)) return NO_NEWS;
    const ended = Math.max(0, total - totalOf(last.outcomes));
    const failed = Math.max(0, failures(service) - failures(last));
    return { ended, failed, wait: since(waitMs, last.waitMs), work: since(workMs, last.workMs) };
  }

  /** Requests ended per second. */
  get rate(): number {
    return this.#ended.growth / Math.max(1, this.#ended.length);
  }
}

/** One worker. */
export class WorkerHistory {
  readonly #done = new Ring(FAULT_SECONDS);
  readonly #running = new Ring(FAULT_SECONDS);
  #lastDone = -1;
  #movedAt = 0;

  /** Advances by a second. */
  next({ done, running, stateMs }: WorkerSnapshot, now: number): WorkerTrack {
    if (done !== this.#lastDone) this.#movedAt = this.#lastDone < 0 ? now - stateMs : now;
    this.#lastDone = done;
    this.#done.push(done);
    this.#running.push(running);
    return {
      seconds: this.#done.length,
      done: this.#done.growth,
      busySeconds: this.#running.sum,
      stalledMs: Math.min(stateMs, now - this.#movedAt),
    };
  }
}

/** One client, or one worker as a sender of messages. */
export class ClientHistory {
  readonly #refused = new Ring(FAULT_SECONDS);

  /** A client that appears while we watch had no rejections before. */
  constructor(isNew: boolean) {
    if (isNew) this.#refused.push(0);
  }

  /** Rejected messages per second. */
  next({ refused }: Pick<ClientSnapshot, 'refused'>): number {
    this.#refused.push(totalOf(refused));
    return this.#refused.growth / Math.max(1, this.#refused.length);
  }
}

/** The track of this key, created if missing. */
export function kept<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

/** Forgets tracks whose row is gone. */
export function forget(map: Map<string, unknown>, rows: Readonly<Record<string, unknown>>): void {
  for (const key of map.keys()) if (!Object.hasOwn(rows, key)) map.delete(key);
}
