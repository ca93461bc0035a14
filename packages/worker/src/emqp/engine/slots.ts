/** EventMQ job manager, jobs in hand: which one runs where, for how long, and how often. Worker rules 3, 7, 8, 9 and 13. */
import type { EmqpReadHeaders, EmqpRequest } from '@proj/frames/emqp';
import { encodeEmqpJson } from '@proj/frames/emqp';
import { DeadlineHeap, HeapDeadline } from '@proj/heartbeat';
import type { EmqpJobManagerEffect, EmqpJobManagerNote, EmqpRun, EmqpRunOutcome } from './events.js';

/** Settings of {@link JobSlots}. Times in milliseconds. */
export interface SlotsOptions {
  readonly concurrency: number;
  /** Requests that may wait for a slot. */
  readonly queueMax: number;
  /** How long a job without `timeout` may run; 0 for ever. */
  readonly globalTimeoutMs: number;
  /** Jobs after which a process is replaced; 0 for never. */
  readonly maxJobsPerProcess: number;
  /** First delay before a failed job is run again, doubled with each run up to `retryMaxMs`. */
  readonly retryDelayMs: number;
  readonly retryMaxMs: number;
  /** How much longer a job may run when it was this process that was late. */
  readonly graceMs: number;
}

/** A job in hand. */
export interface Job extends EmqpRun {
  readonly headers: EmqpReadHeaders;
  /** The connection that brought it. */
  readonly socket: number;
  run: number;
}

/** Where the outcome of jobs goes. */
export interface SlotsOwner {
  effect(effect: EmqpJobManagerEffect): void;
  note(note: EmqpJobManagerNote): void;
  /** The job has its result; its slot is free, but nothing was put there yet. */
  finished(job: Job, result: Uint8Array): void;
  /** The job will not end. */
  abandoned(job: Job): void;
}

class Slot {
  readonly index: number;
  isUp = false;
  job: Job | undefined;
  /** `killing`: until its process is gone. `resting`: until the next run is due. `due`: it is, but no process is up. */
  phase: 'idle' | 'running' | 'killing' | 'resting' | 'due' = 'idle';
  /** When the run has to end, or the next one begins. */
  readonly deadline = new HeapDeadline<Slot>(this);
  /** Runs of its process. */
  runs = 0;
  /** This run was given more time already, since we were late ourselves. */
  excused = false;

  constructor(index: number) {
    this.index = index;
  }
}

/** Result of a job whose time was over: the word EventMQ uses. */
const TIMEOUT = toResult('TimeoutError');

/** The result that stands for a failure with this text. */
export function toResult(text: string): Uint8Array {
  return new TextEncoder().encode(encodeEmqpJson({ value: text }));
}

/** So much of an error's text is told. */
const REASON_MAX_LENGTH = 300;

/** The text that a failure's result stands for, for logs. */
function reasonOf(result: Uint8Array): string {
  const json = new TextDecoder().decode(result);
  try {
    const { value } = JSON.parse(json) as { value: unknown };
    return String(value).slice(0, REASON_MAX_LENGTH);
  } catch {
    return json.slice(0, REASON_MAX_LENGTH);
  }
}

/** The jobs in hand and the slots they run in. Each job ends once, by `finished` or `abandoned` of the owner. */
export class JobSlots {
  readonly counts = { jobs: 0, done: 0, failed: 0, retries: 0, timeouts: 0, abandoned: 0, deaths: 0, recycled: 0 };
  readonly #options: SlotsOptions;
  readonly #owner: SlotsOwner;
  readonly #slots: readonly Slot[];
  readonly #idle: Slot[] = [];
  readonly #waiting: Job[] = [];
  readonly #deadlines = new DeadlineHeap<Slot>();
  #running = 0;
  #owed = 0;
  #isEnding = false;

  constructor(options: SlotsOptions, owner: SlotsOwner) {
    this.#options = options;
    this.#owner = owner;
    this.#slots = Array.from({ length: options.concurrency }, (_, index) => new Slot(index));
  }

  /** Slots that could take a job now. */
  get free(): number {
    return this.#idle.length;
  }

  /** Jobs that hold a slot. */
  get running(): number {
    return this.#running;
  }

  /** Jobs that wait for a slot. */
  get waiting(): number {
    return this.#waiting.length;
  }

  get inHand(): number {
    return this.#running + this.#waiting.length;
  }

  /** True while a job that is to be answered is in hand. */
  get owesReply(): boolean {
    return this.#owed > 0;
  }

  get deadline(): number {
    return this.#deadlines.deadline;
  }

  /** Takes a request over from `socket`. */
  take({ id, queue, body }: EmqpRequest, headers: EmqpReadHeaders, socket: number, now: number): void {
    const job: Job = { number: ++this.counts.jobs, id, queue, body, headers, socket, run: 0 };
    if (wantsReply(job)) this.#owed++;
    this.#waiting.push(job);
    this.#fill(now);
  }

  /** A process runs in the slot. */
  up(index: number, now: number): void {
    const slot = this.#slots[index];
    if (slot === undefined || slot.isUp) return;
    slot.isUp = true;
    slot.runs = 0;
    if (slot.phase === 'idle') this.#idle.push(slot);
    else if (slot.phase === 'due') this.#start(slot, now);
    this.#fill(now);
  }

