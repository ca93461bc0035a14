/** EventMQ scheduler: when jobs run. Intervals use the monotonic clock, cron the wall clock. Rules 5 and 7. */
import { DeadlineHeap, HeapDeadline } from '@proj/heartbeat';
import type { Entropy } from '@proj/transport';
import type { ScheduleRecord, SchedulerTools } from './events.js';
import { JobRuns, TypeFigures, typeOf } from './figures.js';

/** A job and its next run. */
export class ScheduledJob {
  readonly identity: string;
  readonly queue: string;
  readonly headers: Uint8Array;
  readonly body: Uint8Array;
  readonly every: number | string;
  runsLeft: number | undefined;
  /** Wall clock of the next run, in microseconds. */
  nextMicros: number;
  /** @internal The same on the monotonic clock, in milliseconds; `Infinity` if unknown. */
  dueAt = Infinity;
  /** @internal */
  readonly timer = new HeapDeadline<ScheduledJob>(this);
  /** The state after its last run is being written. */
  isWriting = false;
  /** Unscheduled or replaced: pending writes for it have no effect. */
  isGone = false;

  /** For operators. */
  readonly runs: JobRuns;

  /** `of`: the figures for its runs, until it is added to those of its type. */
  constructor(identity: string, record: ScheduleRecord, of = new TypeFigures('')) {
    this.runs = new JobRuns(typeOf(record.body), of);
    this.identity = identity;
    this.queue = record.queue;
    this.headers = record.headers;
    this.body = record.body;
    this.every = record.every;
    this.runsLeft = record.runsLeft;
    this.nextMicros = record.nextMicros;
  }

  /** The stored form; `undefined` after its last run. */
  get record(): ScheduleRecord | undefined {
    const { queue, headers, body, every, runsLeft, nextMicros } = this;
    return runsLeft === 0 ? undefined : { queue, headers, body, every, runsLeft, nextMicros };
  }
}

/** Limit of jobs that operators see. */
const LISTED_MAX = 1000;
/** Interval of comparing the two clocks while there are cron jobs. */
const WATCH_MS = 10_000;
/** Tolerated drift between comparisons. */
const DRIFT_MICROS = 500_000;
/** A wall clock set back by more than this was wrong before: times that have passed come again. */
const REWIND_MICROS = 3 * 3_600_000_000;

/** All jobs with a next run, by its time. */
export class Timetable {
  readonly #nextCron: SchedulerTools['nextCron'];
  readonly #entropy: Entropy;
  readonly #heap = new DeadlineHeap<ScheduledJob>();
  readonly #cronJobs = new Set<ScheduledJob>();
  #watchAt = Infinity;
  /** Wall clock minus monotonic clock, in microseconds. */
  #offset = 0;

  constructor(nextCron: SchedulerTools['nextCron'], entropy: Entropy) {
    this.#nextCron = nextCron;
    this.#entropy = entropy;
  }

