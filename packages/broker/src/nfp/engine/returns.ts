/** NFP broker: what becomes of jobs whose worker is lost, and of those it still has when it is back. Rule 13 of docs/protocols/nfp.md. */
import type { NfpAnswer } from '@proj/frames/nfp';
import type { BrokerState } from './state.js';
import type { JobSender } from './job-sender.js';
import type { Holder, Part } from './holders.js';
import { EVERY_SERVICE } from './names.js';
import type { NfpBrokerSettings } from '../options.js';
import type { Happening, Output } from './output.js';
import { chooseOther } from './targets.js';
import type { Waiting } from './waiting.js';
import type { Worker } from './workers.js';

const OK = 200;
const UNKNOWN_JOB = 404;

/** Follows each job at each of its workers, from its POST to its result. */
export class Returns {
  readonly #settings: NfpBrokerSettings;
  readonly #books: BrokerState;
  readonly #out: Output;
  readonly #dispatch: JobSender;
  readonly #waiting: Waiting;

  constructor(settings: NfpBrokerSettings, books: BrokerState, out: Output, dispatch: JobSender, waiting: Waiting) {
    this.#settings = settings;
    this.#books = books;
    this.#out = out;
    this.#dispatch = dispatch;
    this.#waiting = waiting;
  }

  /**
   * Workers are gone; all have left the books before. Clients are told. A job for any worker about which nothing was heard goes to the next one
   * at once, unless the broker sent its worker away itself (`isWilled`), which has it then.
   */
  lost(workers: readonly Worker[], isWilled: boolean): void {
    for (const { holder } of workers) this.#begin(holder, this.#telling(holder, isWilled));
    for (let holder = this.#books.holders.surplus; holder !== undefined; holder = this.#books.holders.surplus)
      this.#forget(holder);
  }

  /** The broker ends: what workers have is theirs, and they are not waited for. */
  letGo(): void {
    const { holders, jobs } = this.#books;
    for (const holder of [...holders.values()]) {
      for (const part of [...holder.parts.values()]) jobs.settle(part);
      holders.drop(holder);
    }
  }

  /**
   * A worker is there that was not, or has been started again: it is sent what it may not have. What went to another one meanwhile it is told to drop,
   * unless that waits for whoever comes.
   */
  returned(worker: Worker, wasLost: boolean): void {
    this.#begin(worker.holder, this.#repeating(worker, wasLost));
  }

  /** Workers that have not come back in time. */
  expire(): void {
    const { holders } = this.#books;
    const { now } = this.#out;
    for (let holder = holders.takeOverdue(now); holder !== undefined; holder = holders.takeOverdue(now))
      this.#giveUp(holder);
  }

  /** A worker says something about a job. False when its client is not to hear it. */
  hears({ holder }: Worker, uuid: string, command: NfpAnswer, status: number): boolean {
    const part = holder.parts.get(uuid);
    if (part === undefined || command === 'mmi') return true;
    const isResponse = command === 'response';
    if (part.state === 'moved') {
      if (isResponse && part.isTold && (status === OK || status === UNKNOWN_JOB)) {
        part.hasDropped = true;
        // It has nothing on its disk that would be its answer to the job: it may have it again.
        part.isTold = status === OK;
      }
      return false;
    }
    const isMine = part.job.current === part;
    if (isResponse && status === UNKNOWN_JOB && isMine && part.state === 'taken') {
      this.#handOver(part, 'does not know the job any more');
      return false;
    }
    if (isResponse && (status === OK || (status >= 400 && part.state === 'sent'))) this.#books.jobs.settle(part);
    else this.#books.jobs.take(part);
    return true;
  }

  #repeat(part: Part, worker: Worker): void {
    const { job } = part;
    const { maxAttempts } = this.#settings;
    const isOwed = part.state === 'sent' && job.current === part;
    if (job.cost === 0) return;
    if (isOwed && job.attempts > maxAttempts) {
      this.#dispatch.giveUp('worker-lost', job, [`sent ${job.attempts} times without an answer`]);
      return;
    }
    if (part.state === 'sent') this.#out.counters.redispatches++;
    this.#dispatch.repeat(part, worker);
  }

