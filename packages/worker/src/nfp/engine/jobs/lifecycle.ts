/**
 * NFP worker: a job from its acceptance to its result, and what happens to jobs of an earlier start. Worker rules 4 to 9 and 12 of
 * docs/protocols/nfp.md.
 */
import { addressOf, ENVELOPE_BYTES } from './answers.js';
import type { Answers, Inputs } from './answers.js';
import { FINAL_STATUS, resultBody } from './bodies.js';
import type {
  NfpCallBody,
  NfpFinalState,
  NfpIncomingCall,
  NfpStoredJob,
  NfpTaskOutcome,
  NfpWorkerLeaveReason,
  NfpWorkerSessionOptions,
  NfpOutput,
} from '../events.js';
import type { Restart } from '../management.js';
import { NfpJob } from '../state.js';
import type { NfpJobs, Slots } from '../state.js';
import type { JobWrites } from '../records.js';

/** The parts that a {@link Lifecycle} uses. */
export interface LifecycleParts {
  readonly options: NfpWorkerSessionOptions;
  readonly out: NfpOutput;
  readonly answers: Answers;
  readonly inputs: Inputs;
  readonly jobs: NfpJobs;
  readonly slots: Slots;
  readonly writes: JobWrites;
  readonly restart: Restart;
  /** The wall clock, in milliseconds since 1970. */
  readonly wallMs: () => number;
}

/** Moves jobs from state to state through the store; commits.ts handles what follows when a change is durable. */
export class Lifecycle {
  readonly #parts: LifecycleParts;
  #leaving: 'no' | 'draining' | NfpWorkerLeaveReason = 'no';
  /** Runs that were told to stop for a restart and have not ended yet. */
  readonly #stopped = new Set<number>();

  constructor(parts: LifecycleParts) {
    this.#parts = parts;
  }

  /** False while the worker leaves: no job is accepted or started. */
  get isStaying(): boolean {
    return this.#leaving === 'no';
  }

  /** Tasks are told to stop, and the conversation has ended. */
  get isGone(): boolean {
    return this.#leaving !== 'no' && this.#leaving !== 'draining';
  }

  /** From now on the worker is leaving. With a reason, tasks are told to stop. */
  leave(how: 'draining' | NfpWorkerLeaveReason): void {
    this.#leaving = how;
  }

  /** Jobs of an earlier start: finished ones are kept, the others continue in the order of acceptance. */
  recover(stored: readonly NfpStoredJob[]): void {
    const { out, jobs, wallMs } = this.#parts;
    const wallNow = wallMs();
    const finished: NfpJob[] = [];
    for (const each of [...stored].sort((a, b) => a.seq - b.seq)) {
      const job = new NfpJob(each);
      jobs.add(job);
      if (job.isFinal) finished.push(job);
      else this.#resume(job);
    }
    finished.sort((a, b) => a.endedAt - b.endedAt);
    for (const job of finished) jobs.keep(job, out.now - Math.max(0, wallNow - job.endedAt));
  }

  /** A new job, which begins when it is durable if a slot is free. */
  accept(call: NfpIncomingCall, body: NfpCallBody, digest: string): void {
    const { jobs, slots, writes, restart, wallMs } = this.#parts;
    const job = new NfpJob({
      uuid: call.uuid,
      seq: jobs.lastSeq + 1,
      task: body.task,
      digest,
      timeoutMs: body.timeoutMs,
      replyTo: addressOf(call),
      state: 'PENDING',
      runs: 0,
      cancelling: false,
      receivedAt: wallMs(),
      startedAt: 0,
      endedAt: 0,
    });
    jobs.add(job);
    const isNext = jobs.waiting + writes.joining === 0 && slots.isFree && !restart.isUnderWay;
    if (isNext) slots.take(job, wallMs());
    writes.accept(job, call, isNext ? body : undefined);
  }

  /** Gives free slots to the jobs that have waited longest. */
  fill(): void {
    const { jobs, slots, writes, restart, wallMs } = this.#parts;
    while (this.isStaying && !restart.isUnderWay && !writes.isStalled && slots.isFree) {
      const job = jobs.dequeue();
      if (job === undefined) return;
      slots.take(job, wallMs());
      writes.start(job);
    }
  }