  /** The process of the slot is gone. */
  gone(index: number, reason: string, now: number): void {
    const slot = this.#slots[index];
    if (slot?.isUp !== true) return;
    slot.isUp = false;
    if (slot.phase === 'killing') {
      this.#failed(slot, TIMEOUT, now);
      return;
    }
    this.counts.deaths++;
    const id = slot.job?.id;
    this.#owner.note({ code: 'process-died', slot: index, reason, ...(id === undefined ? {} : { id }) });
    if (slot.phase === 'idle') this.#idle.splice(this.#idle.indexOf(slot), 1);
    else if (slot.phase === 'running') this.#failed(slot, toResult(reason), now);
  }

  /** A run ended. One that was to be killed, or is not known, changes nothing. */
  ran(index: number, number: number, outcome: EmqpRunOutcome, result: Uint8Array, now: number): void {
    const slot = this.#slots[index];
    if (slot?.phase !== 'running' || slot.job?.number !== number) return;
    const { maxJobsPerProcess } = this.#options;
    const isWorn = maxJobsPerProcess > 0 && slot.runs >= maxJobsPerProcess;
    if (isWorn) {
      slot.isUp = false;
      this.counts.recycled++;
      this.#owner.effect({ kind: 'recycle', slot: index });
    }
    if (outcome === 'failed') this.#failed(slot, result, now);
    else {
      if (outcome === 'done') this.counts.done++;
      else this.#failedForGood(slot.job, result);
      this.#finish(slot, result, now);
    }
  }

  /** Delivers what is due. `late`: this process could not listen for a while, so results may lie unread. */
  timer(late: boolean, now: number): void {
    for (let slot = this.#deadlines.takeDue(now); slot !== undefined; slot = this.#deadlines.takeDue(now)) {
      if (slot.phase === 'resting') {
        slot.phase = 'due';
        if (slot.isUp) this.#start(slot, now);
      } else if (late && !slot.excused) {
        slot.excused = true;
        this.#deadlines.set(slot.deadline, now + this.#options.graceMs);
      } else this.#kill(slot, true);
    }
  }

  /** Ends everything: what runs is killed, what waits is dropped. Nothing may be taken any more. */
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

  /** Throws when the books do not agree. */
  assertInvariants(): void {
    const check = (holds: boolean, what: string): void => {
      if (!holds) throw new Error(`Slots: ${what}`);
    };
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

  #fill(now: number): void {
    while (this.#waiting.length > 0) {
      const slot = this.#idle.pop();
      if (slot === undefined) return;
      slot.job = this.#waiting.shift();
      this.#running++;
      this.#start(slot, now);
    }
  }

  #start(slot: Slot, now: number): void {
    const job = slot.job as Job;
    job.run++;
    slot.phase = 'running';
    slot.runs++;
    slot.excused = false;
    const { timeoutSeconds } = job.headers;
    const limitMs = timeoutSeconds > 0 ? timeoutSeconds * 1000 : this.#options.globalTimeoutMs;
    if (limitMs > 0) this.#deadlines.set(slot.deadline, now + limitMs);
    const { number, id, queue, body, run } = job;
    this.#owner.note({ code: 'job-started', id, run, slot: slot.index });
    this.#owner.effect({
      kind: 'run',
      slot: slot.index,
      job: { number, id, queue, body, run },
      wantsResult: wantsReply(job),
    });
  }

  #kill(slot: Slot, isTimeout: boolean): void {
    const { id, run } = slot.job as Job;
    this.#deadlines.remove(slot.deadline);
    slot.phase = 'killing';
    if (isTimeout) {
      this.counts.timeouts++;
      this.#owner.note({ code: 'job-timeout', id, run });
    }
    this.#owner.effect({ kind: 'kill', slot: slot.index });
  }

  /** A run that brought nothing: once more, as long as the client wants it. */
  #failed(slot: Slot, result: Uint8Array, now: number): void {
    const job = slot.job as Job;
    this.#deadlines.remove(slot.deadline);
    if (this.#isEnding) {
      this.#abandonIn(slot);
      return;
    }
    if (job.run > job.headers.retryCount) {
      this.#failedForGood(job, result);
      this.#finish(slot, result, now);
      return;
    }
    const { retryDelayMs, retryMaxMs } = this.#options;
    const retryInMs = Math.min(retryDelayMs * 2 ** (job.run - 1), retryMaxMs);
    slot.phase = 'resting';
    this.counts.retries++;
    this.#deadlines.set(slot.deadline, now + retryInMs);
    this.#owner.note({ code: 'job-retried', id: job.id, run: job.run, retryInMs, reason: reasonOf(result) });
  }

  #failedForGood({ id, run }: Job, result: Uint8Array): void {
    this.counts.failed++;
    this.#owner.note({ code: 'job-failed', id, run, reason: reasonOf(result) });
  }

  #finish(slot: Slot, result: Uint8Array, now: number): void {
    this.#owner.finished(this.#release(slot), result);
    this.#fill(now);
  }

  #abandonIn(slot: Slot): void {
    this.#deadlines.remove(slot.deadline);
    this.#abandon(this.#release(slot));
  }

  #abandon(job: Job): void {
    this.counts.abandoned++;
    this.#owner.note({ code: 'job-abandoned', id: job.id });
    this.#owner.abandoned(job);
  }

  /** Takes the job out of its slot. */
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

/** Worker rule 4: the client wants to know, or the broker has to. */
export function wantsReply({ headers }: Job): boolean {
  return headers.replyRequested || headers.guarantee || headers.retryCount > 0;
}
