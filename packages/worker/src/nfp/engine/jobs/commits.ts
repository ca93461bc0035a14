/** NFP worker: what follows when a change of a job is durable, or has failed. Worker rules 4, 8 and 11 of docs/protocols/nfp.md. */
import { FINAL_STATUS } from './bodies.js';
import type { NfpFinalState, NfpIncomingCall } from '../events.js';
import type { Lifecycle, LifecycleParts } from './lifecycle.js';
import type { Retention } from './retention.js';
import type { NfpJob } from '../state.js';
import type { Write } from '../records.js';

/** The parts that a {@link Commits} uses. */
export interface CommitsParts extends Pick<LifecycleParts, 'out' | 'answers' | 'jobs' | 'slots' | 'writes'> {
  readonly retention: Retention;
  readonly lifecycle: Lifecycle;
  /** The change that calls about the job waited for has ended. */
  readonly onSettled: (job: NfpJob) => void;
}

/** Completes each change, and answers the calls that waited for it. */
export class Commits {
  readonly #parts: CommitsParts;

  constructor(parts: CommitsParts) {
    this.#parts = parts;
  }

  /** The commit is durable. */
  committed(commit: number): void {
    for (const write of this.#parts.writes.settle(commit)) this.#written(write);
  }

  /** The commit failed completely. Jobs to be accepted or started are not; other changes have happened, and are written again. */
  failed(commit: number, message: string): void {
    const { writes, out, lifecycle } = this.#parts;
    const failed = writes.settle(commit);
    if (failed.length === 0) return;
    out.report({ code: 'store-failed', message });
    if (!lifecycle.isStaying) {
      this.#giveUpAll(failed);
      return;
    }
    const isNew = ({ kind }: Write): boolean => kind === 'accept' || kind === 'start';
    writes.again(failed.filter((write) => !isNew(write)));
    this.#giveUpAll(failed.filter(isNew));
  }

  /** The worker is leaving: changes waiting for a failed store are given up. */
  abandon(): void {
    this.#giveUpAll(this.#parts.writes.abandon());
  }

  #written(write: Write): void {
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
        this.#finished(job, write);
        break;
      case 'remove':
        jobs.delete(job);
        if (call !== undefined) answers.status(call, 200, 'DELETED');
        break;
    }
    onSettled(job);
  }

  #accepted(job: NfpJob, write: Write): void {
    const { writes, out, answers, jobs, lifecycle } = this.#parts;
    const call = write.call as NfpIncomingCall;
    writes.accepted(job, call);
    out.report({ code: 'job-accepted', uuid: job.uuid, task: job.task });
    answers.accepted(call);
    if (job.run === undefined) jobs.enqueue(job);
    else lifecycle.begin(job, write.body);
  }

  #finished(job: NfpJob, { state, call }: Write): void {
    const { jobs, out, answers, retention } = this.#parts;
    const final = state as NfpFinalState;
    jobs.setState(job, final);
    jobs.keep(job, out.now);
    out.report({ code: 'job-finished', uuid: job.uuid, task: job.task, state: final });
    if (call !== undefined) answers.status(call, 200, 'CANCELLED');
    answers.progress(job, 'completed', FINAL_STATUS[final], final === 'FAILED' ? 'ERROR' : 'INFO');
    job.log = [];
    retention.trim();
  }

  /** From last to first, so that jobs return to the queue in order. */
  #giveUpAll(writes: readonly Write[]): void {
    for (const write of [...writes].reverse()) this.#giveUp(write);
  }

  /** A change that will not be written: a job lost by that runs again after the next start. */
  #giveUp({ kind, job, call }: Write): void {
    const { answers, jobs, slots, out, onSettled } = this.#parts;
    switch (kind) {
      case 'accept':
        this.#refuse(job, call as NfpIncomingCall);
        onSettled(job);
        break;
      case 'start':
        job.change = undefined;
        job.runs--;
        slots.free(job);
        jobs.putBack(job);
        onSettled(job);
        break;
      case 'finish':
        out.report({ code: 'job-interrupted', uuid: job.uuid, task: job.task });
        break;
      case 'mark':
      case 'remove':
        if (call !== undefined) answers.fail(call, 500, 'store does not take changes');
        break;
    }
  }

  #refuse(job: NfpJob, call: NfpIncomingCall): void {
    const { writes, jobs, slots, answers } = this.#parts;
    writes.accepted(job, call);
    if (job.run !== undefined) slots.free(job);
    job.change = undefined;
    jobs.delete(job);
    answers.refuse(call, 500, 'store', 'store did not take the job');
  }
}
