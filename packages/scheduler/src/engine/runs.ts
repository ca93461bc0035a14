/** EventMQ scheduler: for operators, how the runs of each type of job went, and which results are awaited. No rule depends on it. */
import { elapsedMs, ServiceMeter, setSince } from '@proj/transport/engine';
import type { JobSnapshot, ServiceSnapshot, Timed } from '@proj/transport/engine';
import type { ScheduledJob } from './timetable.js';

/** Results awaited at a time; beyond it the oldest one is given up. */
const AWAITED_MAX = 10_000;

/** Types with figures of their own; further ones are counted together. */
const TYPES_MAX = 1000;

/** Characters of the name of a type. */
const TYPE_LENGTH_MAX = 255;

type Mutable<Row> = { -readonly [Key in keyof Row]: Row[Key] };

/** The figures of one type of job, or of several together. */
export class TypeFigures {
  readonly name: string;
  readonly meter = new ServiceMeter();
  /** Results that are awaited. */
  running = 0;
  /** Jobs and awaited results of the type: without any, its figures may make room for others. */
  uses = 0;

  constructor(name: string) {
    this.name = name;
  }
}

/** What is known of the runs of one job. Not the job: while a result is awaited, nothing keeps its body in memory. */
export class JobRuns implements Timed {
  /** What the job runs. */
  readonly type: string;
  /** Where it is counted: with its type, once the job is added. */
  of: TypeFigures;
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

  constructor(type: string, of: TypeFigures) {
    this.type = type;
    this.of = of;
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
  readonly #types = new Map<string, TypeFigures>();
  /** Those of {@link #types} that are not used, the longest unused first. */
  readonly #unused = new Set<TypeFigures>();
  /** All types for which there is no room. No other name of a type lacks a dot, but `unknown`. */
  readonly others = new TypeFigures('other');
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

  /** There is a job of this type. */
  added(runs: JobRuns): void {
    runs.of = this.#figuresOf(runs.type);
    this.#use(runs.of);
  }

  /** The job is there no more; a result may still be awaited. */
  removed({ of }: JobRuns): void {
    this.#release(of);
  }

  /** A run is due: it waits for the disk, then for a broker. */
  begun(runs: JobRuns, now: number): void {
    runs.of.meter.requests++;
    setSince(runs, now);
  }

  /** Its REQUEST goes out. */
  sent(runs: JobRuns, id: string, now: number): void {
    this.givenUp(runs, now);
    const [oldest] = this.#awaited.size < AWAITED_MAX ? [] : this.#awaited.values();
    if (oldest !== undefined) this.givenUp(oldest, now);
    runs.fired++;
    runs.of.meter.dispatched(runs, now);
    setSince(runs.sent, now);
    runs.awaited = id;
    if (this.#awaited.size === 0) this.#changedAt = now;
    this.#awaited.set(id, runs);
    runs.of.running++;
    this.#use(runs.of);
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
    if (how === 'gone') runs.of.meter.ended('unscheduled');
    else if (how === 'merged') runs.of.meter.ended('skipped');
    else {
      runs.of.meter.resends++;
      setSince(runs, now);
    }
  }

  /** The result of a REQUEST has come. */
  answered(id: string, now: number): void {
    const runs = this.#awaited.get(id);
    if (runs === undefined) return;
    runs.of.meter.finished(runs.sent, now);
    this.#over(runs, 'ok', now);
  }

  /** Its result is awaited no more: another run of the job goes out, or the job is unscheduled or replaced. */
  givenUp(runs: JobRuns, now: number): void {
    if (runs.awaited === undefined) return;
    runs.of.meter.ended('unanswered');
    this.#forget(runs, now);
  }

  /** The conversation is over, and no result comes any more. */
  lost(now: number): void {
    for (const runs of this.#awaited.values()) {
      runs.of.meter.ended('broker-lost');
      this.#over(runs, 'broker-lost', now);
    }
  }

  /** What an operator sees at `now` of each type, which so many brokers run, and of these jobs; `waiting` are those whose run waits. */
  detail(
    jobs: readonly ScheduledJob[],
    waiting: Iterable<ScheduledJob>,
    brokers: number,
    now: number,
  ): { services: ServiceSnapshot[]; jobs: JobSnapshot[] } {
    const types = [...this.#types.values()];
    if (this.others.uses > 0 || this.others.meter.requests > 0) types.push(this.others);
    const services = new Map<TypeFigures, Mutable<ServiceSnapshot>>();
    for (const type of types) {
      const { name, running } = type;
      const present = { waiting: 0, oldestWaitingMs: 0, running, workers: brokers };
      services.set(type, { name, ...type.meter.snapshot(), ...present });
    }
    for (const { runs } of waiting) {
      const row = services.get(runs.of);
      if (row === undefined) continue;
      row.waiting++;
      row.oldestWaitingMs = Math.max(row.oldestWaitingMs, elapsedMs(runs, now));
    }
    return { services: [...services.values()], jobs: jobs.map((job) => jobOf(job, now)) };
  }

  #figuresOf(type: string): TypeFigures {
    let figures = this.#types.get(type);
    if (figures !== undefined) return figures;
    if (this.#types.size >= TYPES_MAX) {
      const [unused] = this.#unused;
      if (unused === undefined) return this.others;
      this.#unused.delete(unused);
      this.#types.delete(unused.name);
    }
    figures = new TypeFigures(type);
    this.#types.set(type, figures);
    return figures;
  }

  #use(figures: TypeFigures): void {
    figures.uses++;
    this.#unused.delete(figures);
  }

  #release(figures: TypeFigures): void {
    figures.uses--;
    if (figures.uses === 0 && this.#types.get(figures.name) === figures) this.#unused.add(figures);
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
    runs.of.running--;
    this.#release(runs.of);
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
  const { of, fired, result, resultAt } = job.runs;
  return {
    id: identity,
    service: of.name,
    schedule: typeof every === 'number' ? `every ${every} s` : every,
    fired,
    ...(timer.place < 0 ? {} : { nextMs: Math.max(0, dueAt - now) }),
    ...(result === undefined ? {} : { result, resultMs: now - resultAt }),
  };
}
