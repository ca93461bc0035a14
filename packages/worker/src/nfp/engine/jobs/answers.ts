/**
 * NFP worker: what it sends to clients through the broker: answers to calls, events and streams of tasks, and their questions. Worker rule 9 of
 * docs/protocols/nfp.md.
 */
import { fromLatin1 } from '@proj/frames';
import { decodeNfpJson, encodeNfpJson } from '@proj/frames/nfp';
import type { NfpAnswer, NfpBody } from '@proj/frames/nfp';
import { DeadlineHeap, HeapDeadline } from '@proj/heartbeat';
import { eventBody, statusBody } from './bodies.js';
import type { NfpEventText, NfpSpeaker } from './bodies.js';
import type { BrokerConversation } from '../broker-connection.js';
import type {
  NfpIncomingCall,
  NfpInputOutcome,
  NfpQuestion,
  NfpRefusalReason,
  NfpReplyTo,
  NfpWorkerSessionOptions,
  NfpOutput,
} from '../events.js';
import type { NfpJob } from '../state.js';

/** Number of events kept with a result. */
const LOG_MAX = 100;
const NO_EVENTS = fromLatin1('[]');

/** Limit of the bytes of a message besides its body: an address, a uuid and fixed frames. */
export const ENVELOPE_BYTES = 1024;

/** Sends answers and events, or reports that there is no connection: clients ask again. */
export class Answers {
  readonly #options: NfpWorkerSessionOptions;
  readonly #connection: BrokerConversation;
  readonly #out: NfpOutput;
  readonly #self: NfpSpeaker;
  readonly #wallMs: () => number;

  /** `wallMs`: the wall clock, in milliseconds since 1970. */
  constructor(options: NfpWorkerSessionOptions, connection: BrokerConversation, out: NfpOutput, wallMs: () => number) {
    this.#options = options;
    this.#connection = connection;
    this.#out = out;
    this.#self = { name: options.name, service: options.service };
    this.#wallMs = wallMs;
  }

