/**
 * NFP worker: its questions to the broker's services and to workers of other services, on the connection of its own jobs. Worker rule 17 of
 * docs/protocols/nfp.md.
 */
import { decodeNfpDispatch, decodeNfpJson, encodeNfpJson } from '@proj/frames/nfp';
import type { NfpBody, NfpCall, NfpClientAnswer } from '@proj/frames/nfp';
import { DeadlineHeap, HeapDeadline } from '@proj/heartbeat';
import type { BrokerConversation } from '../broker-connection.js';
import type { NfpAskedJob, NfpBrokerQuestion, NfpBrokerReply, NfpWorkerSessionOptions, NfpOutput } from '../events.js';

/** Limit of questions without an answer; more are rejected. */
const OPEN_MAX = 1000;

/** Pause before a busy broker is asked again, and between two questions to workers about their progress. */
const BUSY_MS = 500;
const POLL_MS = 500;

/** Longest result to read, in bytes. */
const RESULT_MAX_BYTES = 1_048_576;

const FINAL: ReadonlySet<number> = new Set([400, 408]);

/** The EVENT statuses that mean there is a result. */
const ENDS: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

const OK = 200;
const UNKNOWN = 404;
const BUSY = 500;

/** One question, until it is answered. */
interface Question extends NfpBrokerQuestion {
  readonly body: NfpBody;
  readonly due: HeapDeadline<string>;
  /** Only for a job. */
  readonly asked: AskedJob | undefined;
  /** The conversation it was asked in; 0 if it must be asked again. */
  askedIn: number;
}

/** Sends each question once per conversation until it is answered or its time is over. Questions change nothing. */
export class BrokerQuestions {
  readonly #options: NfpWorkerSessionOptions;
  readonly #connection: BrokerConversation;
  readonly #out: NfpOutput;
  readonly #open = new Map<string, Question>();
  readonly #due = new DeadlineHeap<string>();
  /** Services that jobs went to: their workers send more than is needed. */
  readonly #services = new Set<string>();
  #conversation = 0;
  #againAt = Infinity;
  #pollAt = Infinity;
  #isClosed = false;

  constructor(options: NfpWorkerSessionOptions, connection: BrokerConversation, out: NfpOutput) {
    this.#options = options;
    this.#connection = connection;
    this.#out = out;
  }

