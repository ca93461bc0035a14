/** EventMQ broker, rule 22: which scheduler has which job. */
import { emqpJobText, type EmqpScheduling } from '@proj/frames/emqp';
import type { BrokerState } from '../state.js';
import type { EmqpParty } from '../events.js';
import type { Output } from '../output.js';
import type { Scheduler } from './peers.js';

/** Bounds on remembered jobs; beyond them the oldest is forgotten. */
const JOBS_MAX = 100_000;
const TEXT_MAX_LENGTH = 67_108_864;

/** Schedulers in the order of their INFORMs, and the jobs that each got. */
export class Assignments {
  readonly #schedulers = new Set<Scheduler>();
  readonly #byJob = new Map<string, Scheduler>();
  #latest: Scheduler | undefined;
  #textLength = 0;

  get size(): number {
    return this.#schedulers.size;
  }

  /** Jobs whose scheduler is remembered. */
  get jobs(): number {
    return this.#byJob.size;
  }

  add(scheduler: Scheduler): void {
    this.#schedulers.add(scheduler);
    this.#latest = scheduler;
  }

  remove(scheduler: Scheduler): void {
    this.#schedulers.delete(scheduler);
    for (const job of scheduler.jobs) this.forget(job);
    if (this.#latest === scheduler) this.#latest = [...this.#schedulers].at(-1);
  }

  /** The scheduler for the job: the one that has it, otherwise the newest; `undefined` if there is none. */
  assign(job: string): Scheduler | undefined {
    const known = this.#byJob.get(job);
    const scheduler = this.#latest;
    if (known !== undefined || scheduler === undefined) return known;
    this.#byJob.set(job, scheduler);
    scheduler.jobs.add(job);
    this.#textLength += job.length;
    for (const oldest of this.#byJob.keys()) {
      if (this.#byJob.size <= JOBS_MAX && this.#textLength <= TEXT_MAX_LENGTH) break;
      this.forget(oldest);
    }
    return scheduler;
  }

  forget(job: string): void {
    const scheduler = this.#byJob.get(job);
    if (scheduler === undefined) return;
    this.#byJob.delete(job);
    scheduler.jobs.delete(job);
    this.#textLength -= job.length;
  }

  values(): IterableIterator<Scheduler> {
    return this.#schedulers.values();
  }
}

/** Rule 22: SCHEDULE goes to one scheduler, UNSCHEDULE to all. Both are dropped if there is none, or the body names no job. */
export function routeScheduling(
  command: EmqpScheduling,
  from: EmqpParty,
  { assignments }: BrokerState,
  out: Output,
): void {
  const job = emqpJobText(command.body);
  if (job === undefined) {
    out.dropMessage('job-invalid', from);
  } else if (assignments.size === 0) {
    out.dropMessage('no-scheduler', from);
  } else if (command.kind === 'schedule') {
    out.counters.schedulings++;
    const scheduler = assignments.assign(job);
    if (scheduler !== undefined) out.send(scheduler, command);
  } else {
    out.counters.schedulings++;
    assignments.forget(job);
    for (const scheduler of assignments.values()) out.send(scheduler, command);
  }
}