  /** The job is durable. */
  accepted(call: NfpIncomingCall, more: object = {}): void {
    this.status(call, this.#options.dialect === 'current' ? 201 : 202, 'ACCEPTED', more);
  }

  notFound(call: NfpIncomingCall): void {
    this.status(call, 404, 'JOB NOT FOUND');
  }

  /** A status in words, with further keys. */
  status(call: NfpIncomingCall, status: number, text: string, more: object = {}): void {
    this.#answer(addressOf(call), 'response', call.uuid, status, statusBody(this.#self, call.uuid, text, more));
  }

  /** The job of a POST is rejected. */
  refuse(call: NfpIncomingCall, status: number, reason: NfpRefusalReason, error: string): void {
    this.#out.report({ code: 'job-refused', uuid: call.uuid, reason });
    this.fail(call, status, error);
  }

  /** The call's request is not fulfilled. */
  fail(call: NfpIncomingCall, status: number, error: string, command: NfpAnswer = 'response'): void {
    const body = statusBody(this.#self, call.uuid, 'FAILED', { errors: [error] });
    this.#answer(addressOf(call), command, call.uuid, status, body);
  }

  /** The result of the job, as stored. */
  result(call: NfpIncomingCall, result: Uint8Array): void {
    this.#answer(addressOf(call), 'response', call.uuid, 200, [result]);
  }

  management(call: NfpIncomingCall, result: unknown): void {
    this.#answer(addressOf(call), 'mmi', call.uuid, 200, encodeNfpJson(result));
  }

  /** The kept events of a job, as a JSON array; absent if it had none. */
  events(call: NfpIncomingCall, list: Uint8Array = NO_EVENTS): void {
    const max = this.#options.maxMessageBytes - ENVELOPE_BYTES;
    if (list.length > max) this.fail(call, 500, `events of ${list.length} bytes: the limit is ${max}`, 'mmi');
    else this.#answer(addressOf(call), 'mmi', call.uuid, 200, [list]);
  }

  progress(job: NfpJob, message: string, status: string, severity: NfpEventText['severity']): void {
    this.event(job, { type: 'progress', message, status, severity });
  }

  event(job: NfpJob, text: Omit<NfpEventText, 'uuid' | 'task'>): void {
    const { uuid, task } = job;
    this.tell(job, eventBody(this.#self, { uuid, task, ...text }, this.#wallMs()));
  }

  /** An event in the task's own words; the last ones are kept with the result. */
  tell(job: NfpJob, body: NfpBody): void {
    if (job.log.length === LOG_MAX) job.log.shift();
    job.log.push(body[0] as Uint8Array);
    this.#answer(job.replyTo, 'event', job.uuid, 200, body);
  }

  stream(job: NfpJob, chunk: Uint8Array): void {
    this.#answer(job.replyTo, 'stream', job.uuid, 200, [chunk]);
  }

  #answer(to: NfpReplyTo, command: NfpAnswer, uuid: string, status: number, body: NfpBody): void {
    const { commandForm: form, service } = this.#options;
    const connection = this.#connection;
    if (!connection.isOpen) this.#out.report({ code: 'unsent' });
    else if (to === undefined)
      connection.send({ kind: 'worker-table-answer', form, command, service, uuid, status, body });
    else connection.send({ kind: 'worker-answer', form, command, client: to, uuid, status, body });
  }
}

/** Questions of running tasks to their clients. A job has at most one open, in its `input`. */
export class Inputs {
  readonly #answers: Answers;
  readonly #out: NfpOutput;
  readonly #due = new DeadlineHeap<NfpJob>();

  constructor(answers: Answers, out: NfpOutput) {
    this.#answers = answers;
    this.#out = out;
  }

  /** When the next question times out. */
  get deadline(): number {
    return this.#due.deadline;
  }

  /** No effect while another question of the job is open. */
  ask(job: NfpJob, asked: NfpQuestion): void {
    if (job.input !== undefined) return;
    const { id, question, metadata, timeoutMs } = asked;
    const timeout = timeoutMs / 1000;
    job.input = { id, question, default: asked.default, timeout, metadata };
    job.inputDue ??= new HeapDeadline(job);
    this.#due.set(job.inputDue, this.#out.now + timeoutMs);
    const about = { status: 'waiting_client_input', severity: 'INFO', extras: { input_request: job.input } } as const;
    this.#answers.event(job, { type: 'input_request', message: question, ...about, timeout });
  }

  /** Takes the body of a PUT as the answer to the job's open question. False if it is something else. */
  answer(job: NfpJob, body: NfpBody): boolean {
    const outcome = job.input === undefined ? undefined : readInput(body, job.input.id);
    if (outcome !== undefined) this.#settle(job, outcome);
    return outcome !== undefined;
  }

  forget(job: NfpJob): void {
    job.input = undefined;
    if (job.inputDue !== undefined) this.#due.remove(job.inputDue);
  }

  /** Ends the questions that timed out. */
  expire(): void {
    const { now } = this.#out;
    for (let job = this.#due.takeDue(now); job !== undefined; job = this.#due.takeDue(now))
      this.#settle(job, { kind: 'timeout' });
  }

  #settle(job: NfpJob, outcome: NfpInputOutcome): void {
    const { id } = job.input as NonNullable<NfpJob['input']>;
    this.forget(job);
    this.#out.push({ kind: 'input', run: job.run as number, id, outcome });
    const extras = { input_response: { id, outcome: outcome.kind } };
    const message = `client input: ${outcome.kind}`;
    this.#answers.event(job, { type: 'input_response', message, status: 'running', severity: 'INFO', extras });
  }
}

/** The address of the answer to a call. */
export function addressOf(call: NfpIncomingCall): NfpReplyTo {
  return call.kind === 'worker-call' ? call.client : undefined;
}

/** The answer to the question with this id in the body of a PUT; `undefined` if it is something else. */
function readInput(body: NfpBody, id: string): NfpInputOutcome | undefined {
  const value = decodeNfpJson(body);
  if (typeof value !== 'object' || value === null || !('input_id' in value) || value.input_id !== id) return undefined;
  if ('cancel' in value && value.cancel === true) return { kind: 'refused' };
  return { kind: 'answered', value: 'value' in value ? value.value : null };
}
