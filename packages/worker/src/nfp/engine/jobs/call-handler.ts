/** NFP worker: calls about jobs, and results read from the store. Worker rules 4 to 8 and 10 of docs/protocols/nfp.md. */
import { totalBytes } from '@proj/frames';
import { decodeNfpJson } from '@proj/frames/nfp';
import type { NfpBody } from '@proj/frames/nfp';
import { addressOf } from './answers.js';
import type { NfpCallBody, NfpIncomingCall } from '../events.js';
import { LEGALITY, standingOf } from '../legality.js';
import type { Lifecycle, LifecycleParts } from './lifecycle.js';
import type { Management } from '../management.js';
import { jobKeys } from '../records.js';
import type { ResultReads } from '../records.js';
import type { Retention } from './retention.js';
import type { NfpJob } from '../state.js';

/** Limits of calls waiting for a change of their job to be durable, and of the bytes of all waiting calls besides the first. */
const PARKED_MAX = 16;
const PARKED_MAX_BYTES = 67_108_864;

/** Seconds that a client waits unless it says otherwise, and the maximum that is accepted: a day more than ten years. */
const TIMEOUT_S = 60;
const TIMEOUT_MAX_S = 315_446_400;

/** The parts that a {@link CallHandler} uses. */
export interface CallHandlerParts extends Pick<
  LifecycleParts,
  'options' | 'out' | 'answers' | 'inputs' | 'jobs' | 'writes'
> {
  readonly retention: Retention;
  readonly lifecycle: Lifecycle;
  readonly management: Management;
  readonly reads: ResultReads;
  /** A short text that differs for different texts. */
  readonly digest: (text: string) => string;
}

/** Answers each call, at once or when its request is durable. */
export class CallHandler {
  readonly #parts: CallHandlerParts;
  #parkedBytes = 0;

  constructor(parts: CallHandlerParts) {
    this.#parts = parts;
  }

  /** A call has arrived, or has waited long enough. */
  take(call: NfpIncomingCall): void {
    const { answers, inputs, jobs, management, out, reads, retention } = this.#parts;
    if (call.command === 'mmi') {
      management.take(call);
      return;
    }
    const known = jobs.get(call.uuid);
    const [verdict] = LEGALITY[standingOf(known)][call.command];
    const job = known as NfpJob;
    switch (verdict) {
      case 'accept':
      case 'repeat':
        this.#post(call, known);
        break;
      case 'park':
        this.#park(job, call);
        break;
      case 'not-found':
        answers.notFound(call);
        break;
      case 'status':
        if (job.input === undefined) answers.status(call, 300, job.state);
        else answers.status(call, 102, 'WAITING_CLIENT_INPUT', { input_request: job.input });
        break;
      case 'read':
        if (!reads.ask(call, jobKeys.result(call.uuid))) answers.fail(call, 500, 'too many results are being read');
        break;
      case 'cancel':
        jobs.unqueue(job);
        this.#parts.lifecycle.finish(job, 'CANCELLED', 'null', ['cancelled'], call);
        break;
      case 'abort':
        this.#abort(job, call);
        break;
      case 'remove':
        retention.remove(job, call);
        break;
      case 'deliver':
        if (!inputs.answer(job, call.body)) out.push({ kind: 'put', run: job.run as number, body: call.body });
        break;
      case 'refuse':
        answers.fail(call, 500, 'worker is leaving');
        break;
      case 'drop':
        out.report({ code: 'message-dropped', reason: 'put' });
        break;
    }
  }

  /** Resumes the calls that waited for a change of the job. */
  unpark(job: NfpJob): void {
    const calls = job.parked ?? [];
    job.parked = undefined;
    for (const call of calls) this.#parkedBytes -= totalBytes(call.body);
    for (const call of calls) this.take(call);
  }

