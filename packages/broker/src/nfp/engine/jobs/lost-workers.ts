/** NFP broker: what happens to a worker's jobs when it is lost, and when it returns. Rule 13 of docs/protocols/nfp.md. */
import type { NfpAnswer } from '@proj/frames/nfp';
import type { BrokerState } from '../state.js';
import type { JobSender } from './job-sender.js';
import { PARTS, type Word } from '../legality.js';
import { EVERY_SERVICE } from '../management/reserved-names.js';
import type { NfpBrokerSettings } from '../../options.js';
import { type Happening, JOB_UNKNOWN, type Output } from '../output.js';
import type { Holder, Job, Part, Worker } from '../records.js';
import { chooseOther } from './targets.js';
import type { Waiting } from './waiting.js';

const OK = 200;

/** Follows each job at each of its workers, from POST to result. */
export class LostWorkers {
  readonly #settings: NfpBrokerSettings;
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #sender: JobSender;
  readonly #waiting: Waiting;

  constructor(settings: NfpBrokerSettings, state: BrokerState, out: Output, sender: JobSender, waiting: Waiting) {
    this.#settings = settings;
    this.#state = state;
    this.#out = out;
    this.#sender = sender;
    this.#waiting = waiting;
  }

  /**
   * Workers are lost, and already dropped. Their clients are informed. A job for any worker without news goes to the next one at once, unless
   * the broker dismissed its worker itself (`isDismissed`): then the worker has the job.
   */
  lost(workers: readonly Worker[], isDismissed: boolean): void {
    for (const { holder } of workers) this.#begin(holder, this.#telling(holder, isDismissed));
    for (let holder = this.#state.holders.surplus; holder !== undefined; holder = this.#state.holders.surplus)
      this.#forget(holder);
  }

  /** The broker closes: workers keep what they have, and are not waited for. */
  letGo(): void {
    const { holders, jobs, figures } = this.#state;
    for (const holder of [...holders.values()]) {
      for (const part of [...holder.parts.values()]) {
        figures.ended(part, 'drained');
        jobs.settle(part);
      }
      holders.drop(holder);
    }
  }

  /**
   * A worker has registered, or was restarted: it gets the jobs it may not have. It is told to drop jobs that went to another worker meanwhile,
   * after waiting jobs have found their worker.
   */
  returned(worker: Worker, wasLost: boolean): void {
    this.owe(worker);
    this.#begin(worker.holder, this.#repeating(worker, wasLost));
  }

  /** A worker was restarted: it may not have what it was sent before. It gets each job at the latest when a client asks about it. */
  owe({ holder }: Worker): void {
    holder.owedUpTo = this.#state.jobs.sent;
  }

  /** A client asks about a job: workers that may not have it get it now. Otherwise they would answer that they do not know it, and it would end. */
  hurry(uuid: string): void {
    for (const part of [...(this.#state.jobs.find(uuid)?.parts ?? [])]) {
      const { state, sent, job, holder } = part;
      const { worker, owedUpTo } = holder;
      const isOwed = (state === 'held' || state === 'sent') && sent <= owedUpTo;
      if (isOwed && worker !== undefined && serves(worker, job)) this.#repeat(part, worker);
    }
  }

  /** Gives up workers that have not returned in time. */
  expire(): void {
    const { holders } = this.#state;
    const { now } = this.#out;
    for (const holder of holders.takeOverdue(now)) this.#giveUp(holder);
  }

  /** A worker's message about a job: performs the verdict of the part table. False if the client must not get it. */
  hears(part: Part, answer: { readonly command: NfpAnswer; readonly status: number }): boolean {
    if (answer.command === 'mmi') return true;
    const word = wordOf(answer);
    const [verdict, next] = PARTS[part.state][word];
    switch (verdict) {
      case 'withhold':
        if (part.isTold && (word === 'result' || word === 'job-unknown')) {
          part.hasDropped = true;
          // A worker without a trace of the job cannot mistake it for one that was cancelled: it may have it again.
          part.isTold = word === 'result';
        }
        return false;
      case 'hand-over':
        if (part.job.current !== part) return true;
        this.#handOver(part, 'does not know the job any more');
        return false;
      case 'settle':
        this.#state.figures.ended(part, word === 'result' ? 'ok' : word === 'job-unknown' ? word : 'failed');
        this.#state.jobs.settle(part);
        return true;
      case 'pass':
        if (next === 'taken') this.#state.jobs.take(part);
        return true;
    }
  }

  #repeat(part: Part, worker: Worker): void {
    const { job } = part;
    const { maxAttempts } = this.#settings;
    const isOwed = part.state === 'sent' && job.current === part;
    if (job.cost === 0) return;
    if (isOwed && job.attempts > maxAttempts) {
      this.#sender.giveUp('worker-lost', job, [`sent ${job.attempts} times without an answer`]);
      return;
    }
    if (part.state === 'sent') {
      this.#out.resent(job);
      part.holder.resends++;
    }
    this.#sender.repeat(part, worker);
  }

  #begin(holder: Holder, work: Iterator<void>): void {
    this.#state.errands.begin(holder, work, this.#out.now);
  }

  /** Calls `about` for each job the worker has now, a slice at a time, except jobs that are sent to it again meanwhile. */
  *#each({ parts }: Holder, about: (part: Part) => void): Generator<void, void, void> {
    const { sent } = this.#state.jobs;
    for (const part of [...parts.values()]) {
      if (part.taken && part.sent <= sent) about(part);
      yield;
    }
  }

