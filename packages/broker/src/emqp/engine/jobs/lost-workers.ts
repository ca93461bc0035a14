/** EventMQ broker: what happens to a worker's jobs when it dies, leaves or cannot be reached. Rules 14 and 16 to 20. */
import type { EmqpRequest } from '@proj/frames/emqp';
import type { EmqpBrokerSettings } from '../../options.js';
import type { Dispatcher } from './dispatcher.js';
import type { Job, WorkerJobs } from './job.js';
import type { JobEndings } from './job-endings.js';
import type { Output } from '../output.js';
import type { Worker } from '../peers/peers.js';
import { type BrokerState, SETTLING_MS } from '../state.js';

/** Gives jobs to another worker, leaves them to theirs for a while, or loses them. */
export class LostWorkers {
  readonly #settings: EmqpBrokerSettings;
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #dispatcher: Dispatcher;
  readonly #endings: JobEndings;

  constructor(
    settings: EmqpBrokerSettings,
    state: BrokerState,
    out: Output,
    dispatcher: Dispatcher,
    endings: JobEndings,
  ) {
    this.#settings = settings;
    this.#state = state;
    this.#out = out;
    this.#dispatcher = dispatcher;
    this.#endings = endings;
  }

  /** Rules 17 and 20: the worker, already forgotten, is dead: kept jobs continue, others are lost, a slice at a time. */
  recover(open: WorkerJobs): void {
    if (open.size === 0) return;
    this.#state.peers.lost.add(open);
    this.#state.errands.begin(open, this.#recovering(open), this.#out.now);
  }

  /** Rule 18: the worker has left in order, and may still answer its jobs. */
  leave(worker: Worker): void {
    const answerable: Job[] = [];
    for (const job of worker.open.values()) {
      if (job.isPlain) this.#endings.unconfirmed(job);
      else answerable.push(job);
    }
    this.#entrust(worker, answerable);
  }

  /**
   * Rules 16 and 17: a message to the worker, already forgotten, came back. Guaranteed jobs continue at once. Other jobs that did not reach the
   * worker come back one by one; the rest count as lost after a while.
   */
  strand(worker: Worker): void {
    this.#entrust(
      worker,
      [...worker.open.values()].filter(({ guarantee }) => !guarantee),
    );
    this.recover(worker.open);
  }

  /** Rule 16: takes back a job whose dispatch came back, which is not an attempt; `undefined` if the job has ended. */
  takeBack(open: WorkerJobs, request: EmqpRequest): Job | undefined {
    const job = open.findLatest(request.id);
    if (job === undefined) return undefined;
    this.#endings.detach(job);
    job.attempts--;
    if (job.attempts === 0 && !job.isRestored) this.#state.kept.remove(job);
    if (job.request === undefined) job.request = request;
    if (job.cost === 0) this.#endings.charge(job, request);
    return job;
  }

  /**
   * Rule 20: READY came for a slot that no job has left. While processes start it is a new slot; later, a process was replaced and its job was
   * lost. If jobs may end in silence, nobody knows.
   */
  suspect(worker: Worker): void {
    const { open } = worker;
    if (open.hasSilent && !worker.answersAll) return;
    if (open.size === 0 || this.#out.now - worker.grownAt < SETTLING_MS) {
      worker.grownAt = this.#out.now;
      return;
    }
    for (const job of open.values()) open.suspects.add(job);
    open.missing++;
  }

  /** Rule 20: once the other suspects have been answered, it is known which jobs were lost. */
  loseMissing(worker: Worker): void {
    const { open } = worker;
    const { suspects } = open;
    if (suspects.size > open.missing) return;
    open.missing = 0;
    for (const job of [...suspects]) {
      if (!job.kept) this.#endings.lose(job, 'jobs-lost');
      else if (this.#resend(job)) worker.resends++;
    }
  }

  *#recovering(open: WorkerJobs): Generator<void, void, void> {
    const jobs = [...open.values()];
    for (const isKept of [false, true])
      for (const job of jobs) {
        // A reply may have ended it meanwhile.
        if (job.holder !== open || job.kept !== isKept) continue;
        if (isKept) this.#resend(job);
        else this.#endings.lose(job, 'jobs-lost');
        yield;
      }
    this.#state.peers.lost.delete(open);
  }

  /** Rule 17: to the next worker at once, or to the front; or given up: then false. */
  #resend(job: Job): boolean {
    this.#endings.detach(job);
    const attemptsMax = job.guarantee ? this.#settings.guaranteeAttempts : job.retryCount + 1;
    const mayGo = job.attempts < attemptsMax;
    if (mayGo) {
      if (job.record !== undefined) this.#state.keeper.change(job);
      this.#dispatcher.again(job);
    } else {
      this.#endings.lose(job, job.guarantee ? 'guarantee-exhausted' : 'jobs-lost');
    }
    return mayGo;
  }

  /** Leaves these jobs to a worker that is no longer registered, for a while. */
  #entrust(worker: Worker, jobs: readonly Job[]): void {
    if (jobs.length === 0) return;
    const leaver = this.#state.peers.leave(worker, this.#out.now);
    for (const job of jobs) {
      worker.open.remove(job, this.#out.now);
      leaver.open.add(job, this.#out.now);
    }
  }
}