  #park(job: NfpJob, call: NfpIncomingCall): void {
    job.parked ??= [];
    const bytes = this.#parkedBytes + totalBytes(call.body);
    if (job.parked.length < PARKED_MAX && (this.#parkedBytes === 0 || bytes <= PARKED_MAX_BYTES)) {
      job.parked.push(call);
      this.#parkedBytes = bytes;
    } else if (call.command === 'put') this.#parts.out.report({ code: 'message-dropped', reason: 'put' });
    else this.#parts.answers.fail(call, 500, 'job is busy');
  }

  #post(call: NfpIncomingCall, job: NfpJob | undefined): void {
    const { options, answers, digest } = this.#parts;
    const body = readCall(call.body, options.maxMessageBytes);
    if (typeof body === 'string') {
      answers.refuse(call, 500, 'body', body);
      return;
    }
    const text = canonicalCall(body);
    if (text === undefined) answers.refuse(call, 500, 'body', 'body is nested too deeply');
    else if (job !== undefined) this.#repeat(job, call, digest(text));
    else this.#accept(call, body, digest(text));
  }

  /** The client did not get the first answer; or it chose its uuid badly. */
  #repeat(job: NfpJob, call: NfpIncomingCall, digest: string): void {
    const { out, answers } = this.#parts;
    if (job.digest !== digest) {
      answers.refuse(call, 400, 'conflict', 'uuid is in use for another call');
      return;
    }
    job.replyTo = addressOf(call);
    out.report({ code: 'job-repeated', uuid: job.uuid });
    answers.accepted(call, { state: job.shownState, duplicate: true });
  }

  #accept(call: NfpIncomingCall, body: NfpCallBody, digest: string): void {
    const { options, answers, jobs, writes, lifecycle, management } = this.#parts;
    const { length } = call.body[0] as Uint8Array;
    if (!lifecycle.isStaying) answers.refuse(call, 500, 'leaving', 'worker is leaving');
    else if (writes.isStalled || !writes.hasRoom(length))
      answers.refuse(call, 500, 'store', 'store does not take jobs at the moment');
    else if (jobs.pending >= options.maxPendingJobs)
      answers.refuse(call, 500, 'full', `${options.maxPendingJobs} jobs are waiting`);
    else {
      management.posted(call);
      lifecycle.accept(call, body, digest);
    }
  }

  /** Tells the task to stop, and marks the job so that it does not run again after a crash. */
  #abort(job: NfpJob, call: NfpIncomingCall): void {
    const { out, answers, writes } = this.#parts;
    if (job.cancelling) {
      answers.status(call, 200, 'CANCELLING');
      return;
    }
    job.cancelling = true;
    out.push({ kind: 'abort', run: job.run as number, reason: 'deleted' });
    writes.mark(job, call);
  }
}

/** The call in a body of one frame, or a description of what is wrong. Never throws. */
export function readCall(body: NfpBody, maxBytes: number): NfpCallBody | string {
  const value = decodeNfpJson(body, maxBytes);
  if (!isObject(value)) return 'body is not a JSON object, or too large a one';
  const { task, kwargs = {}, args = [], timeout = TIMEOUT_S, trace } = value;
  if (typeof task !== 'string' || task === '') return 'task is not a text';
  if (!isObject(kwargs)) return 'kwargs is not an object';
  if (!Array.isArray(args)) return 'args is not an array';
  const seconds = typeof timeout === 'number' && timeout > 0 ? Math.min(timeout, TIMEOUT_MAX_S) : TIMEOUT_S;
  const timeoutMs = Math.round(seconds * 1000);
  return { task, args, kwargs, timeoutMs, ...(trace === undefined ? {} : { trace }) };
}

/** One text for all bodies with the same meaning: keys in order, no blanks, no timeout. `undefined` if nested too deeply to be written. */
function canonicalCall({ task, args, kwargs }: NfpCallBody): string | undefined {
  try {
    return JSON.stringify({ args, kwargs, task }, (_key, value: unknown) => (isObject(value) ? inOrder(value) : value));
  } catch {
    return undefined;
  }
}

function inOrder(object: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