  /** `then` is called for each part that stays with the worker anyway. */
  #giveUp(holder: Holder, then: (part: Part) => void = () => undefined): void {
    const work = this.#each(holder, (part) => {
      this.#end(part, `was lost and did not come back within ${this.#settings.returnMs} ms`);
      if (part.taken) then(part);
    });
    this.#begin(holder, work);
  }

  #telling(holder: Holder, isDismissed: boolean): Iterator<void> {
    return this.#each(holder, (part) => {
      const { job, state } = part;
      if (state === 'held' || state === 'moved') return;
      const mayGo = !isDismissed && state === 'sent' && job.current === part;
      if (mayGo && chooseOther(job, job.service, this.#state) !== undefined) this.#handOver(part, 'is lost');
      else this.#tell(part, 'worker-lost', `${holder.name} is lost; ${this.#settings.returnMs} ms for its return`);
    });
  }

  *#repeating(worker: Worker, wasLost: boolean): Generator<void, void, void> {
    const { holder } = worker;
    yield* this.#each(holder, (part) => {
      if (!serves(worker, part.job)) this.#end(part, 'serves something else now');
      else if (part.state === 'held' || part.state === 'sent') this.#repeat(part, worker);
      else if (part.state === 'taken' && wasLost) this.#tell(part, 'worker-back', `${holder.name} is back`);
    });
    this.#waiting.serve(worker.service);
    yield* this.#each(holder, (part) => {
      if (part.state === 'moved' && !part.hasDropped) this.#sender.drop(part, worker);
    });
  }

  /** The worker is no longer awaited. Parts not sent to it yet wait as long as their job may. */
  #end(part: Part, why: string): void {
    if (part.state === 'held' || part.state === 'moved') return;
    if (part.job.current === part) this.#handOver(part, why);
    else this.#miss(part, `${part.holder.name} ${why}`);
  }

  /** There are too many absent names: this one, absent longest, is no longer awaited. */
  #forget(holder: Holder): void {
    this.#state.holders.drop(holder);
    this.#giveUp(holder, (part) => {
      if (part.state === 'held')
        this.#miss(part, `${holder.name} is not waited for any longer: too many workers are away`);
      else this.#state.jobs.settle(part);
    });
  }

  /** The job goes to another worker, or waits for one. */
  #handOver(part: Part, why: string): void {
    const { job, holder } = part;
    const { jobs } = this.#state;
    if (job.attempts > this.#settings.maxAttempts) {
      this.#sender.giveUp('worker-lost', job, [`${job.attempts} workers with it were lost`]);
    } else if (job.cost === 0) {
      this.#sender.giveUp('worker-lost', job, [
        `${holder.name} ${why}, and requestQueueMaxBytes left no room to keep the job for another`,
      ]);
    } else {
      this.#tell(part, 'redispatched', `${holder.name} ${why}; the job goes to another worker`);
      jobs.move(part);
      holder.resends++;
      this.#waiting.again(job);
    }
  }

  /** 408 in place of this worker's last word. */
  #miss(part: Part, error: string): void {
    const { job, holder } = part;
    const { poster, uuid, service } = job;
    const isOnly = job.attempts === 0;
    this.#state.jobs.settle(part);
    if (isOnly && job.partCount === 0) this.#sender.giveUp('expired', job, [error]);
    else this.#out.late('worker-lost', poster, { uuid, service }, holder.name, error);
  }

  #tell({ job, holder }: Part, status: Happening['status'], message: string): void {
    this.#out.event(job.poster, job, { name: holder.name, status, message });
  }
}

function serves({ service: own }: Worker, { service }: Job): boolean {
  return service === own.name || service === EVERY_SERVICE;
}

function wordOf({ command, status }: { readonly command: NfpAnswer; readonly status: number }): Word {
  if (command !== 'response') return 'sign';
  if (status === OK) return 'result';
  if (status === JOB_UNKNOWN) return 'job-unknown';
  return status >= 400 ? 'failure' : 'sign';
}