  #begin(holder: Holder, work: Iterator<void>): void {
    this.#books.errands.begin(holder, work, this.#out.now);
  }

  /** Does something about each job that is with the worker now, unless it is sent to it again meanwhile. */
  *#each({ parts }: Holder, about: (part: Part) => void): Generator<void, void, void> {
    const { sent } = this.#books.jobs;
    let left = parts.size;
    for (const part of parts.values()) {
      if (left-- === 0) return;
      if (part.sent <= sent) about(part);
      yield;
    }
  }

  /** `then`: what is done about what is with it all the same. */
  #giveUp(holder: Holder, then: (part: Part) => void = () => undefined): void {
    const work = this.#each(holder, (part) => {
      this.#end(part, `was lost and did not come back within ${this.#settings.returnMs} ms`);
      if (holder.parts.get(part.job.uuid) === part) then(part);
    });
    this.#begin(holder, work);
  }

  #telling(holder: Holder, isWilled: boolean): Iterator<void> {
    return this.#each(holder, (part) => {
      const { job, state } = part;
      if (state === 'held' || state === 'moved') return;
      const mayGo = !isWilled && state === 'sent' && job.current === part;
      if (mayGo && chooseOther(job.uuid, job.service, this.#books) !== undefined) this.#handOver(part, 'is lost');
      else this.#tell(part, 'worker-lost', `${holder.name} is lost; ${this.#settings.returnMs} ms for its return`);
    });
  }

  *#repeating(worker: Worker, wasLost: boolean): Generator<void, void, void> {
    const { holder } = worker;
    yield* this.#each(holder, (part) => {
      const { service } = part.job;
      if (service !== worker.service.name && service !== EVERY_SERVICE) this.#end(part, 'serves something else now');
      else if (part.state === 'held' || part.state === 'sent') this.#repeat(part, worker);
      else if (part.state === 'taken' && wasLost) this.#tell(part, 'worker-back', `${holder.name} is back`);
    });
    this.#waiting.serve(worker.service);
    yield* this.#each(holder, (part) => {
      if (part.state === 'moved' && !part.hasDropped) this.#dispatch.drop(part, worker);
    });
  }

  /** The worker is not waited for any longer. What it has not been sent yet waits for as long as its job may. */
  #end(part: Part, why: string): void {
    if (part.state === 'held' || part.state === 'moved') return;
    if (part.job.current === part) this.#handOver(part, why);
    else this.#miss(part, `${part.holder.name} ${why}`);
  }

  /** There are too many names: whoever has been away for longest is not waited for any longer. */
  #forget(holder: Holder): void {
    this.#books.holders.drop(holder);
    this.#giveUp(holder, (part) => {
      if (part.state === 'held')
        this.#miss(part, `${holder.name} is not waited for any longer: too many workers are away`);
      else this.#books.jobs.settle(part);
    });
  }

  /** To another worker, or to whoever comes. */
  #handOver(part: Part, why: string): void {
    const { job, holder } = part;
    const { jobs } = this.#books;
    if (job.attempts > this.#settings.maxAttempts) {
      this.#dispatch.giveUp('worker-lost', job, [`${job.attempts} workers with it were lost`]);
    } else if (job.cost === 0) {
      this.#dispatch.giveUp('worker-lost', job, [
        `${holder.name} ${why}, and requestQueueMaxBytes left no room to keep the job for another`,
      ]);
    } else {
      this.#tell(part, 'redispatched', `${holder.name} ${why}; the job goes to another worker`);
      jobs.move(part);
      this.#waiting.again(job);
    }
  }

  /** Rule 13: 408 in place of this worker's last word. */
  #miss(part: Part, error: string): void {
    const { job, holder } = part;
    const { poster, uuid, service } = job;
    const isOnly = job.attempts === 0;
    this.#books.jobs.settle(part);
    if (isOnly && job.parts.size === 0) this.#dispatch.giveUp('expired', job, [error]);
    else this.#out.late('worker-lost', poster, { uuid, service }, holder.name, error);
  }

  #tell({ job, holder }: Part, status: Happening['status'], message: string): void {
    this.#out.event(job.poster, job, { name: holder.name, status, message });
  }
}
