/** EventMQ scheduler: figures of each type of job, and awaited results, for operators. No rule depends on it. */
import { elapsedMs, ServiceMeter, setSince } from '@proj/transport/engine';
import type { JobSnapshot, ServiceSnapshot, Timed } from '@proj/transport/engine';
import type { ScheduledJob } from './timetable.js';

/** Limit of awaited results; beyond it the oldest is given up. */
const AWAITED_MAX = 10_000;

/** Types with their own figures; the rest is counted together. */
const TYPES_MAX = 1000;

/** Longest name of a type, in characters. */
const TYPE_LENGTH_MAX = 255;

type Mutable<Row> = { -readonly [Key in keyof Row]: Row[Key] };

/** The figures of one type of job, or of several combined. */
export class TypeFigures {
  readonly name: string;
  readonly meter = new ServiceMeter();
  /** Number of awaited results. */
  running = 0;
  /** Jobs and awaited results of the type: without any, its figures may make room for others. */
  uses = 0;

  constructor(name: string) {
    this.name = name;
  }
}

/** What is known of one job's runs. Separate from the job, so that an awaited result does not keep its body in memory. */
export class JobRuns implements Timed {
  /** What the job runs. */
  readonly type: string;
  /** Its type's figures, once the job is added. */
  of: TypeFigures;
  /** REQUESTs sent to a broker. */
  fired = 0;
  /** How and when its last run ended; `undefined` before. */
  result: string | undefined;
  resultAt = 0;
  /** Since when its run has been waiting for the disk or a broker. */
  sinceSpan = 0;
  sinceUs = 0;
  /** The REQUEST whose result is awaited, and since when. */
  awaited: string | undefined;
  readonly sent: Timed = { sinceSpan: 0, sinceUs: 0 };

  constructor(type: string, of: TypeFigures) {
    this.type = type;
    this.of = of;
  }

  /** Its job replaces the job of these runs, whose figures it continues. */
  follow({ fired, result, resultAt }: JobRuns): void {
    this.fired = fired;
    this.result = result;
    this.resultAt = resultAt;
  }
}

/**
 * Tracks each run: `begun` when it is due, `sent` to a broker, perhaps more than once, and `answered` by a result. Every operation but `detail`
 * and `lost` is O(1).
 */
export class RunFigures {
  readonly #types = new Map<string, TypeFigures>();
  /** The unused ones of {@link #types}, longest unused first. */
  readonly #unused = new Set<TypeFigures>();
  /** All types without room for their own figures. Every other type name contains a dot, except `unknown`. */
  readonly others = new TypeFigures('other');
  /** Awaited results by id of the REQUEST, oldest first: the latest one of each job. */
  readonly #awaited = new Map<string, JobRuns>();

  /** When the first of the current results began to be awaited, or the last one arrived. */
  #changedAt = 0;

  /** How long results have been awaited, or none has. */
  sinceChangeMs(now: number): number {
    return Math.max(0, now - this.#changedAt);
  }

  /** Number of awaited results. */
  get awaited(): number {
    return this.#awaited.size;
  }

  /** Adds a job of this type. */
  added(runs: JobRuns): void {
    runs.of = this.#figuresOf(runs.type);
    this.#use(runs.of);
  }

  /** The job is removed; a result may still be awaited. */
  removed({ of }: JobRuns): void {
    this.#release(of);
  }

  /** A run is due: it waits for the disk, then for a broker. */
  begun(runs: JobRuns, now: number): void {
    runs.of.meter.requests++;
    setSince(runs, now);
  }

  /** Its REQUEST is sent. */
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

  /**
   * The REQUEST with this id was not delivered: its run waits again, alone or merged with one that is waiting, or has ended because the job is
   * gone.
   */
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

  /** The result of a REQUEST has arrived. */
  answered(id: string, now: number): void {
    const runs = this.#awaited.get(id);
    if (runs === undefined) return;
    runs.of.meter.finished(runs.sent, now);
    this.#over(runs, 'ok', now);
  }

  /** Its result is no longer awaited: another run of the job is sent, or the job is unscheduled or replaced. */
  givenUp(runs: JobRuns, now: number): void {
    if (runs.awaited === undefined) return;
    runs.of.meter.ended('unanswered');
    this.#forget(runs, now);
  }

  /** The conversation has ended, and no more results will arrive. */
  lost(now: number): void {
    for (const runs of this.#awaited.values()) {
      runs.of.meter.ended('broker-lost');
      this.#over(runs, 'broker-lost', now);
    }
  }

  /** The operator's view at `now` of each type, with this many brokers, and of these jobs; `waiting` are those with a waiting run. */
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

/** The type of the job in this body: `path.callable`, well-formed; `unknown` if it is too long. */
export function typeOf(body: Uint8Array): string {
  try {
    const [, job] = JSON.parse(new TextDecoder().decode(body)) as [unknown, { path: unknown; callable: unknown }];
    const name = `${String(job.path)}.${String(job.callable)}`;
    // Not sliced: a slice would keep the whole text in memory.
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
