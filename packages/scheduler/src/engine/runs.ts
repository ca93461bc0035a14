/** EventMQ scheduler: for operators, how the runs of each type of job went, and which results are awaited. No rule depends on it. */
import { elapsedMs, ServiceMeter, setSince } from '@proj/transport/engine';
import type { JobSnapshot, ServiceSnapshot } from '@proj/transport/engine';
import type { ScheduledJob } from './timetable.js';

/** Types remembered; those of present jobs are always shown. */
const TYPES_MAX = 1000;

/** Characters of the name of a type. */
const TYPE_LENGTH_MAX = 255;

type Mutable<Row> = { -readonly [Key in keyof Row]: Row[Key] };

/**
 * The way of each run: it is `begun` when it is due, `sent` to a broker, perhaps more than once, and `answered` by a result. Every operation but
 * `detail` and `lost` is O(1).
 */
export class RunFigures {
  readonly #types = new Map<string, ServiceMeter>();
  /** Jobs whose result is awaited, by id of the REQUEST: the last one of each job. */
  readonly #awaited = new Map<string, ScheduledJob>();

  /** When results began to be awaited, or none was awaited any more. */
  #changedAt = 0;

  /** How long results have been awaited, or none has. */
  sinceChangeMs(now: number): number {
    return Math.max(0, now - this.#changedAt);
  }

  /** Results that are awaited. */
  get awaited(): number {
    return this.#awaited.size;
  }

  /** The figures of this type of job. */
  readonly meterOf = (type: string): ServiceMeter => {
    let meter = this.#types.get(type);
    if (meter !== undefined) return meter;
    const [oldest] = this.#types.keys();
    if (oldest !== undefined && this.#types.size >= TYPES_MAX) this.#types.delete(oldest);
    meter = new ServiceMeter();
    this.#types.set(type, meter);
    return meter;
  };

  /** A run is due: it waits for the disk, then for a broker. */
  begun(job: ScheduledJob, now: number): void {
    job.figures.requests++;
    setSince(job, now);
  }

  /** Its REQUEST goes out. */
  sent(job: ScheduledJob, id: string, now: number): void {
    if (job.awaited !== undefined) {
      job.figures.ended('unanswered');
      this.#forget(job, now);
    }
    job.fired++;
    job.figures.dispatched(job, now);
    setSince(job.sent, now);
    job.awaited = id;
    if (this.#awaited.size === 0) this.#changedAt = now;
    this.#awaited.set(id, job);
  }

  /** Its REQUEST did not go out: it waits again, alone or as one with a run that waits already, or has ended because the job is gone. */
  unsent(job: ScheduledJob, how: 'waits' | 'merged' | 'gone', now: number): void {
    job.fired--;
    this.#forget(job, now);
    if (how === 'gone') job.figures.ended('unscheduled');
    else if (how === 'merged') job.figures.ended('skipped');
    else {
      job.figures.resends++;
      setSince(job, now);
    }
  }

  /** The result of a REQUEST has come. */
  answered(id: string, now: number): void {
    const job = this.#awaited.get(id);
    if (job === undefined) return;
    job.figures.finished(job.sent, now);
    this.#over(job, 'ok', now);
  }

  /** The conversation is over, and no result comes any more. */
  lost(now: number): void {
    for (const job of this.#awaited.values()) {
      job.figures.ended('broker-lost');
      this.#over(job, 'broker-lost', now);
    }
  }

  /** What an operator sees at `now` of each type, which so many brokers run, and of each job; `waiting` are those whose run waits. */
  detail(
    jobs: Iterable<ScheduledJob>,
    waiting: Iterable<ScheduledJob>,
    brokers: number,
    now: number,
  ): { services: ServiceSnapshot[]; jobs: JobSnapshot[] } {
    const services = new Map<string, Mutable<ServiceSnapshot>>();
    const rowOf = (type: string, figures: ServiceMeter) => {
      let row = services.get(type);
      if (row === undefined) {
        const present = { waiting: 0, oldestWaitingMs: 0, running: 0, workers: brokers };
        services.set(type, (row = { name: type, ...figures.snapshot(), ...present }));
      }
      return row;
    };
    for (const [type, figures] of this.#types) rowOf(type, figures);
    for (const { type, figures } of this.#awaited.values()) rowOf(type, figures).running++;
    for (const job of waiting) {
      const row = rowOf(job.type, job.figures);
      row.waiting++;
      row.oldestWaitingMs = Math.max(row.oldestWaitingMs, elapsedMs(job, now));
    }
    const rows = Array.from(jobs, (job) => {
      rowOf(job.type, job.figures);
      return jobOf(job, now);
    });
    return { services: [...services.values()], jobs: rows };
  }

  #over(job: ScheduledJob, result: string, now: number): void {
    job.result = result;
    job.resultAt = now;
    this.#forget(job, now);
  }

  #forget(job: ScheduledJob, now: number): void {
    if (job.awaited === undefined) return;
    this.#awaited.delete(job.awaited);
    if (this.#awaited.size === 0) this.#changedAt = now;
    job.awaited = undefined;
  }
}

/** The type of the job in this body, which names one: `path.callable`, well-formed; `unknown` if it is too long. */
export function typeOf(body: Uint8Array): string {
  try {
    const [, job] = JSON.parse(new TextDecoder().decode(body)) as [unknown, { path: unknown; callable: unknown }];
    const name = `${String(job.path)}.${String(job.callable)}`;
    // Not cut short: a slice would keep the whole text in memory.
    return name.length > TYPE_LENGTH_MAX ? 'unknown' : name.replace(/\p{Surrogate}/gu, '\ufffd');
  } catch {
    return 'unknown';
  }
}

function jobOf(job: ScheduledJob, now: number): JobSnapshot {
  const { identity, type, every, timer, dueAt, fired, result, resultAt } = job;
  return {
    id: identity,
    service: type,
    schedule: typeof every === 'number' ? `every ${every} s` : every,
    fired,
    ...(timer.place < 0 ? {} : { nextMs: Math.max(0, dueAt - now) }),
    ...(result === undefined ? {} : { result, resultMs: now - resultAt }),
  };
}
