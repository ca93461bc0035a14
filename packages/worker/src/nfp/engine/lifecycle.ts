/** NFP worker: a job from its acceptance to its result, and what becomes of jobs that were here before. Worker rules 4 to 9 of docs/protocols/nfp.md. */
import type { Answers } from './answers.js';
import { addressOf, ENVELOPE_BYTES } from './answers.js';
import { resultBody } from './bodies.js';
import type { NfpCallBody } from './call.js';
import type { JobWrites } from './changes.js';
import type { NfpTaskOutcome, NfpWorkerLeaveReason } from './events.js';
import type { Inputs } from './inputs.js';
import { NfpJob } from './job.js';
import type { NfpFinalState, NfpIncomingCall, NfpStoredJob } from './job.js';
import type { NfpJobs } from './jobs.js';
import type { Output } from './output.js';
import type { Restart } from './restart.js';
import type { Retention } from './retention.js';
import type { NfpWorkerSessionOptions } from './session-options.js';
import type { Slots } from './slots.js';

/** How results and events spell the end of a job. */
export const FINAL_STATUS = { COMPLETED: 'completed', FAILED: 'failed', CANCELLED: 'cancelled' } as const;

/** What a {@link Lifecycle} works with. */
export interface LifecycleParts {
  readonly options: NfpWorkerSessionOptions;
  readonly output: Output;
  readonly answers: Answers;
  readonly inputs: Inputs;
  readonly jobs: NfpJobs;
  readonly slots: Slots;
  readonly changes: JobWrites;
  readonly retention: Retention;
  readonly restart: Restart;
  /** The wall clock, in milliseconds since 1970. */
  readonly wallMs: () => number;
}

/** Takes jobs from one state to the next, by way of the store; what follows when a change is durable is settlement.ts. */
export class Lifecycle {
  readonly #parts: LifecycleParts;
  #leaving: 'no' | 'draining' | NfpWorkerLeaveReason = 'no';
  /** Runs that were told to stop for a restart, and have not ended yet. */
  readonly #stopped = new Set<number>();

  constructor(parts: LifecycleParts) {
    this.#parts = parts;
  }

  /** False on the way out: nothing is accepted, nothing begins. */
  get isStaying(): boolean {
    return this.#leaving === 'no';
  }

  /** Tasks are told to stop, and the conversation is over. */
  get isGone(): boolean {
    return this.#leaving !== 'no' && this.#leaving !== 'draining';
  }

  /** From now on the worker is on its way out. With a reason, tasks are told to stop. */
  leave(how: 'draining' | NfpWorkerLeaveReason): void {
    this.#leaving = how;
  }

  /** Jobs that were here before: finished ones are kept, the others go on in the order they were accepted. */
  recover(stored: readonly NfpStoredJob[], now: number): void {
    const { jobs, retention, wallMs } = this.#parts;
    const wallNow = wallMs();
    const finished: NfpJob[] = [];
    for (const each of [...stored].sort((a, b) => a.seq - b.seq)) {
      const job = new NfpJob(each);
      jobs.add(job);
      if (job.isFinal) finished.push(job);
      else this.#resume(job);
    }
    finished.sort((a, b) => a.endedAt - b.endedAt);
    for (const job of finished) jobs.keep(job, now - Math.max(0, wallNow - job.endedAt));
    retention.trim();
  }

  /** A new job, which begins when it is durable if there is a slot for it. */
  accept(call: NfpIncomingCall, body: NfpCallBody, digest: string): void {
    const { jobs, slots, changes, restart, wallMs } = this.#parts;
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
    const atOnce = jobs.waiting + changes.joining === 0 && slots.isFree && !restart.isUnderWay;
    if (atOnce) slots.take(job, wallMs());
    changes.accept(job, call, atOnce ? body : undefined);
  }

  /** Free slots go to the jobs that wait longest. */
  fill(now: number): void {
    const { jobs, slots, changes, restart, wallMs } = this.#parts;
    while (this.isStaying && !restart.isUnderWay && !changes.isStalled(now) && slots.isFree) {
      const job = jobs.dequeue();
      if (job === undefined) return;
      slots.take(job, wallMs());
      changes.start(job);
    }
  }

  /** The start of a job with a slot is durable. `call`: absent, the store has it. */
  begin(job: NfpJob, call: NfpCallBody | undefined): void {
    const { jobs, slots, output, answers } = this.#parts;
    jobs.setState(job, 'STARTED');
    if (this.isGone) {
      this.#interrupt(job);
      return;
    }
    const { uuid, task, replyTo, timeoutMs, runs: attempt } = job;
    const run = slots.begin(job);
    output.note({ code: 'job-started', uuid, task, attempt });
    output.push({ kind: 'run', run, uuid, task, replyTo, timeoutMs, attempt, call });
    answers.progress(job, 'starting', 'running', 'INFO');
  }

  /** The task of this run has ended. */
  done(run: number, outcome: NfpTaskOutcome): void {
    const { slots, inputs } = this.#parts;
    const job = slots.end(run);
    if (job === undefined) return;
    inputs.forget(job);
    const wasStopped = this.#stopped.delete(run) && !job.cancelling && !('result' in outcome);
    if (wasStopped && this.isStaying) {
      this.#again(job);
      return;
    }
    if (!job.cancelling && !('result' in outcome) && this.isGone) {
      this.#interrupt(job);
      return;
    }
    slots.free(job);
    if (job.cancelling) this.finish(job, 'CANCELLED', 'null', ['cancelled']);
    else if ('result' in outcome) this.finish(job, 'COMPLETED', outcome.result, []);
    else this.finish(job, 'FAILED', outcome.failedResult ?? 'null', outcome.errors);
  }

  /** A job has its result, as JSON text; a result that no message could carry is none. `call` is answered when it is durable. */
  finish(job: NfpJob, state: NfpFinalState, result: string, errors: readonly string[], call?: NfpIncomingCall): void {
    const { options, changes, wallMs } = this.#parts;
    const { uuid, task, startedAt } = job;
    const endedAt = wallMs();
    const outcome = { uuid, task, startedAt, endedAt, status: FINAL_STATUS[state], result, errors };
    const body = resultBody({ name: options.name, service: options.service }, outcome);
    const max = options.maxMessageBytes - ENVELOPE_BYTES;
    if (body.length > max && result !== 'null') {
      this.finish(job, 'FAILED', 'null', [`result of ${body.length} bytes: allowed are ${max}`]);
      return;
    }
    job.endedAt = endedAt;
    changes.finish(job, state, body, call);
  }

  /** Tells all tasks to stop. */
  abort(reason: 'closed' | 'drain-timeout' | 'restart'): void {
    const { slots, output } = this.#parts;
    for (const run of slots.running.keys()) {
      output.push({ kind: 'abort', run, reason });
      if (reason === 'restart') this.#stopped.add(run);
    }
  }

  /** A restart has stopped it: as after a crash, but before all that wait. */
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

  /** It stays on the disk as it is, and the next start treats it as a crash would. */
  #interrupt(job: NfpJob): void {
    this.#parts.slots.free(job);
    this.#parts.output.note({ code: 'job-interrupted', uuid: job.uuid, task: job.task });
  }
}
