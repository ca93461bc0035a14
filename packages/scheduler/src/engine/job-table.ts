/** The books of a scheduler: which jobs there are, what of it is on the disk, and which runs wait. Rules 2 to 8. */
import type { EmqpScheduling } from '@proj/frames/emqp';
import { oncePerMinute } from '@proj/heartbeat';
import type { Entropy } from '@proj/transport';
import type {
  EmqpSchedulerStats,
  ScheduleChange,
  ScheduleRecord,
  ScheduleRefusal,
  SchedulerEffect,
  SchedulerNote,
  SchedulerTools,
} from './events.js';
import { identityOf, readPlan } from './plan.js';
import { ScheduledJob, Timetable } from './timetable.js';

/** Settings of {@link ScheduledJobs}. */
export interface ScheduledJobsOptions {
  readonly jobsMax: number;
  /** Bytes of all bodies. */
  readonly jobsMaxBytes: number;
  /** A cron job whose time has passed while nobody looked runs once. */
  readonly catchUp: boolean;
  /** How often a store that failed is tried again. Milliseconds. */
  readonly storeRetryMs: number;
}

/** What the books ask of the engine. */
export interface ScheduledJobsOutput {
  effect(effect: SchedulerEffect): void;
  /** Sends the REQUEST of one run; false when there is no broker. */
  send(job: ScheduledJob): boolean;
}

/** A write that is under way. */
type Write =
  /** `job` takes the place of whatever has its name once it is on the disk; `haste`: and runs. */
  | { readonly kind: 'schedule'; readonly job: ScheduledJob; readonly haste: boolean }
  | { readonly kind: 'unschedule'; readonly identity: string }
  /** The state after a run, which happens when this is on the disk: a crash may lose it, not double it. */
  | { readonly kind: 'run'; readonly job: ScheduledJob; readonly counts: boolean }
  /** What could not be written before. */
  | { readonly kind: 'repair'; readonly identities: readonly string[] };

/** How many records are written again at a time. */
const REPAIR_MAX = 1000;
/** Changes that may wait for the disk; beyond, what asks for more is refused. */
const WAITING_MAX = 10_000;

/** All jobs of one scheduler. A change counts when it is on the disk. */
export class ScheduledJobs {
  readonly #options: ScheduledJobsOptions;
  readonly #tools: SchedulerTools;
  readonly #out: ScheduledJobsOutput;
  readonly #timetable: Timetable;
  readonly #jobs = new Map<string, ScheduledJob>();
  #bytes = 0;
  /** Bodies that are being written for the first time. */
  #newBytes = 0;
  /** Jobs whose run waits for a broker. */
  readonly #held = new Set<ScheduledJob>();
  readonly #writes = new Map<number, Write>();
  #lastWrite = 0;
  /** The write that decides what a name stands for, while it is under way. */
  readonly #deciding = new Map<string, number>();
  /** Names of which the disk does not know what we know. */
  readonly #stale = new Set<string>();
  #isHealthy = true;
  readonly #failures = oncePerMinute();
  /** The present trouble was told. */
  #isFailureTold = false;
  #repairAt = Infinity;
  #isStopped = false;
  readonly #counts = { fired: 0, skipped: 0, scheduled: 0, replaced: 0, unscheduled: 0, unknown: 0, finished: 0 };
  readonly #refused: Partial<Record<ScheduleRefusal, number>> = {};

  constructor(options: ScheduledJobsOptions, tools: SchedulerTools, entropy: Entropy, out: ScheduledJobsOutput) {
    this.#options = options;
    this.#tools = tools;
    this.#out = out;
    this.#timetable = new Timetable(tools.nextCron, entropy);
  }