  /** When {@link takeDue} next returns something, or the clocks are compared. */
  get deadline(): number {
    return Math.min(this.#heap.deadline, this.#watchAt);
  }

  /** All jobs. If there are more than operators see at once, those that run next come first. */
  listed(all: ReadonlyMap<string, ScheduledJob>): ScheduledJob[] {
    if (all.size <= LISTED_MAX) return [...all.values()];
    const listed = new Set(this.#heap.next(LISTED_MAX));
    for (const job of all.values()) {
      if (listed.size >= LISTED_MAX) break;
      listed.add(job);
    }
    return [...listed];
  }

  /** The first regular run of a new job, as wall-clock microseconds; `undefined` for a cron expression without any. */
  first(every: number | string): number | undefined {
    const wall = this.#entropy.wallMicros();
    return typeof every === 'number' ? wall + every * 1_000_000 : this.#nextCron(every, wall);
  }

  /** Arms a new job for its `nextMicros`. */
  begin(job: ScheduledJob, now: number): void {
    job.dueAt = now + (job.nextMicros - this.#entropy.wallMicros()) / 1000;
    this.resume(job, now);
  }

  /** The same for a stored job. An overdue one is due now, once; a cron job only with `catchUp`. False if its expression has no next time. */
  restore(job: ScheduledJob, catchUp: boolean, now: number): boolean {
    const wall = this.#entropy.wallMicros();
    if (typeof job.every === 'number') {
      // A wall clock set back must not delay it by more than its interval.
      job.nextMicros = Math.min(Math.max(job.nextMicros, wall), wall + job.every * 1_000_000);
    } else if (job.nextMicros > wall || !catchUp) {
      const next = this.#nextCron(job.every, wall);
      if (next === undefined) return false;
      job.nextMicros = next;
    } else job.nextMicros = wall;
    this.begin(job, now);
    return true;
  }

  /** Its run is due: computes the next one without arming it. False if there is none. */
  advance(job: ScheduledJob, now: number): boolean {
    const wall = this.#entropy.wallMicros();
    if (typeof job.every === 'number') {
      const step = job.every * 1000;
      // After a long sleep it runs once, not once per missed interval.
      job.dueAt = job.dueAt + step > now ? job.dueAt + step : now + step;
      job.nextMicros = wall + Math.round((job.dueAt - now) * 1000);
      return true;
    }
    const next = this.#nextCron(job.every, Math.max(wall, job.nextMicros));
    if (next === undefined) return false;
    job.nextMicros = next;
    job.dueAt = now + (next - wall) / 1000;
    return true;
  }

  /** Arms the run that {@link advance} computed or {@link suspend} disarmed. */
  resume(job: ScheduledJob, now: number): void {
    this.#heap.set(job.timer, job.dueAt);
    if (typeof job.every === 'number') return;
    this.#cronJobs.add(job);
    if (this.#watchAt < Infinity) return;
    this.#watchAt = now + WATCH_MS;
    this.#offset = this.#offsetAt(now);
  }

  /** It does not run until resumed. */
  suspend(job: ScheduledJob): void {
    this.#heap.remove(job.timer);
    this.#cronJobs.delete(job);
  }

  takeDue(now: number): ScheduledJob | undefined {
    if (this.#watchAt <= now) this.#watch(now);
    for (let job = this.#heap.takeDue(now); job !== undefined; job = this.#heap.takeDue(now)) {
      if (typeof job.every === 'number') return job;
      const wall = this.#entropy.wallMicros();
      if (wall >= job.nextMicros) {
        this.#cronJobs.delete(job);
        return job;
      }
      // The wall clock has fallen behind.
      this.#follow(job, wall, now);
    }
    return undefined;
  }

  /** Nothing is due any more. */
  stop(): void {
    for (let job = this.#heap.first; job !== undefined; job = this.#heap.first) this.suspend(job);
    this.#watchAt = Infinity;
  }

  assertInvariants(): void {
    this.#heap.assertInvariants();
    for (const job of this.#cronJobs)
      if (job.timer.place < 0 || typeof job.every === 'number') throw new Error('a cron job is watched in vain');
    if (this.#cronJobs.size > 0 && this.#watchAt === Infinity) throw new Error('nobody watches the clock');
  }

  /** Cron jobs follow the wall clock when it is set. */
  #watch(now: number): void {
    const offset = this.#offsetAt(now);
    const jump = offset - this.#offset;
    this.#offset = offset;
    this.#watchAt = this.#cronJobs.size > 0 ? now + WATCH_MS : Infinity;
    if (Math.abs(jump) <= DRIFT_MICROS) return;
    const wall = this.#entropy.wallMicros();
    for (const job of this.#cronJobs) {
      if (jump < -REWIND_MICROS) job.nextMicros = this.#nextCron(job.every as string, wall) ?? job.nextMicros;
      this.#follow(job, wall, now);
    }
  }

  #follow(job: ScheduledJob, wall: number, now: number): void {
    // At least a millisecond: in a long-running process the monotonic clock cannot resolve microseconds.
    job.dueAt = now + Math.max((job.nextMicros - wall) / 1000, 1);
    this.#heap.set(job.timer, job.dueAt);
  }

  #offsetAt(now: number): number {
    return this.#entropy.wallMicros() - now * 1000;
  }
}
