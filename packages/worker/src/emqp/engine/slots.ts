/** EventMQ job manager: which job runs where, for how long, and how often. Worker rules 3, 7, 8, 9 and 13. */
import type { EmqpReadHeaders, EmqpRequest } from '@proj/frames/emqp';
import { DeadlineHeap } from '@proj/heartbeat';
import { checksOf } from '../../shared/invariants.js';
import type { EmqpJobManagerSettings } from '../options.js';
import type { EmqpRunOutcome } from './events.js';
import type { Output, Replies } from './replies.js';
import { reasonOf, Slot, toResult, wantsReply } from './state.js';
import type { Job } from './state.js';

/** Settings of {@link JobSlots}. A job may run `heartbeatIntervalMs` longer if our process was late. */
export type SlotsOptions = Pick<
  EmqpJobManagerSettings,
  | 'concurrency'
  | 'queueMax'
  | 'globalTimeoutMs'
  | 'maxJobsPerProcess'
  | 'retryDelayMs'
  | 'retryMaxMs'
  | 'heartbeatIntervalMs'
>;

/** Result of a job that ran too long, in EventMQ's word. */
const TIMEOUT = toResult('TimeoutError');

const check = checksOf('Slots');

/** The current jobs and their slots. Each job ends once, by `finished` or `abandoned` of the replies. */
export class JobSlots {
  readonly counts = { jobs: 0, done: 0, failed: 0, retries: 0, timeouts: 0, abandoned: 0, deaths: 0, recycled: 0 };
  readonly #options: SlotsOptions;
  readonly #out: Output;
  readonly #replies: Replies;
  readonly #slots: readonly Slot[];
  readonly #idle: Slot[] = [];
  readonly #waiting: Job[] = [];
  readonly #deadlines = new DeadlineHeap<Slot>();
  #running = 0;
  #owed = 0;
  #isEnding = false;

  constructor(options: SlotsOptions, out: Output, replies: Replies) {
    this.#options = options;
    this.#out = out;
    this.#replies = replies;
    this.#slots = Array.from({ length: options.concurrency }, (_, index) => new Slot(index));
  }

  /** Slots that could accept a job now. */
  get free(): number {
    return this.#idle.length;
  }

  /** Jobs that hold a slot. */
  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get inHand(): number {
    return this.#running + this.#waiting.length;
  }

  /** True while a job that must be answered has not ended. */
  get owesReply(): boolean {
    return this.#owed > 0;
  }

  get deadline(): number {
    return this.#deadlines.deadline;
  }

  /** Accepts a request from the current connection. */
  take({ id, queue, body, headers: headerFrame }: EmqpRequest, headers: EmqpReadHeaders): void {
    const { socket } = this.#out;
    const job: Job = { number: ++this.counts.jobs, id, queue, body, headers, headerFrame, socket, run: 0 };
    this.#replies.taken();
    if (wantsReply(job)) this.#owed++;
    this.#waiting.push(job);
    this.#fill();
  }

  /** A process runs in the slot. */
  up(index: number): void {
    const slot = this.#slots[index];
    if (slot === undefined || slot.isUp) return;
    slot.isUp = true;
    slot.runs = 0;
    if (slot.phase === 'idle') this.#idle.push(slot);
    else if (slot.phase === 'due') this.#start(slot);
    this.#fill();
  }

  /** The slot's process has gone. */
  gone(index: number, reason: string): void {
    const slot = this.#slots[index];
    if (slot?.isUp !== true) return;
    slot.isUp = false;
    if (slot.phase === 'killing') {
      this.#failed(slot, TIMEOUT);
      return;
    }
    this.counts.deaths++;
    const id = slot.job?.id;
    this.#out.report({ code: 'process-died', slot: index, reason, ...(id === undefined ? {} : { id }) });
    if (slot.phase === 'idle') this.#idle.splice(this.#idle.indexOf(slot), 1);
    else if (slot.phase === 'running') this.#failed(slot, toResult(reason));
  }

  /** A run ended. No effect if it was to be killed, or is unknown. */
  ran(index: number, number: number, outcome: EmqpRunOutcome, result: Uint8Array): void {
    const slot = this.#slots[index];
    if (slot?.phase !== 'running' || slot.job?.number !== number) return;
    const { maxJobsPerProcess } = this.#options;
    if (maxJobsPerProcess > 0 && slot.runs >= maxJobsPerProcess) {
      slot.isUp = false;
      this.counts.recycled++;
      this.#out.push({ kind: 'recycle', slot: index });
    }
    if (outcome === 'failed') this.#failed(slot, result);
    else {
      if (outcome === 'done') this.counts.done++;
      else this.#failedForGood(slot.job, result);
      this.#finish(slot, result);
    }
  }