  /** The start of a job with a slot is durable. `call`: `undefined` if it is only in the store. */
  begin(job: NfpJob, call: NfpCallBody | undefined): void {
    const { jobs, slots, out, answers } = this.#parts;
    jobs.setState(job, 'STARTED');
    if (this.isGone) {
      this.#interrupt(job);
      return;
    }
    const { uuid, task, replyTo, timeoutMs, runs: attempt } = job;
    const run = slots.begin(job);
    out.report({ code: 'job-started', uuid, task, attempt });
    out.push({ kind: 'run', run, uuid, task, replyTo, timeoutMs, attempt, call });
    answers.progress(job, 'starting', 'running', 'INFO');
  }

  /** The task of this run has ended. */
  done(run: number, outcome: NfpTaskOutcome): void {
    const { slots, inputs } = this.#parts;
    const job = slots.end(run);
    if (job === undefined) return;
    inputs.forget(job);
    const isCut = !job.cancelling && !('result' in outcome);
    if (this.#stopped.delete(run) && isCut && this.isStaying) this.#again(job);
    else if (isCut && this.isGone) this.#interrupt(job);
    else {
      slots.free(job);
      if (job.cancelling) this.finish(job, 'CANCELLED', 'null', ['cancelled']);
      else if ('result' in outcome) this.finish(job, 'COMPLETED', outcome.result, []);
      else this.finish(job, 'FAILED', outcome.failedResult ?? 'null', outcome.errors);
    }
  }

  /** A job has its result, as JSON text; if no message could carry it, the job fails. `call` is answered when it is durable. */
  finish(job: NfpJob, state: NfpFinalState, result: string, errors: readonly string[], call?: NfpIncomingCall): void {
    const { options, writes, wallMs } = this.#parts;
    const { uuid, task, startedAt } = job;
    const endedAt = wallMs();
    const outcome = { uuid, task, startedAt, endedAt, status: FINAL_STATUS[state], result, errors };
    const body = resultBody({ name: options.name, service: options.service }, outcome);
    const max = options.maxMessageBytes - ENVELOPE_BYTES;
    if (body.length > max && result !== 'null') {
      this.finish(job, 'FAILED', 'null', [`result of ${body.length} bytes: the limit is ${max}`]);
      return;
    }
    job.endedAt = endedAt;
    writes.finish(job, state, body, call);
  }

  /** Tells all tasks to stop. */
  abort(reason: 'closed' | 'drain-timeout' | 'restart'): void {
    const { slots, out } = this.#parts;
    for (const run of slots.running.keys()) {
      out.push({ kind: 'abort', run, reason });
      if (reason === 'restart') this.#stopped.add(run);
    }
  }

  /** A restart has stopped it: it runs again as after a crash, but before all waiting ones. */
  #again(job: NfpJob): void {
    this.#interrupt(job);
    if (this.#mayNotRun(job)) this.finish(job, 'FAILED', 'null', ['interrupted']);
    else {
      this.#parts.jobs.setState(job, 'PENDING');
      this.#parts.jobs.putBack(job);
    }
  }

  #mayNotRun({ runs }: NfpJob): boolean {
    const { crashPolicy, maxRuns } = this.#parts.options;
    return crashPolicy === 'fail' || runs >= maxRuns;
  }

  #resume(job: NfpJob): void {
    const wasRunning = job.state === 'STARTED';
    if (wasRunning && job.cancelling) this.finish(job, 'CANCELLED', 'null', ['cancelled']);
    else if (wasRunning && this.#mayNotRun(job)) this.finish(job, 'FAILED', 'null', ['interrupted']);
    else {
      this.#parts.jobs.setState(job, 'PENDING');
      this.#parts.jobs.enqueue(job);
    }
  }

  /** Its record stays unchanged, and the next start treats it as after a crash. */
  #interrupt(job: NfpJob): void {
    this.#parts.slots.free(job);
    this.#parts.out.report({ code: 'job-interrupted', uuid: job.uuid, task: job.task });
  }
}
