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

  /** Rules 17 and 20: the worker, already forgotten, is dead: kept jobs continue, others are lost. */
  recover(open: WorkerJobs): void {
    const again: Job[] = [];
    for (const job of open.values()) {
      if (job.kept) again.push(job);
      else this.#endings.lose(job, 'jobs-lost');
    }
    for (const job of again) this.#resend(job);
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
    const again: Job[] = [];
    const uncertain: Job[] = [];
    for (const job of worker.open.values()) (job.guarantee ? again : uncertain).push(job);
    this.#entrust(worker, uncertain);
    for (const job of again) this.#resend(job);
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
