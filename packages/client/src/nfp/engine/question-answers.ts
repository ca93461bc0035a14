/** NFP client: what answers mean for a question: who is to answer, and who has. Client rule 6 of docs/protocols/nfp.md. */
import type { NfpCall, NfpClientAnswer, NfpClientCall } from '@proj/frames/nfp';
import { errorsOf, isRecord, readSaid, statusOf, statusWithin } from './answers.js';
import type { NfpSaid } from './answers.js';
import type { OpenRequests } from './open-requests.js';
import type { Question } from './requests.js';
import { LATE } from './output.js';
import type { Output } from './output.js';
import { WORKER_SERVICE } from './services.js';

const OK = 200;

/** Gathers the replies to questions, and ends them. */
export class QuestionAnswers<Ticket> {
  readonly #orders: OpenRequests<Ticket>;
  readonly #output: Output<Ticket>;
  readonly #joins: boolean;

  /** `joins`: as in `JobAnswers`. */
  constructor(orders: OpenRequests<Ticket>, output: Output<Ticket>, joins: boolean) {
    this.#joins = joins;
    this.#orders = orders;
    this.#output = output;
  }

  /** An answer to a question for the broker: the first one is all. What another service says is none. */
  fromBroker(question: Question<Ticket>, { service, status, body }: NfpClientAnswer): void {
    if (service !== '' && service !== question.order.call.service) {
      this.#orders.fail(question, 'UNEXPECTED_ANSWER', [`an answer of service ${JSON.stringify(service)}`]);
      return;
    }
    if (status === 202 || status === 300) return;
    if (status === 400) this.#orders.fail(question, 'REJECTED', errorsOf(readSaid(body), body));
    else this.#answered(question, { worker: undefined, status, body, value: undefined });
  }

  /** An answer to a question for workers: one of theirs, or who is to answer. */
  fromWorkers(question: Question<Ticket>, { status, body }: NfpClientAnswer, said: NfpSaid): void {
    if (said.by === 'broker') {
      this.#onDirectory(question, status, body, said);
      return;
    }
    // The acceptance of a POST of ours under this uuid.
    if (status === 201 || status === 202) return;
    const { awaited } = question;
    const { command, service } = question.order.call;
    if (awaited === undefined) {
      if (this.#joins && said.by !== 'nobody' && service !== WORKER_SERVICE)
        this.#onJoined(question, command, { status, body }, said);
      else if (status === 400) this.#orders.fail(question, 'REJECTED', errorsOf(said, body));
      return;
    }
    // GET and DELETE of one uuid may be open at a time, and a DELETE of an aborted job: signed is what answers a DELETE.
    if (status === OK && command === 'get' && said.by === 'worker' && service !== WORKER_SERVICE) return;
    if (status === OK && command === 'delete' && said.by === 'results') return;
    const named = said.by === 'worker' ? said.worker : nameIn(said.value, awaited);
    const worker = named ?? (question.missing === 1 ? awaited.values().next().value : undefined);
    // One that has answered already answers a GET of the open job of this uuid.
    if (worker !== undefined && !awaited.delete(worker)) return;
    question.replies.push({ worker, status, body, value: said.value });
    if (--question.missing <= 0) this.#answered(question);
  }

  /** All workers at once. What may be about another call of this uuid is left to that: pending is no answer to DELETE, a result neither. */
  #onJoined(
    question: Question<Ticket>,
    command: NfpCall,
    { status, body }: Pick<NfpClientAnswer, 'status' | 'body'>,
    said: Extract<NfpSaid, { by: 'worker' | 'results' }>,
  ): void {
    const all = said.by === 'worker' ? [[said.worker, said.value] as const] : Object.entries(said.value);
    const replies = all.map(([worker, value]) => {
      const within = said.by === 'worker' ? statusOf(status, said.value) : (statusWithin(worker, value) ?? OK);
      return { worker, status: within, body, value };
    });
    const isSettled = replies.every(
      ({ worker, status: each, value }) => each >= 400 || (each === OK && statusWithin(worker, value) === OK),
    );
    if (command === 'get' || isSettled) this.#answered(question, ...replies);
  }

  /** Who has not answered in time is 408. */
  timeout(question: Question<Ticket>): void {
    const { awaited } = question;
    if (awaited === undefined) {
      this.#orders.fail(question, 'TIMEOUT');
      return;
    }
    // Of those who do not say who they are, nobody knows who is missing.
    const named = question.missing === awaited.size;
    const late = [...awaited].map((worker) => ({ worker: named ? worker : undefined, ...LATE }));
    this.#answered(question, ...late.slice(0, question.missing));
  }

  /** What the broker itself says to a question for workers. */
  #onDirectory(
    question: Question<Ticket>,
    status: number,
    body: NfpClientCall['body'],
    said: Extract<NfpSaid, { by: 'broker' }>,
  ): void {
    const { workers, status: word, errors = [] } = said.dispatch;
    if (word === 'FAILED') this.#orders.fail(question, 'REJECTED', errors);
    else if (word === 'DISPATCHED' && workers !== null && workers.length > 0) {
      if (question.awaited !== undefined) return;
      question.awaited = new Set(workers);
      question.missing = workers.length - question.replies.length;
    } else this.#answered(question, { worker: undefined, status, body, value: said.dispatch });
  }

  #answered(question: Question<Ticket>, ...last: readonly Question<Ticket>['replies'][number][]): void {
    this.#orders.strike(question);
    this.#output.push({ kind: 'answered', ticket: question.order.ticket, replies: [...question.replies, ...last] });
  }
}

/** The awaited worker whose result this is. */
function nameIn(value: unknown, awaited: ReadonlySet<string>): string | undefined {
  if (!isRecord(value)) return undefined;
  return Object.keys(value).find((name) => awaited.has(name));
}
