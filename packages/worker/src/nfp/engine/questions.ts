/** NFP worker: what it asks the services of the broker, as a client does, on the connection its jobs come on. Worker rule 17 of docs/protocols/nfp.md. */
import { decodeNfpDispatch, encodeNfpJson } from '@proj/frames/nfp';
import type { NfpBody, NfpClientAnswer } from '@proj/frames/nfp';
import { DeadlineHeap, HeapDeadline } from '@proj/heartbeat';
import type { BrokerConversation } from './connection.js';
import type { NfpBrokerQuestion, NfpBrokerReply } from './events.js';
import type { Output } from './output.js';
import type { NfpWorkerSessionOptions } from './session-options.js';

/** Questions without an answer; more are refused. */
const OPEN_MAX = 1000;

/** How long a broker is left alone that was too busy to answer. */
const BUSY_MS = 500;

const OK = 200;
const BUSY = 500;

/** One question, until it is answered. */
interface Question extends NfpBrokerQuestion {
  readonly body: NfpBody;
  readonly due: HeapDeadline<string>;
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
  #conversation = 0;
  #againAt = Infinity;
  #isClosed = false;

  constructor(options: NfpWorkerSessionOptions, connection: BrokerConversation, output: Output) {
    this.#options = options;
    this.#connection = connection;
    this.#output = output;
  }

  /** When a question has waited too long, or may be asked again. */
  get deadline(): number {
    return Math.min(this.#due.deadline, this.#connection.isOpen ? this.#againAt : Infinity);
  }

  ask(asked: NfpBrokerQuestion, now: number): void {
    const { uuid, task, kwargs, timeoutMs } = asked;
    if (this.#isClosed || this.#open.size >= OPEN_MAX) {
      const full = { kind: 'refused', error: `${OPEN_MAX} questions are open` } as const;
      this.#output.push({ kind: 'reply', uuid, reply: this.#isClosed ? { kind: 'closed' } : full });
      return;
    }
    const body = encodeNfpJson({ task, kwargs, args: [] });
    const question = { ...asked, body, due: new HeapDeadline(uuid), askedIn: 0 };
    this.#open.set(uuid, question);
    this.#due.set(question.due, now + timeoutMs);
    if (this.#connection.isOpen && this.#conversation === this.#connection.number) this.#send(question);
  }

  /** What the broker says to us as to a client. */
  answer({ command, uuid, status, body }: NfpClientAnswer, now: number): void {
    const question = this.#open.get(uuid);
    if (question === undefined || command !== 'response') {
      // A broker answers MMI twice, by RESPONSE first.
      if (command !== 'mmi') this.#output.drop('answer');
    } else if (status === OK) this.#settle(question, { kind: 'answered', body });
    else if (status === BUSY) {
      question.askedIn = 0;
      this.#againAt = Math.min(this.#againAt, now + BUSY_MS);
    } else {
      const errors = decodeNfpDispatch(body)?.errors ?? [];
      this.#settle(question, { kind: 'refused', error: errors.join(', ') || `status ${status}` });
    }
  }

  /** Asks what the conversation under way has not heard yet. */
  proceed(now: number): void {
    if (!this.#connection.isOpen) return;
    const isNew = this.#conversation !== this.#connection.number;
    if (!isNew && this.#againAt > now) return;
    this.#conversation = this.#connection.number;
    this.#againAt = Infinity;
    for (const question of this.#open.values()) if (question.askedIn !== this.#conversation) this.#send(question);
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
    this.#againAt = Infinity;
  }

  assertInvariants(): void {
    if (this.#due.size !== this.#open.size) throw new Error('NfpWorkerSession: a question has no end');
  }

  #send(question: Question): void {
    const { commandForm: form, dialect } = this.#options;
    const { service, uuid, body } = question;
    // Releases before 0.15 know no MMI, and serve GET.
    const command = dialect === 'legacy' ? 'get' : 'mmi';
    question.askedIn = this.#conversation;
    this.#connection.send({ kind: 'client-call', form, command, service, target: 'all', uuid, body });
  }

  #settle(question: Question, reply: NfpBrokerReply): void {
    this.#open.delete(question.uuid);
    this.#due.remove(question.due);
    this.#output.push({ kind: 'reply', uuid: question.uuid, reply });
  }
}