  /** When {@link takeDue} has something to do. */
  get deadline(): number {
    return Math.min(this.#timetable.deadline, this.#repairAt);
  }

  get isWriting(): boolean {
    return this.#writes.size > 0;
  }

  get held(): number {
    return this.#held.size;
  }

  /** The part of the counters that is kept here. */
  get stats() {
    return {
      jobs: this.#jobs.size,
      jobsBytes: this.#bytes,
      held: this.#held.size,
      writing: this.#writes.size,
      storeHealthy: this.#isHealthy,
      ...this.#counts,
      refused: { ...this.#refused },
    } satisfies Partial<EmqpSchedulerStats>;
  }

  /** What the store holds. Before anything else. */
  load(records: Iterable<readonly [identity: string, record: ScheduleRecord]>, now: number): void {
    for (const [identity, record] of records) {
      const job = new ScheduledJob(identity, record);
      this.#insert(job);
      if (!this.#timetable.restore(job, this.#options.catchUp, now))
        this.#note({ code: 'cron-unknown', job: identity, cron: String(job.every) });
    }
  }

  /** SCHEDULE. */
  schedule(command: EmqpScheduling, now: number): void {
    const job = this.#read(command);
    if (typeof job === 'string') {
      this.refuse(job, command.queue);
      return;
    }
    const { identity, runsLeft } = job;
    const { nohaste, invalid } = job;
    const old = this.#jobs.get(identity);
    // Nothing of the old one may be written behind the new one.
    if (old !== undefined) this.#timetable.suspend(old);
    const made = new ScheduledJob(identity, {
      ...job,
      runsLeft: runsLeft === undefined || nohaste ? runsLeft : runsLeft - 1,
    });
    made.dueAt = now + (typeof made.every === 'number' ? made.every * 1000 : Infinity);
    if (invalid > 0) this.#note({ code: 'headers-invalid', job: identity, items: invalid });
    this.#newBytes += made.body.length;
    const write = { kind: 'schedule', job: made, haste: !nohaste } as const;
    this.#deciding.set(identity, this.#write(write, [{ identity, record: made.record }]));
  }

  /** UNSCHEDULE: of either kind, whatever its queue. */
  unschedule({ body }: EmqpScheduling): void {
    const identity = identityOf(body, this.#tools.sha1);
    const job = identity === undefined ? undefined : this.#jobs.get(identity);
    if (identity === undefined || (job === undefined && !this.#isComing(identity))) {
      this.#counts.unknown++;
      return;
    }
    if (job !== undefined) this.#remove(job);
    this.#deciding.set(identity, this.#write({ kind: 'unschedule', identity }, [{ identity, record: undefined }]));
    this.#counts.unscheduled++;
    this.#note({ code: 'unscheduled', job: identity });
  }

  /** A write has ended; with an `error` nothing of it was kept. */
  stored(number: number, error: string | undefined, now: number): void {
    const write = this.#writes.get(number);
    if (write === undefined) return;
    this.#writes.delete(number);
    const isKept = error === undefined;
    for (const identity of namesIn(write)) {
      if (isKept) this.#stale.delete(identity);
      else this.#stale.add(identity);
    }
    this.#judgeStore(write, error, now);
    if (write.kind === 'run') this.#ran(write.job, write.counts);
    else if (write.kind === 'schedule') this.#settle(number, write, isKept, now);
    else if (write.kind === 'unschedule' && this.#deciding.get(write.identity) === number)
      this.#deciding.delete(write.identity);
  }

  /** Runs what is due, and tries again to write what could not be written. */
  takeDue(now: number): void {
    for (let job = this.#timetable.takeDue(now); job !== undefined; job = this.#timetable.takeDue(now))
      this.#due(job, now);
    if (this.#repairAt <= now) this.#repair();
  }

  /** There is a broker: what waited goes out. */
  release(): void {
    for (const job of this.#held) {
      if (!this.#out.send(job)) return;
      this.#held.delete(job);
      this.#fired(job);
    }
  }

  /** The REQUEST of this job did not go out: it waits for the next broker. */
  unsent(job: ScheduledJob): void {
    this.#counts.fired--;
    if (!job.isGone) this.#held.add(job);
  }

  /** A SCHEDULE that is not taken. */
  refuse(reason: ScheduleRefusal, queue: string): void {
    this.#refused[reason] = (this.#refused[reason] ?? 0) + 1;
    this.#note({ code: 'schedule-refused', reason, queue });
  }

  /** No run is due any more; what is being written ends. */
  stop(): void {
    this.#isStopped = true;
    this.#timetable.stop();
    this.#repairAt = Infinity;
  }

  /** Throws when the books do not agree. */
  assertInvariants(): void {
    const check = (holds: boolean, what: string): void => {
      if (!holds) throw new Error(`Jobs: ${what}`);
    };
    this.#timetable.assertInvariants();
    let bytes = 0;
    for (const [identity, job] of this.#jobs) {
      check(job.identity === identity && !job.isGone, 'a job under another name, or gone');
      bytes += job.body.length;
    }
    check(bytes === this.#bytes, 'the bytes do not add up');
    for (const job of this.#held) check(!job.isGone, 'a run waits for a job that is gone');
    for (const [identity, number] of this.#deciding) {
      const write = this.#writes.get(number);
      check(write !== undefined && namesIn(write).includes(identity), 'a name waits for a write that is over');
    }
    check(this.#stale.size === 0 || this.#isStopped || this.#repairAt < Infinity || this.isWriting, 'nobody repairs');
  }

  /** A SCHEDULE of this name is being written, and nothing else behind it. */
  #isComing(identity: string): boolean {
    const number = this.#deciding.get(identity);
    return number !== undefined && this.#writes.get(number)?.kind === 'schedule';
  }

  #read(command: EmqpScheduling) {
    const identity = identityOf(command.body, this.#tools.sha1);
    if (identity === undefined) return 'body';
    const plan = readPlan(command);
    if (typeof plan === 'string') return plan;
    const nextMicros = this.#timetable.first(plan.every);
    if (nextMicros === undefined) return 'cron';
    const { jobsMax, jobsMaxBytes } = this.#options;
    // What is being written counts beside what it replaces: a bound, not a balance.
    if (!this.#jobs.has(identity) && this.#jobs.size + this.#deciding.size >= jobsMax) return 'full';
    if (this.#bytes + this.#newBytes + plan.body.length > jobsMaxBytes) return 'full';
    if (this.#writes.size >= jobsMax + WAITING_MAX) return 'full';
    return { ...plan, identity, nextMicros, runsLeft: plan.runs };
  }

  #settle(number: number, write: Extract<Write, { kind: 'schedule' }>, isKept: boolean, now: number): void {
    const { job, haste } = write;
    const { identity, queue } = job;
    this.#newBytes -= job.body.length;
    // Another SCHEDULE or UNSCHEDULE of this name came meanwhile, and is being written behind it.
    if (this.#deciding.get(identity) !== number) return;
    this.#deciding.delete(identity);
    const old = this.#jobs.get(identity);
    if (!isKept) {
      this.refuse('store', queue);
      if (old !== undefined && !this.#isStopped && old.dueAt < Infinity && old.runsLeft !== 0)
        this.#timetable.resume(old, now);
      return;
    }
    if (old !== undefined) this.#remove(old);
    this.#insert(job);
    this.#counts.scheduled++;
    if (old !== undefined) this.#counts.replaced++;
    this.#note({ code: 'scheduled', job: identity, queue, replaced: old !== undefined });
    if (job.runsLeft !== 0 && !this.#isStopped) {
      if (job.dueAt < Infinity) this.#timetable.resume(job, now);
      else this.#timetable.begin(job, now);
    }
    if (haste) this.#run(job);
  }

  #due(job: ScheduledJob, now: number): void {
    // While one run waits for a broker or the disk, the next is none.
    const counts = !job.isWriting && !this.#held.has(job);
    if (!counts) this.#counts.skipped++;
    if (counts && job.runsLeft !== undefined) job.runsLeft--;
    const goesOn = this.#timetable.advance(job, now);
    if (!goesOn) job.runsLeft = 0;
    if (job.runsLeft !== 0) this.#timetable.resume(job, now);
    if (job.isWriting) return;
    job.isWriting = true;
    this.#write({ kind: 'run', job, counts }, [{ identity: job.identity, record: job.record }]);
  }

  /** Without a disk jobs run all the same. */
  #ran(job: ScheduledJob, counts: boolean): void {
    job.isWriting = false;
    if (counts && !job.isGone) this.#run(job);
  }

  #run(job: ScheduledJob): void {
    const held = !this.#out.send(job);
    if (held) this.#held.add(job);
    this.#note({ code: 'fired', job: job.identity, queue: job.queue, held });
    if (!held) this.#fired(job);
  }

  #fired(job: ScheduledJob): void {
    this.#counts.fired++;
    if (job.runsLeft !== 0 || this.#jobs.get(job.identity) !== job) return;
    this.#jobs.delete(job.identity);
    this.#bytes -= job.body.length;
    this.#counts.finished++;
    this.#note({ code: 'finished', job: job.identity });
  }

  #insert(job: ScheduledJob): void {
    this.#jobs.set(job.identity, job);
    this.#bytes += job.body.length;
  }

  #remove(job: ScheduledJob): void {
    job.isGone = true;
    this.#timetable.suspend(job);
    this.#held.delete(job);
    this.#jobs.delete(job.identity);
    this.#bytes -= job.body.length;
  }

  #write(write: Write, changes: readonly ScheduleChange[]): number {
    const number = ++this.#lastWrite;
    this.#writes.set(number, write);
    this.#out.effect({ kind: 'store', write: number, changes });
    return number;
  }

  #judgeStore(write: Write, error: string | undefined, now: number): void {
    const retryAt = now + this.#options.storeRetryMs;
    if (error !== undefined) {
      // Of a disk that fails and recovers all the time not every change is told, but never that all is well when it is not.
      if (!this.#isFailureTold && this.#failures.allow(error, now)) {
        this.#note({ code: 'store-failed', error });
        this.#isFailureTold = true;
      }
      this.#isHealthy = false;
      this.#repairAt = retryAt;
    } else if (this.#stale.size > 0) {
      this.#repairAt = write.kind === 'repair' ? now : Math.min(this.#repairAt, retryAt);
    } else {
      if (this.#isFailureTold) this.#note({ code: 'store-recovered' });
      this.#isFailureTold = false;
      this.#isHealthy = true;
      this.#repairAt = Infinity;
    }
    if (this.#isStopped) this.#repairAt = Infinity;
  }

  #repair(): void {
    this.#repairAt = Infinity;
    const identities: string[] = [];
    for (const identity of this.#stale) {
      if (!this.#deciding.has(identity)) identities.push(identity);
      if (identities.length >= REPAIR_MAX) break;
    }
    if (identities.length === 0) return;
    const changes = identities.map((identity) => ({ identity, record: this.#jobs.get(identity)?.record }));
    this.#write({ kind: 'repair', identities }, changes);
  }

  #note(note: SchedulerNote): void {
    this.#out.effect({ kind: 'note', note });
  }
}

function namesIn(write: Write): readonly string[] {
  switch (write.kind) {
    case 'schedule':
    case 'run':
      return [write.job.identity];
    case 'unschedule':
      return [write.identity];
    case 'repair':
      return write.identities;
  }
}
