/** NFP worker: calls about jobs, as the broker brings them. Worker rules 4 to 8 of docs/protocols/nfp.md. */
import { totalBytes } from '@proj/frames';
import type { Answers } from './answers.js';
import { addressOf } from './answers.js';
import { canonicalCall, readCall } from './call.js';
import type { NfpCallBody } from './call.js';
import type { JobWrites } from './changes.js';
import type { Inputs } from './inputs.js';
import { jobKeys } from './job.js';
import type { NfpIncomingCall, NfpJob } from './job.js';
import type { NfpJobs } from './jobs.js';
import type { Lifecycle } from './lifecycle.js';
import type { Management } from './management.js';
import type { Output } from './output.js';
import type { ResultReads } from './result-reads.js';
import type { Retention } from './retention.js';
import type { NfpWorkerSessionOptions } from './session-options.js';

/** Calls about a job that may wait for a change of it to be durable; bytes of all that wait, besides the first. */
const PARKED_MAX = 16;
const PARKED_MAX_BYTES = 67_108_864;

/** What {@link CallHandler} work with. */
export interface CallsParts {
  readonly options: NfpWorkerSessionOptions;
  readonly output: Output;
  readonly answers: Answers;
  readonly inputs: Inputs;
  readonly jobs: NfpJobs;
  readonly changes: JobWrites;
  readonly retention: Retention;
  readonly lifecycle: Lifecycle;
  readonly management: Management;
  readonly reads: ResultReads;
  /** A short text that differs for different texts. */
  readonly digest: (text: string) => string;
}

/** Answers each call, at once or when what it asks for is durable. */
export class CallHandler {
  readonly #parts: CallsParts;
  #parkedBytes = 0;

  constructor(parts: CallsParts) {
    this.#parts = parts;
  }

  /** A call has come, or has waited long enough. */
  take(call: NfpIncomingCall, now: number): void {
    switch (call.command) {
      case 'post':
        this.#post(call, now);
        break;
      case 'get':
        this.#get(call);
        break;
      case 'delete':
        this.#delete(call);
        break;
      case 'put':
        this.#put(call);
        break;
      case 'mmi':
        this.#parts.management.take(call, now);
        break;
    }
  }

  /** Takes up the calls that waited for a change of the job. */
  unpark(job: NfpJob, now: number): void {
    const calls = job.parked ?? [];
    job.parked = undefined;
    for (const call of calls) this.#parkedBytes -= totalBytes(call.body);
    for (const call of calls) this.take(call, now);
  }

  #park(job: NfpJob, call: NfpIncomingCall): void {
    job.parked ??= [];
    const bytes = this.#parkedBytes + totalBytes(call.body);
    if (job.parked.length < PARKED_MAX && (this.#parkedBytes === 0 || bytes <= PARKED_MAX_BYTES)) {
      job.parked.push(call);
      this.#parkedBytes = bytes;
    } else if (call.command === 'put') this.#parts.output.drop('put');
    else this.#parts.answers.fail(call, 500, 'job is busy');
  }

  #post(call: NfpIncomingCall, now: number): void {
    const { options, answers, jobs, digest } = this.#parts;
    const job = jobs.get(call.uuid);
    if (job?.change !== undefined) {
      this.#park(job, call);
      return;
    }
    const body = readCall(call.body, options.maxMessageBytes);
    if (typeof body === 'string') {
      answers.refuse(call, 500, 'body', body);
      return;
    }
    const text = canonicalCall(body);
    if (text === undefined) answers.refuse(call, 500, 'body', 'body is nested too deeply');
    else if (job !== undefined) this.#repeat(job, call, digest(text));
    else this.#accept(call, body, digest(text), now);
  }

  /** A client that did not hear the first answer; or one that chose its uuid badly. */
  #repeat(job: NfpJob, call: NfpIncomingCall, digest: string): void {
    const { output, answers } = this.#parts;
    if (job.digest !== digest) {
      answers.refuse(call, 400, 'conflict', 'uuid is in use for another call');
      return;
    }
    job.replyTo = addressOf(call);
    output.note({ code: 'job-repeated', uuid: job.uuid });
    answers.accepted(call, { state: job.shownState, duplicate: true });
  }

  #accept(call: NfpIncomingCall, body: NfpCallBody, digest: string, now: number): void {
    const { options, answers, jobs, changes, lifecycle, management } = this.#parts;
    const { length } = call.body[0] as Uint8Array;
    if (!lifecycle.isStaying) answers.refuse(call, 500, 'leaving', 'worker is leaving');
    else if (changes.isStalled(now) || !changes.hasRoom(length))
      answers.refuse(call, 500, 'store', 'store does not take jobs at the moment');
    else if (jobs.pending >= options.maxPendingJobs)
      answers.refuse(call, 500, 'full', `${options.maxPendingJobs} jobs are waiting`);
    else {
      management.posted(call, now);
      lifecycle.accept(call, body, digest);
    }
  }

  #get(call: NfpIncomingCall): void {
    const { answers, jobs, reads } = this.#parts;
    const job = jobs.get(call.uuid);
    if (job === undefined) answers.notFound(call);
    else if (job.change === 'accept') this.#park(job, call);
    else if (job.isFinal) {
      if (!reads.ask(call, jobKeys.result(call.uuid))) answers.fail(call, 500, 'too many results are being read');
    } else if (job.input !== undefined) answers.status(call, 102, 'WAITING_CLIENT_INPUT', { input_request: job.input });
    else answers.status(call, 300, job.state);
  }

  #delete(call: NfpIncomingCall): void {
    const { answers, jobs, lifecycle, retention } = this.#parts;
    const job = jobs.get(call.uuid);
    if (job === undefined) answers.notFound(call);
    else if (job.change !== undefined) this.#park(job, call);
    else if (job.isFinal) retention.remove(job, call);
    else if (job.run !== undefined) this.#cancel(job, job.run, call);
    else if (job.state === 'PENDING') {
      jobs.unqueue(job);
      lifecycle.finish(job, 'CANCELLED', 'null', ['cancelled'], call);
    } else answers.fail(call, 500, 'worker is leaving');
  }

  /** The task is told to stop; a crash meanwhile must not run the job again. */
  #cancel(job: NfpJob, run: number, call: NfpIncomingCall): void {
    const { output, answers, changes } = this.#parts;
    if (job.cancelling) {
      answers.status(call, 200, 'CANCELLING');
      return;
    }
    job.cancelling = true;
    output.push({ kind: 'abort', run, reason: 'deleted' });
    changes.mark(job, call);
  }

  #put(call: NfpIncomingCall): void {
    const { output, jobs, inputs } = this.#parts;
    const job = jobs.get(call.uuid);
    if (job?.change === 'accept' || job?.change === 'start') this.#park(job, call);
    else if (job?.run === undefined) output.drop('put');
    else if (!inputs.answer(job, call.body)) output.push({ kind: 'put', run: job.run, body: call.body });
  }
}