  /** Handles what is due. `isLate`: this process could not listen for a while, so results may be unread. */
  timer(isLate: boolean): void {
    const { now } = this.#out;
    for (let slot = this.#deadlines.takeDue(now); slot !== undefined; slot = this.#deadlines.takeDue(now)) {
      if (slot.phase === 'resting') {
        slot.phase = 'due';
        if (slot.isUp) this.#start(slot);
      } else if (isLate && !slot.excused) {
        slot.excused = true;
        this.#deadlines.set(slot.deadline, now + this.#options.heartbeatIntervalMs);
      } else this.#kill(slot, true);
    }
  }

  /** Kills running jobs and drops waiting ones. No job may be accepted any more. */
  end(): void {
    this.#isEnding = true;
    for (const job of this.#waiting.splice(0)) {
      if (wantsReply(job)) this.#owed--;
      this.#abandon(job);
    }
    for (const slot of this.#slots) {
      if (slot.phase === 'running') this.#kill(slot, false);
      else if (slot.phase === 'resting' || slot.phase === 'due') this.#abandonIn(slot);
    }
  }

  assertInvariants(): void {
    this.#deadlines.assertInvariants();
    const jobs = this.#slots.flatMap(({ job }) => (job === undefined ? [] : [job]));
    check(jobs.length === this.#running, 'a job is in no slot');
    check(
      this.#owed === [...jobs, ...this.#waiting].filter(wantsReply).length,
      'jobs that are to be answered are miscounted',
    );
    check(this.#waiting.length === 0 || this.#idle.length === 0, 'a job waits beside a free slot');
    for (const slot of this.#slots) {
      const { phase, isUp, job, deadline, index } = slot;
      check((phase === 'idle') === (job === undefined), `slot ${index} is ${phase}`);
      check(this.#idle.includes(slot) === (phase === 'idle' && isUp), `slot ${index} is not free`);
      check(isUp || (phase !== 'running' && phase !== 'killing'), `slot ${index} runs without a process`);
      check(phase === 'running' || deadline.at < Infinity === (phase === 'resting'), `slot ${index} misses its time`);
    }
  }

  #fill(): void {
    while (this.#waiting.length > 0) {
      const slot = this.#idle.pop();
      if (slot === undefined) return;
      slot.job = this.#waiting.shift();
      this.#running++;
      this.#start(slot);
    }
  }

  #start(slot: Slot): void {
    const job = slot.job as Job;
    job.run++;
    slot.phase = 'running';
    slot.runs++;
    slot.excused = false;
    const { timeoutSeconds } = job.headers;
    const limitMs = timeoutSeconds > 0 ? timeoutSeconds * 1000 : this.#options.globalTimeoutMs;
    if (limitMs > 0) this.#deadlines.set(slot.deadline, this.#out.now + limitMs);
    const { number, id, queue, body, run, headerFrame: headers } = job;
    const { index } = slot;
    this.#out.report({ code: 'job-started', id, run, slot: index });
    const wantsResult = wantsReply(job);
    this.#out.push({ kind: 'run', slot: index, job: { number, id, queue, body, run }, wantsResult, headers });
  }

  #kill(slot: Slot, isTimeout: boolean): void {
    const { id, run } = slot.job as Job;
    this.#deadlines.remove(slot.deadline);
    slot.phase = 'killing';
    if (isTimeout) {
      this.counts.timeouts++;
      this.#out.report({ code: 'job-timeout', id, run });
    }
    this.#out.push({ kind: 'kill', slot: slot.index });
  }

  /** A run without a result is repeated as often as the client wants. */
  #failed(slot: Slot, result: Uint8Array): void {
    const job = slot.job as Job;
    this.#deadlines.remove(slot.deadline);
    if (this.#isEnding) {
      this.#abandonIn(slot);
      return;
    }
    if (job.run > job.headers.retryCount) {
      this.#failedForGood(job, result);
      this.#finish(slot, result);
      return;
    }
    const { retryDelayMs, retryMaxMs } = this.#options;
    const retryInMs = Math.min(retryDelayMs * 2 ** (job.run - 1), retryMaxMs);
    slot.phase = 'resting';
    this.counts.retries++;
    this.#deadlines.set(slot.deadline, this.#out.now + retryInMs);
    this.#out.report({ code: 'job-retried', id: job.id, run: job.run, retryInMs, reason: reasonOf(result) });
  }

  #failedForGood({ id, run }: Job, result: Uint8Array): void {
    this.counts.failed++;
    this.#out.report({ code: 'job-failed', id, run, reason: reasonOf(result) });
  }

  #finish(slot: Slot, result: Uint8Array): void {
    this.#replies.finished(this.#release(slot), result);
    this.#fill();
  }

  #abandonIn(slot: Slot): void {
    this.#abandon(this.#release(slot));
  }

  #abandon(job: Job): void {
    this.counts.abandoned++;
    this.#out.report({ code: 'job-abandoned', id: job.id });
    this.#replies.abandoned(job);
  }

  #release(slot: Slot): Job {
    const job = slot.job as Job;
    this.#deadlines.remove(slot.deadline);
    slot.job = undefined;
    slot.phase = 'idle';
    this.#running--;
    if (wantsReply(job)) this.#owed--;
    if (slot.isUp) this.#idle.push(slot);
    return job;
  }
}
