/** NFP client, the engine: jobs are posted, asked about until all their workers have said the last word, and end once. Section "Client" of docs/protocols/nfp.md. */
import type { NfpClientAnswer, NfpToClient } from '@proj/frames/nfp';
import type { Engine, TimerEvent } from '@proj/transport';
import { readSaid } from './answers.js';
import { CallTracker } from './call-tracker.js';
import { JobAnswers } from './job-answers.js';
import { BrokerConnection } from './broker-connection.js';
import { OpenRequests } from './open-requests.js';
import { JobRequest, Question } from './requests.js';
import { Output } from './output.js';
import { QuestionAnswers } from './question-answers.js';
import type {
  NfpClientEffect,
  NfpClientEvent,
  NfpClientSessionOptions,
  NfpClientStats,
  NfpJobOrder,
  NfpQuestion,
} from './events.js';

/**
 * The engine of a client: one connection, any number of jobs and questions. What is asked again is GET, and POST under its old uuid when no
 * worker knows the job: workers take a uuid once.
 *
 * A step costs O(1) in the number of orders, but for a connection that ends or begins, which costs O(orders).
 */
export class NfpClientSession<Ticket> implements Engine<NfpClientEvent<Ticket>, NfpClientEffect<Ticket>> {
  readonly #options: NfpClientSessionOptions;
  readonly #output = new Output<Ticket>();
  readonly #link: BrokerConnection;
  readonly #orders: OpenRequests<Ticket>;
  readonly #calls: CallTracker<Ticket>;
  readonly #jobAnswers: JobAnswers<Ticket>;
  readonly #questionAnswers: QuestionAnswers<Ticket>;
  #notBefore = -Infinity;
  #excused = false;
  #closed = false;

  constructor(options: NfpClientSessionOptions) {
    this.#options = options;
    this.#link = new BrokerConnection(options);
    this.#orders = new OpenRequests(options, this.#output);
    this.#calls = new CallTracker(options, this.#link, this.#orders, this.#output);
    const joins = options.commandForm === 'byte';
    this.#jobAnswers = new JobAnswers(this.#link, this.#orders, this.#calls, this.#output, joins);
    this.#questionAnswers = new QuestionAnswers(this.#orders, this.#output, joins);
  }

  /** See {@link Engine.deadline}. */
  get deadline(): number {
    const orders = this.#orders;
    if (orders.size === 0) return Infinity;
    return Math.min(Math.max(orders.nextEnd, this.#notBefore), orders.nextPoll, this.#link.deadline);
  }

  /** Counters and gauges, as a copy. */
  get stats(): NfpClientStats {
    const { jobs, questions, bytes } = this.#orders;
    return {
      jobs: jobs.size,
      questions: questions.size,
      bytes,
      connections: this.#link.sockets,
      ...this.#output.totals,
    };
  }

  /** See {@link Engine.step}. */
  step(event: NfpClientEvent<Ticket> | TimerEvent, now: number): readonly NfpClientEffect<Ticket>[] {
    this.#output.begin();
    switch (event.kind) {
      case 'job':
        this.#onJob(event.order, now);
        break;
      case 'ask':
        this.#onAsk(event.question, now);
        break;
      case 'abort':
        this.#onAbort(event.uuid, now);
        break;
      case 'forget':
        this.#onForget(event.uuid);
        break;
      case 'put':
        this.#onPut(event, now);
        break;
      case 'close':
        this.#onClose();
        break;
      case 'timer':
        this.#onTimer(event.lateMs, now);
        break;
      default:
        if (event.socket === this.#link.socket) this.#onSocket(event, now);
    }
    return this.#output.effects;
  }

  /** See {@link Engine.assertInvariants}. */
  assertInvariants(): void {
    this.#orders.assertInvariants(this.#link.ready);
  }

  #onJob(order: NfpJobOrder<Ticket>, now: number): void {
    const job = new JobRequest(order);
    if (!this.#orders.admit(job, now)) return;
    if (this.#link.ready) this.#calls.begin(job, now);
    else this.#connect(now);
  }

  #onAsk(order: NfpQuestion<Ticket>, now: number): void {
    const question = new Question(order);
    if (!this.#orders.admit(question, now)) return;
    if (this.#link.ready) this.#calls.ask(question, now);
    else this.#connect(now);
  }

  #onAbort(uuid: string, now: number): void {
    const job = this.#orders.jobs.get(uuid);
    if (job === undefined) return;
    this.#output.counts.aborts++;
    this.#calls.delete(job, now);
    this.#orders.strike(job);
  }

  #onForget(uuid: string): void {
    const question = this.#orders.questions.get(uuid);
    if (question === undefined) return;
    this.#output.counts.aborts++;
    this.#orders.strike(question);
  }

  #onPut({ uuid, worker, body, input }: Extract<NfpClientEvent<Ticket>, { kind: 'put' }>, now: number): void {
    const job = this.#orders.jobs.get(uuid);
    if (job === undefined) return;
    if (this.#link.ready) this.#calls.put(job, worker, body, now);
    else {
      // It is asked for again.
      const member = job.members.get(worker);
      if (member !== undefined && member.input === input) member.input = undefined;
    }
  }

  #onClose(): void {
    this.#closed = true;
    this.#orders.close();
    const { socket } = this.#link;
    this.#link.close();
    // DELETE of what was aborted may be on its way.
    if (socket !== undefined) this.#output.push({ kind: 'close', socket, linger: true });
  }

  #onSocket(event: Extract<NfpClientEvent<Ticket>, { socket: number }>, now: number): void {
    switch (event.kind) {
      case 'message':
        this.#onMessage(event.message, now);
        break;
      case 'rejected':
        this.#output.drop(event.reason, this.#link.endpoint, now);
        break;
      case 'unsent':
        this.#onUnsent(event.uuid);
        break;
      case 'lost':
        this.#output.note({ code: 'connection-lost', endpoint: this.#link.endpoint });
        this.#lose(now);
        break;
      case 'refused':
        this.#lose(now);
        this.#orders.failAll('UNREACHABLE', event.cause);
        break;
    }
  }

  #onUnsent(uuid: string): void {
    const job = this.#orders.jobs.get(uuid);
    if (job !== undefined) {
      job.asking = false;
      if (job.phase === 'posting') job.sent = false;
    }
    const question = this.#orders.questions.get(uuid);
    if (question !== undefined) this.#orders.fail(question, 'QUEUE_FULL');
  }

