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
    const { open } = worker;
    if (open.size === 0) return;
    open.hasLeft = true;
    this.#entrust(worker);
    this.#state.errands.begin(open, this.#leaving(open), this.#out.now);
  }

  /**
   * Rules 16 and 17: a message to the worker, already forgotten, came back. Guaranteed jobs continue, a slice at a time. Other jobs that did not
   * reach the worker come back one by one; the rest count as lost after a while.
   */
  strand(worker: Worker): void {
    const { open } = worker;
    if (open.isAllGuaranteed) {
      this.recover(open);
      return;
    }
    this.#entrust(worker);
    this.#state.errands.begin(open, this.#stranding(open), this.#out.now);
  }

  /** Rule 16: takes back a job whose dispatch came back, which is not an attempt. */
  takeBack(job: Job, request: EmqpRequest): void {
    this.#endings.detach(job);
    job.attempts--;
    if (job.attempts === 0 && !job.isRestored) this.#state.kept.remove(job);
    if (job.request === undefined) job.request = request;
    if (job.cost === 0) this.#endings.charge(job, request);
  }

  /**
   * Rule 20: READY came for a slot that no job has left. While processes start it is a new slot; later, a process was replaced and its job was
   * lost. If jobs may end in silence, nobody knows.
   */
  suspect(worker: Worker): void {
    const { open } = worker;
    if (open.oldestSilent !== undefined && !worker.answersAll) return;
    if (open.size === 0 || this.#out.now - worker.grownAt < SETTLING_MS) {
      worker.grownAt = this.#out.now;
      return;
    }
    open.suspectAll();
  }

  /** Rule 20: once the other suspects have been answered, it is known which jobs were lost. */
  loseMissing(worker: Worker): void {
    const { open } = worker;
    const { suspects, missing } = open;
    if (suspects > missing) return;
    open.missing = suspects;
    if (suspects > 0) this.#state.errands.begin(open, this.#losing(worker), this.#out.now);
  }

  /** All suspects that there are now. */
  *#losing(worker: Worker): Generator<void, void, void> {
    const { open } = worker;
    const newest = open.suspectedTo;
    for (let job = open.oldest; job !== undefined && job.number <= newest; job = open.oldest) {
      open.missing--;
      if (!job.kept) this.#endings.lose(job, 'jobs-lost');
      else if (this.#resend(job)) worker.resends++;
      yield;
    }
  }

  *#leaving(open: WorkerJobs): Generator<void, void, void> {
    for (let job = open.oldestPlain; job !== undefined; job = open.oldestPlain) {
      this.#endings.unconfirmed(job);
      yield;
    }
  }

  *#stranding(open: WorkerJobs): Generator<void, void, void> {
    for (const job of open.values()) {
      if (!job.guarantee) continue;
      this.#resend(job);
      yield;
    }
  }

  *#recovering(open: WorkerJobs): Generator<void, void, void> {
    for (const isKept of [false, true])
      for (const job of open.values()) {
        if (job.kept !== isKept) continue;
        if (isKept) this.#resend(job);
        else if (job.isPlain && open.hasLeft) this.#endings.unconfirmed(job);
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

  /** Leaves the jobs to their worker that is no longer registered, for a while. */
  #entrust(worker: Worker): void {
    const { peers } = this.#state;
    const givenUp = peers.leave(worker, this.#out.now);
    if (givenUp !== undefined) this.recover(givenUp);
  }
}
