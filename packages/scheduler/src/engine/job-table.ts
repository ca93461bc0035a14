/** EventMQ scheduler: all jobs, their state on disk, and waiting runs. Rules 2 to 8. */
import type { EmqpScheduling } from '@proj/frames/emqp';
import { oncePerMinute } from '@proj/heartbeat';
import type { Entropy } from '@proj/transport';
import type { JobSnapshot, ServiceSnapshot } from '@proj/transport/engine';
import type { EmqpSchedulerEngineSettings } from '../options.js';
import type { EmqpSchedulerStats, ScheduleChange, ScheduleRecord, SchedulerTools } from './events.js';
import { RUNS, type RunState } from './legality.js';
import type { Output } from './output.js';
import { identityOf, readPlan } from './schedule-command.js';
import { RunFigures } from './figures.js';
import { ScheduledJob, Timetable } from './timetable.js';

/** A pending write. */
type Write =
  /** Once on disk, `job` replaces the one with the same name; `haste`: and runs at once. */
  | { readonly kind: 'schedule'; readonly job: ScheduledJob; readonly haste: boolean }
  | { readonly kind: 'unschedule'; readonly identity: string }
  /** The state after a run, which follows once this is on disk: a crash may lose the run but not double it. */
  | { readonly kind: 'run'; readonly job: ScheduledJob; readonly counts: boolean }
  /** Changes that could not be written earlier. */
  | { readonly kind: 'repair'; readonly identities: readonly string[] };

/** Records rewritten at a time. */
const REPAIR_MAX = 1000;
/** Changes that may wait for the disk; beyond it SCHEDULE is rejected. */
const WAITING_MAX = 10_000;

/** All jobs of one scheduler. A change counts once it is on disk. */
export class ScheduledJobs {
  readonly #options: EmqpSchedulerEngineSettings;
  readonly #tools: SchedulerTools;
  readonly #out: Output;
  readonly #send: (job: ScheduledJob) => string | undefined;
  readonly #timetable: Timetable;
  readonly #jobs = new Map<string, ScheduledJob>();
  readonly runs = new RunFigures();
  #bytes = 0;
  /** Bytes of bodies being written for the first time. */
  #newBytes = 0;
  /** Jobs whose run is waiting for a broker. */
  readonly #held = new Set<ScheduledJob>();
  readonly #writes = new Map<number, Write>();
  #lastWrite = 0;
  /** The pending write that decides what a name stands for. */
  readonly #deciding = new Map<string, number>();
  /** Names whose latest state is not on disk. */
  readonly #stale = new Set<string>();
  #isHealthy = true;
  readonly #failures = oncePerMinute();
  /** The current failure has been reported. */
  #isFailureTold = false;
  #repairAt = Infinity;
  #isStopped = false;