  #onMessage(message: NfpToClient, now: number): void {
    if (message.kind === 'malformed') {
      this.#output.drop(message.reason, this.#link.endpoint, now);
      return;
    }
    this.#excused = false;
    if (this.#link.heard(message.kind === 'broker-open', now)) this.#onReady(now);
    if (message.kind === 'client-answer') this.#onAnswer(message, now);
  }

  #onAnswer(message: NfpClientAnswer, now: number): void {
    const job = this.#orders.jobs.get(message.uuid);
    const question = this.#orders.questions.get(message.uuid);
    if (job === undefined && question === undefined) {
      this.#output.counts.lateAnswers++;
      return;
    }
    if (message.command === 'event' || message.command === 'stream') {
      if (job === undefined) this.#output.counts.lateAnswers++;
      else this.#jobAnswers.news(job, message, now);
      return;
    }
    if (question?.order.from === 'broker') this.#questionAnswers.fromBroker(question, message);
    if (job === undefined && question?.order.from !== 'workers') return;
    const said = readSaid(message.body);
    if (question?.order.from === 'workers') this.#questionAnswers.fromWorkers(question, message, said);
    if (job !== undefined) this.#jobAnswers.answer(job, message, said, now);
  }

  #connect(now: number): void {
    if (this.#closed || !this.#link.mayOpen(now)) return;
    const { sendOpen, commandForm, openBody } = this.#options;
    const { endpoint } = this.#link;
    const socket = this.#link.open(sendOpen, now);
    this.#output.push({ kind: 'open', socket, endpoint });
    if (sendOpen)
      this.#output.push({ kind: 'send', socket, command: { kind: 'client-open', form: commandForm, body: openBody } });
    else this.#onReady(now);
  }

  #onReady(now: number): void {
    for (const job of this.#orders.jobs.values()) this.#calls.begin(job, now);
    for (const question of this.#orders.questions.values()) this.#calls.ask(question, now);
  }

  /** Gives the connection up. What was sent may have arrived: jobs are asked about next, and what must not be said twice has failed. */
  #lose(now: number): void {
    const { socket } = this.#link;
    if (socket === undefined) return;
    this.#link.lose(now);
    this.#output.push({ kind: 'close', socket, linger: false });
    for (const job of this.#orders.jobs.values()) {
      this.#orders.unpolled(job);
      job.asking = false;
      if (job.phase === 'queued' || (job.phase === 'posting' && job.sent)) job.phase = 'probing';
    }
    for (const question of this.#orders.questions.values())
      if (question.sent && !question.order.repeatable) this.#orders.fail(question, 'PEER_LOST');
  }

  #onTimer(lateMs: number, now: number): void {
    const orders = this.#orders;
    if (lateMs > 0 && !this.#excused && now >= orders.nextEnd) {
      // Answers may lie unread in the socket: docs/adr/0004. Once, and not for long, or a busy process waits for ever.
      this.#excused = true;
      this.#notBefore = now + Math.min(lateMs, this.#options.answerTimeoutMs);
    }
    if (now >= this.#notBefore)
      for (let order = orders.takeEnded(now); order !== undefined; order = orders.takeEnded(now)) {
        if (order.kind === 'job') this.#jobAnswers.timeout(order);
        else this.#questionAnswers.timeout(order);
      }
    if (this.#link.giveUpOpen(now)) this.#onReady(now);
    if (this.#link.isSilent(lateMs, now)) {
      this.#output.note({ code: 'connection-silent', endpoint: this.#link.endpoint });
      this.#lose(now);
    }
    if (orders.size > 0) this.#connect(now);
    for (let job = orders.takePoll(now); job !== undefined; job = orders.takePoll(now)) this.#calls.poll(job, now);
  }
}
