/** EventMQ broker: what workers report about jobs with READY and REPLY, and what their silence means. Rules 10, 11, 13, 17, 19 and 20. */
import type { EmqpResult } from '@proj/frames/emqp';
import { dueOf } from '../../../shared/due.js';
import type { Dispatcher } from './dispatcher.js';
import type { Job, WorkerJobs } from './job.js';
import type { JobEndings } from './job-endings.js';
import type { Output } from '../output.js';
import type { Leaver, Worker } from '../peers/peers.js';
import type { LostWorkers } from './lost-workers.js';
import type { BrokerState } from '../state.js';

const SLOTS_MAX = 100_000;

/** Matches READYs, REPLYs and silence with the jobs they end. */
export class Results {
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #dispatcher: Dispatcher;
  readonly #endings: JobEndings;
  readonly #lostWorkers: LostWorkers;

  constructor(state: BrokerState, out: Output, dispatcher: Dispatcher, endings: JobEndings, lostWorkers: LostWorkers) {
    this.#state = state;
    this.#out = out;
    this.#dispatcher = dispatcher;
    this.#endings = endings;
    this.#lostWorkers = lostWorkers;
  }

  /** READY: a job has ended, and a slot takes the next one from the worker's best queue (rule 13). */
  ready(worker: Worker): void {
    if (worker.slots >= SLOTS_MAX) {
      this.#out.dropMessage('slots-capped', worker);
      return;
    }
    if (worker.busy > 0) worker.busy--;
    const { open } = worker;
    if (open.readyOwed > 0) open.readyOwed--;
    else if (open.oldestPlain !== undefined) this.#endings.processed(open.oldestPlain, worker);
    else this.#lostWorkers.suspect(worker);
    worker.slots++;
    if (worker.slots === 1 && !worker.isLeaving) this.#dispatcher.offer(worker);
    this.#lostWorkers.loseMissing(worker);
    this.releaseSilent(worker);
  }

  /**
   * Rules 10, 11, 17 and 18: REPLY from a current or former worker. False if there is no such job, or it is another worker's, from a queue that
   * this peer may not serve.
   */
  result(
    worker: Worker | undefined,
    leaver: Leaver | undefined,
    result: EmqpResult,
    mayServe: (queue: string) => boolean,
  ): boolean {
    const own = worker?.open.find(result.of) ?? leaver?.find(result.of);
    const job = own ?? this.#findKept(result.of);
    if (job === undefined || (own === undefined && !mayServe(job.queue.name))) return false;
    if (job.holder !== undefined) job.holder.readyOwed++;
    if (job.isSilent && worker !== undefined) worker.answersAll = true;
    if (job.awaited) {
      this.#out.counters.results++;
      this.#endings.answer(job, result.id, result.result);
    }
    const { totals } = job.queue;
    totals.latencyMs = Math.round(this.#out.now - job.acceptedAt);
    totals.maxLatencyMs = Math.max(totals.maxLatencyMs, totals.latencyMs);
    this.#endings.processed(job, worker);
    if (own !== undefined && worker !== undefined) this.#lostWorkers.loseMissing(worker);
    return true;
  }

  /** Rule 19: a worker that never answers such jobs has none when all its slots are free. `evenIfNew`: for a worker that is being dismissed. */
  releaseSilent(worker: Worker, evenIfNew = false): void {
    const { busy, answersAll, settled, open } = worker;
    if (busy > 0 || answersAll || !(settled || evenIfNew) || open.oldestSilent === undefined) return;
    this.#state.errands.begin(worker, this.#releasing(open), this.#out.now);
  }

  /** The silent jobs that there are now. */
  *#releasing(open: WorkerJobs): Generator<void, void, void> {
    const newest = open.newestNumber;
    for (let job = open.oldestSilent; job !== undefined && job.number <= newest; job = open.oldestSilent) {
      this.#endings.unconfirmed(job);
      yield;
    }
  }

  /** Rule 19: jobs that will get no REPLY, and workers whose slots are known now. */
  expire(): void {
    const { releases, settling } = this.#state;
    const { now } = this.#out;
    for (const job of dueOf(releases, now)) this.#endings.unconfirmed(job);
    for (let worker = settling.takeDue(now); worker !== undefined; worker = settling.takeDue(now)) {
      worker.settled = true;
      this.releaseSilent(worker);
    }
  }

  /** Rule 17: the only kept job with that id, wherever it is: a worker that was given up has finished it after all. */
  #findKept(id: string | undefined): Job | undefined {
    const jobs = id === undefined ? [] : this.#state.kept.get(id);
    return jobs.length === 1 ? jobs[0] : undefined;
  }
}
