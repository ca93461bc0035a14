/** NFP worker: what follows when a change of a job is durable, and what when it will not be. */
import type { Answers } from './answers.js';
import type { NfpFinalState, NfpIncomingCall, NfpJob } from './job.js';
import { FINAL_STATUS } from './lifecycle.js';
import type { Lifecycle, LifecycleParts } from './lifecycle.js';
import type { Write } from './writes.js';

/** What a {@link Settlement} works with. */
export type SettlementParts = Pick<
  LifecycleParts,
  'output' | 'answers' | 'jobs' | 'slots' | 'changes' | 'retention'
> & {
  readonly lifecycle: Lifecycle;
  /** The change that calls about the job waited for is over. */
  readonly onSettled: (job: NfpJob, now: number) => void;
};

/** Ends each change, and answers who waited for it. */
export class Settlement {
  readonly #parts: SettlementParts;

  constructor(parts: SettlementParts) {
    this.#parts = parts;
  }

  /** The commit is durable. */
  committed(commit: number, now: number): void {
    for (const write of this.#parts.changes.settle(commit)) this.#written(write, now);
  }

  /** Nothing of it was kept. Who is not accepted yet is refused; what else has happened has happened, and is written again. */
  failed(commit: number, message: string, now: number): void {
    const { changes, output, lifecycle } = this.#parts;
    const writes = changes.settle(commit);
    if (writes.length === 0) return;
    output.note({ code: 'store-failed', message });
    const { isStaying } = lifecycle;
    const isNew = ({ kind }: Write): boolean => kind === 'accept' || kind === 'start';
    if (isStaying)
      changes.again(
        writes.filter((write) => !isNew(write)),
        now,
      );
    this.#giveUpAll(isStaying ? writes.filter(isNew) : writes, now);
  }

  /** The worker is on its way out: what waits for a store that has failed is given up. */
  abandon(now: number): void {
    this.#giveUpAll(this.#parts.changes.abandon(), now);
  }

  #written(write: Write, now: number): void {
    const { jobs, answers, lifecycle, onSettled } = this.#parts;
    const { job, call } = write;
    if (write.kind === 'mark') {
      if (call !== undefined) answers.status(call, 200, 'CANCELLING');
      return;
    }
    job.change = undefined;
    switch (write.kind) {
      case 'accept':
        this.#accepted(job, write);
        break;
      case 'start':
        lifecycle.begin(job, undefined);
        break;
      case 'finish':
        this.#finished(job, write, now);
        break;
      case 'remove':
        jobs.delete(job);
        if (call !== undefined) answers.status(call, 200, 'DELETED');
        break;
    }
    onSettled(job, now);
  }

  #accepted(job: NfpJob, write: Write): void {
    const { changes, output, answers, jobs, lifecycle } = this.#parts;
    const call = write.call as NfpIncomingCall;
    changes.accepted(job, call);
    output.note({ code: 'job-accepted', uuid: job.uuid, task: job.task });
    answers.accepted(call);
    if (job.run === undefined) jobs.enqueue(job);
    else lifecycle.begin(job, write.body);
  }

  #finished(job: NfpJob, { state, call }: Write, now: number): void {
    const { jobs, output, answers, retention } = this.#parts;
    const final = state as NfpFinalState;
    jobs.setState(job, final);
    jobs.keep(job, now);
    output.note({ code: 'job-finished', uuid: job.uuid, task: job.task, state: final });
    if (call !== undefined) answers.status(call, 200, 'CANCELLED');
    answers.progress(job, 'completed', FINAL_STATUS[final], final === 'FAILED' ? 'ERROR' : 'INFO');
    job.log = [];
    retention.trim();
  }

  /** From the last to the first, so that jobs are back in the queue in their order. */
  #giveUpAll(writes: readonly Write[], now: number): void {
    for (const write of [...writes].reverse()) this.#giveUp(write, now);
  }

  /** A change that will not be written: a job that is lost by that is done again after the next start. */
  #giveUp({ kind, job, call }: Write, now: number): void {
    const { answers, jobs, slots, output } = this.#parts;
    switch (kind) {
      case 'accept':
        this.#refuse(job, call as NfpIncomingCall, answers);
        this.#parts.onSettled(job, now);
        break;
      case 'start':
        job.change = undefined;
        job.runs--;
        slots.free(job);
        jobs.putBack(job);
        this.#parts.onSettled(job, now);
        break;
      case 'finish':
        output.note({ code: 'job-interrupted', uuid: job.uuid, task: job.task });
        break;
      case 'mark':
      case 'remove':
        if (call !== undefined) answers.fail(call, 500, 'store does not take changes');
        break;
    }
  }

  #refuse(job: NfpJob, call: NfpIncomingCall, answers: Answers): void {
    const { changes, jobs, slots } = this.#parts;
    changes.accepted(job, call);
    if (job.run !== undefined) slots.free(job);
    job.change = undefined;
    jobs.delete(job);
    answers.refuse(call, 500, 'store', 'store did not take the job');
  }
}
