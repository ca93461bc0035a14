/** NFP broker: running figures of its services, for operators. Recording costs a few integer operations and no memory. No protocol decisions. */
import { RefusedPeers, ServiceMeter, setSince } from '@proj/transport/engine';
import { EVERY_SERVICE } from './management/reserved-names.js';
import type { Job, Part } from './records.js';

/** Services without workers whose figures are kept, because their workers may return. */
const ABSENT_MAX = 1000;
/** Meters checked to find one to forget. */
const TRIES = 4;

/** Figures of one service. */
export class Meter extends ServiceMeter {
  /** Jobs that workers have: a job counts once for each of its workers. */
  running = 0;
  /** The service has workers or waiting jobs. */
  isOpen = false;
  /** It has had a worker. */
  wasServed: boolean;
  /** Its figures are no longer shown. */
  isForgotten = false;

  constructor(name: string) {
    super();
    this.wasServed = name === EVERY_SERVICE;
  }
}

/** How a job ended at a worker, besides the broker's reasons of `dropped`. */
export type Outcome = 'ok' | 'failed' | 'job-unknown' | 'cancelled' | 'forgotten' | 'drained';

/** The figures of all services, and of refused peers. */
export class Figures {
  /** Time of the current step. */
  now = 0;
  readonly refused = new RefusedPeers();
  readonly #meters = new Map<string, Meter>();
  #open = 0;

  /** By name of the service. */
  entries(): IterableIterator<[name: string, meter: Meter]> {
    return this.#meters.entries();
  }

  /** The meter of a service that exists from now on. */
  open(name: string): Meter {
    const meter = this.#of(name);
    meter.isOpen = true;
    this.#open++;
    return meter;
  }

  /** The service is forgotten. The figures of a formerly served one are kept for a while. */
  rest(name: string, meter: Meter): void {
    meter.isOpen = false;
    this.#open--;
    if (!meter.wasServed && meter.running === 0) this.#forget(name, meter);
    else this.#trim();
  }

  /** A worker gets the job, perhaps again. */
  given(part: Part): void {
    const { job, holder, state } = part;
    const { now } = this;
    const meter = this.accept(job);
    const isAgain = isRunning(state);
    if (isAgain) setSince(part, now);
    else {
      part.sinceSpan = job.sinceSpan;
      part.sinceUs = job.sinceUs;
    }
    meter.dispatched(part, now);
    if (isAgain) return;
    meter.running++;
    job.owner.running++;
    if (holder.running++ === 0) setSince(holder, now);
  }

  /** The worker no longer has the job, if it had it. */
  left({ job, holder, state }: Part): void {
    if (!isRunning(state)) return;
    if (job.meter !== undefined) job.meter.running--;
    job.owner.running--;
    if (--holder.running === 0) setSince(holder, this.now);
  }

  /** The job counts as a request of its service from now on. */
  accept(job: Job): Meter {
    if (job.meter?.isForgotten === false) return job.meter;
    job.meter = this.#of(job.service);
    job.meter.requests++;
    return job.meter;
  }

  /** The job has ended at this worker. */
  ended(part: Part, outcome: Outcome): void {
    const { job, holder, state } = part;
    if (state === 'moved') return;
    if (outcome === 'ok') holder.done++;
    if (outcome === 'ok' && isRunning(state)) job.meter?.finished(part, this.now);
    else job.meter?.ended(outcome);
  }

  /** A job, or a call, to the service was refused or given up. */
  refuse(service: string, reason: string): void {
    this.#meters.get(service)?.ended(reason);
  }

  #of(name: string): Meter {
    let meter = this.#meters.get(name);
    if (meter === undefined) {
      this.#meters.set(name, (meter = new Meter(name)));
      this.#trim();
    }
    return meter;
  }

  /** Forgets one of the oldest with neither workers nor jobs; those that have some move to the back. */
  #trim(): void {
    let tries = TRIES;
    if (this.#meters.size - this.#open <= ABSENT_MAX) return;
    for (const [name, meter] of this.#meters) {
      if (!meter.isOpen && meter.running === 0) {
        this.#forget(name, meter);
        return;
      }
      this.#meters.delete(name);
      this.#meters.set(name, meter);
      if (--tries === 0) return;
    }
  }

  #forget(name: string, meter: Meter): void {
    meter.isForgotten = true;
    this.#meters.delete(name);
  }
}

function isRunning(state: Part['state']): boolean {
  return state === 'sent' || state === 'taken';
}
