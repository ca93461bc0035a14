/** NFP client: what answers mean for a question: which workers must answer, and which have. Client rule 6 of docs/protocols/nfp.md. */
import type { NfpCall, NfpClientAnswer, NfpClientCall } from '@proj/frames/nfp';
import { errorsOf, isRecord, readSaid, statusOf, statusWithin } from './answers.js';
import type { NfpSaid } from './answers.js';
import { LATE } from './output.js';
import type { Output } from './output.js';
import type { OpenRequests, Question } from './state.js';

/** Management of workers: each call has its own uuid, and answers are not signed. */
export const WORKER_SERVICE = 'mmi.service.worker';

const OK = 200;

/** Collects the replies to questions, and ends them. */
export class QuestionAnswers<Ticket> {
  readonly #orders: OpenRequests<Ticket>;
  readonly #out: Output<Ticket>;
  readonly #joins: boolean;

  /** `joins`: as in `JobAnswers`. */
  constructor(orders: OpenRequests<Ticket>, out: Output<Ticket>, joins: boolean) {
    this.#joins = joins;
    this.#orders = orders;
    this.#out = out;
  }

  /** An answer to a question for the broker: the first one counts. An answer from another service does not. */
  fromBroker(question: Question<Ticket>, { service, status, body }: NfpClientAnswer): void {
    if (service !== '' && service !== question.order.call.service) {
      this.#orders.fail(question, 'UNEXPECTED_ANSWER', [`an answer of service ${JSON.stringify(service)}`]);
      return;
    }
    if (status === 202 || status === 300) return;
    if (status === 400) this.#orders.fail(question, 'REJECTED', errorsOf(readSaid(body), body));
    else this.#answered(question, { worker: undefined, status, body, value: undefined });
  }

  /** An answer to a question for workers: one of theirs, or the list of those that will answer. */
  fromWorkers(question: Question<Ticket>, { status, body }: NfpClientAnswer, said: NfpSaid): void {
    if (said.by === 'broker') {
      this.#onDirectory(question, status, body, said);
      return;
    }
    // It accepts our POST with this uuid.
    if (status === 201 || status === 202) return;
    const { awaited } = question;
    const { command, service } = question.order.call;
    if (awaited === undefined) {
      if (this.#joins && said.by !== 'nobody' && service !== WORKER_SERVICE)
        this.#onJoined(question, command, { status, body }, said);
      else if (status === 400) this.#orders.fail(question, 'REJECTED', errorsOf(said, body));
      return;
    }
    // A GET and a DELETE of one uuid may be open together, as may the DELETE of an aborted job: answers to DELETE are signed.
    if (status === OK && command === 'get' && said.by === 'worker' && service !== WORKER_SERVICE) return;
    if (status === OK && command === 'delete' && said.by === 'results') return;
    const named = said.by === 'worker' ? said.worker : nameIn(said.value, awaited);
    const worker = named ?? (question.missing === 1 ? awaited.values().next().value : undefined);
    // A worker that has already answered is answering a GET of the open job with this uuid.
    if (worker !== undefined && !awaited.delete(worker)) return;
    question.replies.push({ worker, status, body, value: said.value });
    if (--question.missing <= 0) this.#answered(question);
  }

  /**
   * The answers of all workers in one. Those that may belong to another call of this uuid are left to it: neither pending nor a result answers a
   * DELETE.
   */
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

  /** Workers that have not answered in time are 408. */
  timeout(question: Question<Ticket>): void {
    const { awaited } = question;
    if (awaited === undefined) {
      this.#orders.fail(question, 'TIMEOUT');
      return;
    }
    // If answers arrived without names, it is unknown whose are missing.
    const named = question.missing === awaited.size;
    const late = [...awaited].map((worker) => ({ worker: named ? worker : undefined, ...LATE }));
    this.#answered(question, ...late.slice(0, question.missing));
  }

  /** The broker's own answer to a question for workers. */
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
    this.#out.effects.push({
      kind: 'answered',
      ticket: question.order.ticket,
      replies: [...question.replies, ...last],
    });
  }
}

/** The awaited worker that this result belongs to. */
function nameIn(value: unknown, awaited: ReadonlySet<string>): string | undefined {
  if (!isRecord(value)) return undefined;
  return Object.keys(value).find((name) => awaited.has(name));
}
