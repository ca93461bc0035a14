/** NFP worker: what it asks services of the broker, and workers of other services, as a client does, on the connection its jobs come on. Worker rule 17 of docs/protocols/nfp.md. */
import { decodeNfpDispatch, encodeNfpJson } from '@proj/frames/nfp';
import type { NfpBody, NfpCall, NfpClientAnswer } from '@proj/frames/nfp';
import { DeadlineHeap, HeapDeadline } from '@proj/heartbeat';
import { AskedJob } from './asked-job.js';
import type { AskedJobTurn } from './asked-job.js';
import type { BrokerConversation } from './connection.js';
import type { NfpBrokerQuestion, NfpBrokerReply } from './events.js';
import type { Output } from './output.js';
import type { NfpWorkerSessionOptions } from './session-options.js';

/** Questions without an answer; more are refused. */
const OPEN_MAX = 1000;

/** How long a broker is left alone that was too busy to answer, and how often workers are asked how far they are. */
const BUSY_MS = 500;
const POLL_MS = 500;

const OK = 200;
const BUSY = 500;

/** One question, until it is answered. */
interface Question extends NfpBrokerQuestion {
  readonly body: NfpBody;
  readonly due: HeapDeadline<string>;
  /** Of a job. */
  readonly asked: AskedJob | undefined;
  /** The conversation it was asked in; 0 when it has to be asked again. */
  askedIn: number;
}

/** Asks each question once in each conversation, until it is answered or its time is over. What is asked only reads. */
export class BrokerQuestions {
  readonly #options: NfpWorkerSessionOptions;
  readonly #connection: BrokerConversation;
  readonly #output: Output;
  readonly #open = new Map<string, Question>();
  readonly #due = new DeadlineHeap<string>();
  /** Services that jobs went to: workers say more than is waited for. */
  readonly #services = new Set<string>();
  #conversation = 0;
  #againAt = Infinity;
  #pollAt = Infinity;
  #isClosed = false;

  constructor(options: NfpWorkerSessionOptions, connection: BrokerConversation, output: Output) {
    this.#options = options;
    this.#connection = connection;
    this.#output = output;
  }

  /** When a question has waited too long, or may be asked again. */
  get deadline(): number {
    return Math.min(this.#due.deadline, this.#connection.isOpen ? Math.min(this.#againAt, this.#pollAt) : Infinity);
  }

  ask(asked: NfpBrokerQuestion, now: number): void {
    const { uuid, service, task, kwargs, timeoutMs, job } = asked;
    if (this.#isClosed || this.#open.size >= OPEN_MAX) {
      const full = { kind: 'refused', error: `${OPEN_MAX} questions are open` } as const;
      this.#output.push({ kind: 'reply', uuid, reply: this.#isClosed ? { kind: 'closed' } : full });
      return;
    }
    const body = encodeNfpJson(job?.put ?? { task, kwargs, args: [] });
    const progress = job && new AskedJob(job);
    if (job !== undefined) this.#services.add(service);
    const question = { ...asked, body, due: new HeapDeadline(uuid), asked: progress, askedIn: 0 };
    this.#open.set(uuid, question);
    this.#due.set(question.due, now + timeoutMs);
    if (this.#connection.isOpen && this.#conversation === this.#connection.number) this.#send(question, now);
  }

  /** What the broker says to us as to a client. */
  answer(answer: NfpClientAnswer, now: number): void {
    const { command, service, uuid, status, body } = answer;
    const question = this.#open.get(uuid);
    if (question?.asked !== undefined) this.#onTurn(question, question.asked.hear(answer), now);
    else if (question === undefined && this.#services.has(service)) return;
    else if (question === undefined || command !== 'response') {
      // A broker answers MMI twice, by RESPONSE first.
      if (command !== 'mmi') this.#output.drop('answer');
    } else if (status === OK) this.#settle(question, { kind: 'answered', body });
    else if (status === BUSY) {
      this.#repeat(question, now);
    } else {
      const errors = decodeNfpDispatch(body)?.errors ?? [];
      this.#settle(question, { kind: 'refused', error: errors.join(', ') || `status ${status}` });
    }
  }

  /** Asks what the conversation under way has not heard yet. */
  proceed(now: number): void {
    if (!this.#connection.isOpen) return;
    const isNew = this.#conversation !== this.#connection.number;
    if (isNew) {
      this.#pollAt = Infinity;
      // What streams to a connection is lost with it.
      for (const question of [...this.#open.values()])
        if (question.job?.awaits === 'chunk' && (question.askedIn !== 0 || question.job.put !== undefined))
          this.#settle(question, { kind: 'lost' });
    } else if (this.#pollAt <= now) this.#poll(now);
    if (!isNew && this.#againAt > now) return;
    this.#conversation = this.#connection.number;
    this.#againAt = Infinity;
    for (const question of this.#open.values()) if (question.askedIn !== this.#conversation) this.#send(question, now);
  }

  /** Questions that nobody has answered in time. */
  expire(now: number): void {
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

  #onTurn(question: Question, turn: AskedJobTurn, now: number): void {
    if (turn === 'get') this.#call(question, 'get');
    else if (turn === 'repeat') this.#repeat(question, now);
    else if (turn !== undefined) this.#settle(question, turn);
  }

  /** It is asked once more, after a while. */
  #repeat(question: Question, now: number): void {
    question.askedIn = 0;
    this.#againAt = Math.min(this.#againAt, now + BUSY_MS);
  }

  /** Asks how far jobs are. */
  #poll(now: number): void {
    this.#pollAt = Infinity;
    for (const question of this.#open.values()) {
      if (question.job === undefined) continue;
      this.#pollAt = now + POLL_MS;
      if (question.askedIn === this.#conversation) this.#call(question, 'get');
    }
  }

  #send(question: Question, now: number): void {
    const { job } = question;
    question.askedIn = this.#conversation;
    // Releases before 0.15 know no MMI, and serve GET.
    if (job === undefined) this.#call(question, this.#options.dialect === 'legacy' ? 'get' : 'mmi');
    else {
      this.#call(question, job.put === undefined ? 'post' : 'put');
      this.#pollAt = Math.min(this.#pollAt, now + POLL_MS);
    }
  }

  #call({ service, job, uuid, body }: Question, command: NfpCall): void {
    const form = this.#options.commandForm;
    this.#connection.send({ kind: 'client-call', form, command, service, target: job?.target ?? 'all', uuid, body });
  }

  #settle(question: Question, reply: NfpBrokerReply): void {
    this.#open.delete(question.uuid);
    this.#due.remove(question.due);
    this.#output.push({ kind: 'reply', uuid: question.uuid, reply });
  }
}
