/** EventMQ scheduler: for operators, how the runs of each type of job went, and which results are awaited. No rule depends on it. */
import { elapsedMs, ServiceMeter, setSince } from '@proj/transport/engine';
import type { JobSnapshot, ServiceSnapshot, Timed } from '@proj/transport/engine';
import type { ScheduledJob } from './timetable.js';

/** Results awaited at a time; beyond it the oldest one is given up. */
const AWAITED_MAX = 10_000;

/** Types remembered; those of present jobs are always shown. */
const TYPES_MAX = 1000;

/** Characters of the name of a type. */
const TYPE_LENGTH_MAX = 255;

type Mutable<Row> = { -readonly [Key in keyof Row]: Row[Key] };

/** What is known of the runs of one job. Not the job: while a result is awaited, nothing keeps its body in memory. */
export class JobRuns implements Timed {
  /** What the job runs. */
  readonly type: string;
  /** The figures of its type. */
  readonly figures: ServiceMeter;
  /** REQUESTs given to a broker. */
  fired = 0;
  /** How its last run ended, and when; `undefined` before. */
  result: string | undefined;
  resultAt = 0;
  /** Since when its run waits for the disk or a broker. */
  sinceSpan = 0;
  sinceUs = 0;
  /** The REQUEST whose result is awaited, and since when. */
  awaited: string | undefined;
  readonly sent: Timed = { sinceSpan: 0, sinceUs: 0 };

  constructor(type: string, figures: ServiceMeter) {
    this.type = type;
    this.figures = figures;
  }

  /** Its job replaces the one of these runs, whose figures go on. */
  follow({ fired, result, resultAt }: JobRuns): void {
    this.fired = fired;
    this.result = result;
    this.resultAt = resultAt;
  }
}

/**
 * The way of each run: it is `begun` when it is due, `sent` to a broker, perhaps more than once, and `answered` by a result. Every operation but
 * `detail` and `lost` is O(1).
 */
export class RunFigures {
  readonly #types = new Map<string, ServiceMeter>();
  /** Results that are awaited, the oldest first, by id of the REQUEST: the last one of each job. */
  readonly #awaited = new Map<string, JobRuns>();

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
  begun(runs: JobRuns, now: number): void {
    runs.figures.requests++;
    setSince(runs, now);
  }

  /** Its REQUEST goes out. */
  sent(runs: JobRuns, id: string, now: number): void {
    this.givenUp(runs, now);
    const [oldest] = this.#awaited.size < AWAITED_MAX ? [] : this.#awaited.values();
    if (oldest !== undefined) this.givenUp(oldest, now);
    runs.fired++;
    runs.figures.dispatched(runs, now);
    setSince(runs.sent, now);
    runs.awaited = id;
    if (this.#awaited.size === 0) this.#changedAt = now;
    this.#awaited.set(id, runs);
  }

  /** The REQUEST with this id did not go out: its run waits again, alone or as one with a run that waits already, or has ended because the job is gone. */
  unsent(runs: JobRuns, id: string, how: 'waits' | 'merged' | 'gone', now: number): void {
    runs.fired--;
    if (runs.awaited !== id) {
      // This run has ended as unanswered: if it waits again, it counts again.
      if (how === 'waits') this.begun(runs, now);
      return;
    }
    this.#forget(runs, now);
    if (how === 'gone') runs.figures.ended('unscheduled');
    else if (how === 'merged') runs.figures.ended('skipped');
    else {
      runs.figures.resends++;
      setSince(runs, now);
    }
  }

  /** The result of a REQUEST has come. */
  answered(id: string, now: number): void {
    const runs = this.#awaited.get(id);
    if (runs === undefined) return;
    runs.figures.finished(runs.sent, now);
    this.#over(runs, 'ok', now);
  }

  /** Its result is awaited no more: another run of the job goes out, or the job is unscheduled or replaced. */
  givenUp(runs: JobRuns, now: number): void {
    if (runs.awaited === undefined) return;
    runs.figures.ended('unanswered');
    this.#forget(runs, now);
  }

  /** The conversation is over, and no result comes any more. */
  lost(now: number): void {
    for (const runs of this.#awaited.values()) {
      runs.figures.ended('broker-lost');
      this.#over(runs, 'broker-lost', now);
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
    for (const { runs } of waiting) {
      const row = rowOf(runs.type, runs.figures);
      row.waiting++;
      row.oldestWaitingMs = Math.max(row.oldestWaitingMs, elapsedMs(runs, now));
    }
    const rows = Array.from(jobs, (job) => {
      rowOf(job.runs.type, job.runs.figures);
      return jobOf(job, now);
    });
    return { services: [...services.values()], jobs: rows };
  }

  #over(runs: JobRuns, result: string, now: number): void {
    runs.result = result;
    runs.resultAt = now;
    this.#forget(runs, now);
  }

  #forget(runs: JobRuns, now: number): void {
    if (runs.awaited === undefined) return;
    this.#awaited.delete(runs.awaited);
    if (this.#awaited.size === 0) this.#changedAt = now;
    runs.awaited = undefined;
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
  const { identity, every, timer, dueAt } = job;
  const { type, fired, result, resultAt } = job.runs;
  return {
    id: identity,
    service: type,
    schedule: typeof every === 'number' ? `every ${every} s` : every,
    fired,
    ...(timer.place < 0 ? {} : { nextMs: Math.max(0, dueAt - now) }),
    ...(result === undefined ? {} : { result, resultMs: now - resultAt }),
  };
}
