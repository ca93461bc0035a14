/** NFP worker: what it says to clients, by way of the broker: answers to calls, and what running tasks tell. */
import { fromLatin1 } from '@proj/frames';
import { encodeNfpJson } from '@proj/frames/nfp';
import type { NfpAnswer, NfpBody } from '@proj/frames/nfp';
import { eventBody, statusBody } from './bodies.js';
import type { NfpEventText, NfpSpeaker } from './bodies.js';
import type { BrokerConversation } from './connection.js';
import type { NfpRefusalReason } from './events.js';
import type { NfpIncomingCall, NfpJob, NfpReplyTo } from './job.js';
import type { Output } from './output.js';
import type { NfpWorkerSessionOptions } from './session-options.js';

/** Events kept with a result. */
const LOG_MAX = 100;
const NO_EVENTS = fromLatin1('[]');

/** Most of a message that is not body: an address, a uuid and fixed frames. */
export const ENVELOPE_BYTES = 1024;

/** Says things, or notes that nobody can hear them: clients ask again. */
export class Answers {
  readonly #options: NfpWorkerSessionOptions;
  readonly #connection: BrokerConversation;
  readonly #output: Output;
  readonly #self: NfpSpeaker;
  readonly #wallMs: () => number;

  /** `wallMs`: the wall clock, in milliseconds since 1970. */
  constructor(options: NfpWorkerSessionOptions, connection: BrokerConversation, output: Output, wallMs: () => number) {
    this.#options = options;
    this.#connection = connection;
    this.#output = output;
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

  /** The job of a POST is not accepted. */
  refuse(call: NfpIncomingCall, status: number, reason: NfpRefusalReason, error: string): void {
    this.#output.note({ code: 'job-refused', uuid: call.uuid, reason });
    this.fail(call, status, error);
  }

  /** What the call wants is not done. */
  fail(call: NfpIncomingCall, status: number, error: string, command: NfpAnswer = 'response'): void {
    const body = statusBody(this.#self, call.uuid, 'FAILED', { errors: [error] });
    this.#answer(addressOf(call), command, call.uuid, status, body);
  }

  /** The result of the job, as it was written. */
  result(call: NfpIncomingCall, result: Uint8Array): void {
    this.#answer(addressOf(call), 'response', call.uuid, 200, [result]);
  }

  /** The answer of the management interface. */
  management(call: NfpIncomingCall, result: unknown): void {
    this.#answer(addressOf(call), 'mmi', call.uuid, 200, encodeNfpJson(result));
  }

  /** The kept events of a job, as a JSON array; absent where it had none. */
  events(call: NfpIncomingCall, list: Uint8Array = NO_EVENTS): void {
    const max = this.#options.maxMessageBytes - ENVELOPE_BYTES;
    if (list.length > max) this.fail(call, 500, `events of ${list.length} bytes: allowed are ${max}`, 'mmi');
    else this.#answer(addressOf(call), 'mmi', call.uuid, 200, [list]);
  }

  /** An event about how far a job is. */
  progress(job: NfpJob, message: string, status: string, severity: NfpEventText['severity']): void {
    this.event(job, { uuid: job.uuid, task: job.task, type: 'progress', message, status, severity });
  }

  event(job: NfpJob, text: NfpEventText): void {
    this.tell(job, eventBody(this.#self, text, this.#wallMs()));
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
    if (!connection.isOpen) this.#output.note({ code: 'unsent' });
    else if (to === undefined)
      connection.send({ kind: 'worker-table-answer', form, command, service, uuid, status, body });
    else connection.send({ kind: 'worker-answer', form, command, client: to, uuid, status, body });
  }
}

/** Whom the answer to a call is for. */
export function addressOf(call: NfpIncomingCall): NfpReplyTo {
  return call.kind === 'worker-call' ? call.client : undefined;
}