  /** `send` sends the REQUEST of one run and returns its id; `undefined` if there is no broker. */
  constructor(
    options: EmqpSchedulerEngineSettings,
    tools: SchedulerTools,
    entropy: Entropy,
    out: Output,
    send: (job: ScheduledJob) => string | undefined,
  ) {
    this.#options = options;
    this.#tools = tools;
    this.#out = out;
    this.#send = send;
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

  /** Current sizes. */
  get gauges() {
    return {
      jobs: this.#jobs.size,
      jobsBytes: this.#bytes,
      held: this.#held.size,
      writing: this.#writes.size,
      storeHealthy: this.#isHealthy,
    } satisfies Partial<EmqpSchedulerStats>;
  }

  /** The operator's view at `now` of each type, with this many brokers, and of the jobs due next. Linear in the number of waiting runs. */
  detail(brokers: number, now: number): { services: ServiceSnapshot[]; jobs: JobSnapshot[] } {
    const waiting = new Set(this.#held);
    for (const write of this.#writes.values()) if (write.kind === 'run' && write.counts) waiting.add(write.job);
    return this.runs.detail(this.#timetable.listed(this.#jobs), waiting, brokers, now);
  }

  /** Loads the store's contents. Before anything else. */
  load(records: Iterable<readonly [identity: string, record: ScheduleRecord]>, now: number): void {
    for (const [identity, record] of records) {
      const job = new ScheduledJob(identity, record, this.runs.others);
      this.#insert(job);
      if (!this.#timetable.restore(job, this.#options.catchUp, now))
        this.#out.tell({ code: 'cron-unknown', job: identity, cron: String(job.every) });
    }
  }

  /** SCHEDULE. */
  schedule(command: EmqpScheduling, now: number): void {
    const job = this.#read(command);
    if (typeof job === 'string') {
      this.#out.refuse(job, command.queue);
      return;
    }
    const { identity, runsLeft, nohaste, invalid } = job;
    const old = this.#jobs.get(identity);
    // No write of the old one may follow that of the new one.
    if (old !== undefined) this.#timetable.suspend(old);
    const made = new ScheduledJob(
      identity,
      {
        ...job,
        runsLeft: runsLeft === undefined || nohaste ? runsLeft : runsLeft - 1,
      },
      this.runs.others,
    );
    made.dueAt = now + (typeof made.every === 'number' ? made.every * 1000 : Infinity);
    if (invalid > 0) this.#out.tell({ code: 'headers-invalid', job: identity, items: invalid });
    this.#newBytes += made.body.length;
    const write = { kind: 'schedule', job: made, haste: !nohaste } as const;
    this.#deciding.set(identity, this.#write(write, [{ identity, record: made.record }]));
  }

  /** UNSCHEDULE: for either kind of schedule and any queue. */
  unschedule({ body }: EmqpScheduling): void {
    const identity = identityOf(body, this.#tools.sha1);
    const job = identity === undefined ? undefined : this.#jobs.get(identity);
    if (identity === undefined || (job === undefined && !this.#isComing(identity))) {
      this.#out.counters.unknown++;
      return;
    }
    if (job !== undefined) this.#remove(job);
    this.#deciding.set(identity, this.#write({ kind: 'unschedule', identity }, [{ identity, record: undefined }]));
    this.#out.counters.unscheduled++;
    this.#out.tell({ code: 'unscheduled', job: identity });
  }

  /** A write has ended; with an `error`, it failed completely. */
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

  /** Runs what is due, and rewrites what could not be written. */
  takeDue(now: number): void {
    for (let job = this.#timetable.takeDue(now); job !== undefined; job = this.#timetable.takeDue(now))
      this.#due(job, now);
    if (this.#repairAt <= now) this.#repair();
  }

  /** A broker is connected: sends the waiting runs. */
  release(): void {
    for (const job of this.#held) {
      const id = this.#send(job);
      if (id === undefined) return;
      this.#held.delete(job);
      this.#fired(job, id);
    }
  }

  /** The REQUEST of this job with this id was not delivered. */
  unsent(job: ScheduledJob, id: string): void {
    this.#out.counters.fired--;
    const [verdict] = RUNS[this.#stateOf(job)].unsent;
    const how = verdict === 'hold' ? (this.#held.has(job) ? 'merged' : 'waits') : 'gone';
    this.runs.unsent(job.runs, id, how, this.#out.now);
    if (verdict === 'hold') this.#held.add(job);
  }

  /** No more runs are due; pending writes finish. */
  stop(): void {
    this.#isStopped = true;
    this.#timetable.stop();
    this.#repairAt = Infinity;
  }

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

  /** A SCHEDULE of this name is being written, as its last change. */
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
    // A body being written counts in addition to the one it replaces: a bound, not a balance.
    if (!this.#jobs.has(identity) && this.#jobs.size + this.#deciding.size >= jobsMax) return 'full';
    if (this.#bytes + this.#newBytes + plan.body.length > jobsMaxBytes) return 'full';
    if (this.#writes.size >= jobsMax + WAITING_MAX) return 'full';
    return { ...plan, identity, nextMicros, runsLeft: plan.runs };
  }

  #settle(number: number, write: Extract<Write, { kind: 'schedule' }>, isKept: boolean, now: number): void {
    const { job, haste } = write;
    const { identity, queue } = job;
    this.#newBytes -= job.body.length;
    // A later SCHEDULE or UNSCHEDULE of this name is being written.
    if (this.#deciding.get(identity) !== number) return;
    this.#deciding.delete(identity);
    const old = this.#jobs.get(identity);
    if (!isKept) {
      this.#out.refuse('store', queue);
      if (old !== undefined && !this.#isStopped && old.dueAt < Infinity && old.runsLeft !== 0)
        this.#timetable.resume(old, now);
      return;
    }
    if (old !== undefined) {
      this.#remove(old);
      job.runs.follow(old.runs);
    }
    this.#insert(job);
    this.#out.counters.scheduled++;
    if (old !== undefined) this.#out.counters.replaced++;
    this.#out.tell({ code: 'scheduled', job: identity, queue, replaced: old !== undefined });
    if (job.runsLeft !== 0 && !this.#isStopped) {
      if (job.dueAt < Infinity) this.#timetable.resume(job, now);
      else this.#timetable.begin(job, now);
    }
    if (!haste) return;
    this.runs.begun(job.runs, this.#out.now);
    this.#run(job);
  }

  #due(job: ScheduledJob, now: number): void {
    const [verdict] = RUNS[this.#stateOf(job)].due;
    const counts = verdict === 'run';
    if (counts) this.runs.begun(job.runs, now);
    else {
      this.#out.counters.skipped++;
      job.runs.of.meter.ended('skipped');
    }
    if (counts && job.runsLeft !== undefined) job.runsLeft--;
    const goesOn = this.#timetable.advance(job, now);
    if (!goesOn) job.runsLeft = 0;
    if (job.runsLeft !== 0) this.#timetable.resume(job, now);
    if (verdict === 'skip unwritten') return;
    job.isWriting = true;
    this.#write({ kind: 'run', job, counts }, [{ identity: job.identity, record: job.record }]);
  }

  /** Jobs run even if the write failed. */
  #ran(job: ScheduledJob, counts: boolean): void {
    job.isWriting = false;
    if (!counts) return;
    if (job.isGone) job.runs.of.meter.ended('unscheduled');
    else this.#run(job);
  }

  #run(job: ScheduledJob): void {
    const id = this.#send(job);
    const held = id === undefined;
    // A run that comes back while the next one is being written waits for the same broker: they merge.
    if (held && this.#held.has(job)) job.runs.of.meter.ended('skipped');
    if (held) this.#held.add(job);
    this.#out.tell({ code: 'fired', job: job.identity, queue: job.queue, held });
    if (!held) this.#fired(job, id);
  }

  #fired(job: ScheduledJob, id: string): void {
    this.runs.sent(job.runs, id, this.#out.now);
    this.#out.counters.fired++;
    if (job.runsLeft !== 0 || this.#jobs.get(job.identity) !== job) return;
    this.#delete(job);
    this.#out.counters.finished++;
    this.#out.tell({ code: 'finished', job: job.identity });
  }

  #stateOf(job: ScheduledJob): RunState {
    if (job.isGone) return 'gone';
    if (this.#held.has(job)) return job.isWriting ? 'held, writing' : 'held';
    return job.isWriting ? 'writing' : 'idle';
  }

  #insert(job: ScheduledJob): void {
    this.#jobs.set(job.identity, job);
    this.#bytes += job.body.length;
    this.runs.added(job.runs);
  }

  #remove(job: ScheduledJob): void {
    job.isGone = true;
    this.#timetable.suspend(job);
    this.runs.givenUp(job.runs, this.#out.now);
    if (this.#held.delete(job)) job.runs.of.meter.ended('unscheduled');
    this.#delete(job);
  }

  #delete(job: ScheduledJob): void {
    this.#jobs.delete(job.identity);
    this.#bytes -= job.body.length;
    this.runs.removed(job.runs);
  }

  #write(write: Write, changes: readonly ScheduleChange[]): number {
    const number = ++this.#lastWrite;
    this.#writes.set(number, write);
    this.#out.effects.push({ kind: 'store', write: number, changes });
    return number;
  }

  #judgeStore(write: Write, error: string | undefined, now: number): void {
    const retryAt = now + this.#options.storeRetryMs;
    if (error !== undefined) {
      // Not every change of a flapping disk is reported, but a recovery that did not last never is.
      if (!this.#isFailureTold && this.#failures.allow(error, now)) {
        this.#out.tell({ code: 'store-failed', error });
        this.#isFailureTold = true;
      }
      this.#isHealthy = false;
      this.#repairAt = retryAt;
    } else if (this.#stale.size > 0) {
      this.#repairAt = write.kind === 'repair' ? now : Math.min(this.#repairAt, retryAt);
    } else {
      if (this.#isFailureTold) this.#out.tell({ code: 'store-recovered' });
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