  /** When a question times out, or may be asked again. */
  get deadline(): number {
    return Math.min(this.#due.deadline, this.#connection.isOpen ? Math.min(this.#againAt, this.#pollAt) : Infinity);
  }

  ask(asked: NfpBrokerQuestion): void {
    const { uuid, service, task, kwargs, timeoutMs, job } = asked;
    if (this.#isClosed || this.#open.size >= OPEN_MAX) {
      const full = { kind: 'refused', error: `${OPEN_MAX} questions are open` } as const;
      this.#out.push({ kind: 'reply', uuid, reply: this.#isClosed ? { kind: 'closed' } : full });
      return;
    }
    const body = encodeNfpJson(job?.put ?? { task, kwargs, args: [] });
    const progress = job && new AskedJob(job);
    if (job !== undefined) this.#services.add(service);
    const question = { ...asked, body, due: new HeapDeadline(uuid), asked: progress, askedIn: 0 };
    this.#open.set(uuid, question);
    this.#due.set(question.due, this.#out.now + timeoutMs);
    if (this.#connection.isOpen && this.#conversation === this.#connection.number) this.#send(question);
  }

  /** The broker answers us as a client. */
  answer(answer: NfpClientAnswer): void {
    const { command, service, uuid, status, body } = answer;
    const question = this.#open.get(uuid);
    if (question?.asked !== undefined) this.#onTurn(question, question.asked.hear(answer));
    else if (question === undefined && this.#services.has(service)) return;
    else if (question === undefined || command !== 'response') {
      // A broker answers MMI twice, first by RESPONSE.
      if (command !== 'mmi') this.#out.report({ code: 'message-dropped', reason: 'answer' });
    } else if (status === OK) this.#settle(question, { kind: 'answered', body });
    else if (status === BUSY) {
      this.#repeat(question);
    } else {
      const errors = decodeNfpDispatch(body)?.errors ?? [];
      this.#settle(question, { kind: 'refused', error: errors.join(', ') || `status ${status}` });
    }
  }

  /** Sends the questions not yet sent in the current conversation. */
  proceed(): void {
    if (!this.#connection.isOpen) return;
    const { now } = this.#out;
    const isNew = this.#conversation !== this.#connection.number;
    if (isNew) {
      this.#pollAt = Infinity;
      // A stream is lost with its connection.
      for (const question of [...this.#open.values()])
        if (question.job?.awaits === 'chunk' && (question.askedIn !== 0 || question.job.put !== undefined))
          this.#settle(question, { kind: 'lost' });
    } else if (this.#pollAt <= now) this.#poll();
    if (!isNew && this.#againAt > now) return;
    this.#conversation = this.#connection.number;
    this.#againAt = Infinity;
    for (const question of this.#open.values()) if (question.askedIn !== this.#conversation) this.#send(question);
  }

  /** Ends the questions that timed out. */
  expire(): void {
    const { now } = this.#out;
    for (let uuid = this.#due.takeDue(now); uuid !== undefined; uuid = this.#due.takeDue(now))
      this.#settle(this.#open.get(uuid) as Question, { kind: 'timeout' });
  }

  /** Nothing will be answered any more. */
  close(): void {
    this.#isClosed = true;
    for (const question of [...this.#open.values()]) this.#settle(question, { kind: 'closed' });
    this.#againAt = this.#pollAt = Infinity;
  }

  assertInvariants(): void {
    if (this.#due.size !== this.#open.size) throw new Error('NfpWorkerSession: a question has no end');
  }

  #onTurn(question: Question, turn: AskedJobTurn): void {
    if (turn === 'get') this.#call(question, 'get');
    else if (turn === 'repeat') this.#repeat(question);
    else if (turn !== undefined) this.#settle(question, turn);
  }

  /** Asks again, after a while. */
  #repeat(question: Question): void {
    question.askedIn = 0;
    this.#againAt = Math.min(this.#againAt, this.#out.now + BUSY_MS);
  }

  /** Asks workers about the progress of jobs. */
  #poll(): void {
    this.#pollAt = Infinity;
    for (const question of this.#open.values()) {
      if (question.job === undefined) continue;
      this.#pollAt = this.#out.now + POLL_MS;
      if (question.askedIn === this.#conversation) this.#call(question, 'get');
    }
  }

  #send(question: Question): void {
    const { job } = question;
    question.askedIn = this.#conversation;
    // NORFAB before 0.15 has no MMI, and serves GET.
    if (job === undefined) this.#call(question, this.#options.dialect === 'legacy' ? 'get' : 'mmi');
    else {
      this.#call(question, job.put === undefined ? 'post' : 'put');
      this.#pollAt = Math.min(this.#pollAt, this.#out.now + POLL_MS);
    }
  }

  #call({ service, job, uuid, body }: Question, command: NfpCall): void {
    const form = this.#options.commandForm;
    this.#connection.send({ kind: 'client-call', form, command, service, target: job?.target ?? 'all', uuid, body });
  }

  #settle(question: Question, reply: NfpBrokerReply): void {
    this.#open.delete(question.uuid);
    this.#due.remove(question.due);
    this.#out.push({ kind: 'reply', uuid: question.uuid, reply });
  }
}

/** What follows from an answer: the end, another POST after a while, a GET at once, or nothing. */
type AskedJobTurn = NfpBrokerReply | 'repeat' | 'get' | undefined;

/** Collects each worker's answer to a job that this worker, as a client, gave to workers of another service. */
class AskedJob {
  readonly #job: NfpAskedJob;
  readonly #failed = new Map<string, string>();
  #workers = 1;

  constructor(job: NfpAskedJob) {
    this.#job = job;
  }

  /** The broker or a worker has answered. */
  hear({ command, status, body }: NfpClientAnswer): AskedJobTurn {
    if (command === 'stream') return this.#job.awaits === 'chunk' ? { kind: 'answered', body } : undefined;
    const dispatch = command === 'response' ? decodeNfpDispatch(body) : undefined;
    if (dispatch !== undefined) {
      const { status: said, workers, errors = [] } = dispatch;
      if (said === 'FAILED') return { kind: 'refused', error: errors.join(', ') || `status ${status}` };
      this.#workers = Math.max(1, workers?.length ?? 1);
      return undefined;
    }
    const value = decodeNfpJson(body, RESULT_MAX_BYTES);
    if (command === 'response') return this.#onResponse(status, value);
    return isRecord(value) && (ENDS.has(value['status']) || ENDS.has(value['message'])) ? 'get' : undefined;
  }

  #onResponse(status: number, value: unknown): AskedJobTurn {
    // Brokers up to 0.14 refuse in plain text.
    if (!isRecord(value)) return FINAL.has(status) ? { kind: 'refused', error: `status ${status}` } : undefined;
    const { worker } = value;
    if (typeof worker === 'string') return this.#onWord(worker, status, value);
    for (const [name, result] of Object.entries(status === OK ? value : {})) {
      if (!isRecord(result) || typeof result['failed'] !== 'boolean') continue;
      if (result['failed']) this.#failed.set(name, errorsOf(result) || 'failed');
      else if (this.#job.awaits === 'chunk') this.#failed.set(name, 'ended before the chunk arrived');
      else return { kind: 'result', worker: name, value: result['result'] };
    }
    return this.#end();
  }

  /** A worker has no result yet, or will have none. */
  #onWord(worker: string, status: number, value: Readonly<Record<string, unknown>>): AskedJobTurn {
    const isPosted = this.#job.put === undefined;
    // A broker that gets the one-byte form turns 404 into 400.
    const isUnknown = status === UNKNOWN || value['status'] === 'JOB NOT FOUND';
    if (isPosted && (isUnknown || status === BUSY)) return 'repeat';
    if (isUnknown || FINAL.has(status)) this.#failed.set(worker, errorsOf(value) || `status ${status}`);
    return this.#end();
  }

  #end(): NfpBrokerReply | undefined {
    if (this.#failed.size < this.#workers) return undefined;
    return { kind: 'refused', error: Array.from(this.#failed, ([worker, error]) => `${worker}: ${error}`).join('; ') };
  }
}

function errorsOf({ errors }: Readonly<Record<string, unknown>>): string {
  return Array.isArray(errors) ? errors.filter((error) => typeof error === 'string').join(', ') : '';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
