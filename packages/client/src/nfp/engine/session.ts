/**
 * NFP client, the engine: jobs are posted, then polled until all their workers have said their last word, and end once. `legality.ts` decides
 * what an event means for a job. The rules are those of docs/protocols/nfp.md, section "Client".
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 1 | the connection | broker-connection.ts, call-tracker.ts |
 * | 2 | one POST, then GET | call-tracker.ts, job-progress.ts |
 * | 3 | a worker's last word | job-answers.ts, legality.ts, job-progress.ts |
 * | 4 | a lost connection | job-progress.ts, job-answers.ts, call-tracker.ts, old-answers.ts |
 * | 5 | aborted jobs | session.ts, call-tracker.ts |
 * | 6 | services of the broker, management | questions.ts, question-answers.ts |
 * | 7 | events and input | open-jobs.ts, job.ts |
 * | 8 | jobs in a store | job-book.ts, open-jobs.ts |
 * | 9 | files | file-transfer.ts, files.ts |
 * | 10 | one end, bounds | state.ts, session.ts, job.ts |
 */
import type { NfpClientAnswer, NfpToClient } from '@proj/frames/nfp';
import type { Engine, TimerEvent } from '@proj/transport';
import { readSaid } from './answers.js';
import { CallTracker } from './call-tracker.js';
import { JobAnswers } from './job-answers.js';
import { BrokerConnection } from './broker-connection.js';
import { Output } from './output.js';
import { JobProgress } from './job-progress.js';
import { LEGALITY } from './legality.js';
import { QuestionAnswers } from './question-answers.js';
import { JobRequest, OpenRequests, Question } from './state.js';
import type {
  NfpClientEffect,
  NfpClientEvent,
  NfpClientSessionOptions,
  NfpClientStats,
  NfpJobOrder,
  NfpQuestion,
} from './events.js';

/**
 * The engine of a client: one connection, any number of jobs and questions. GET is repeated; POST only if no worker knows the job, under its old
 * uuid, because workers accept a uuid once.
 *
 * A step costs O(1) in the number of orders, except for a connection that ends or begins, which costs O(orders and their
 * workers).
 */
export class NfpClientSession<Ticket> implements Engine<NfpClientEvent<Ticket>, NfpClientEffect<Ticket>> {
  readonly #options: NfpClientSessionOptions;
  readonly #out = new Output<Ticket>();
  readonly #link: BrokerConnection;
  readonly #orders: OpenRequests<Ticket>;
  readonly #calls: CallTracker<Ticket>;
  readonly #progress: JobProgress<Ticket>;
  readonly #jobAnswers: JobAnswers<Ticket>;
  readonly #questionAnswers: QuestionAnswers<Ticket>;
  #notBefore = -Infinity;
  #excused = false;
  #closed = false;

  constructor(options: NfpClientSessionOptions) {
    this.#options = options;
    this.#link = new BrokerConnection(options);
    this.#orders = new OpenRequests(options, this.#out);
    this.#calls = new CallTracker(options, this.#link, this.#orders, this.#out);
    const joins = options.commandForm === 'byte';
    this.#progress = new JobProgress(this.#orders, this.#calls, this.#out);
    this.#jobAnswers = new JobAnswers(this.#link, this.#orders, this.#calls, this.#progress, this.#out, joins);
    this.#questionAnswers = new QuestionAnswers(this.#orders, this.#out, joins);
  }

  get deadline(): number {
    const orders = this.#orders;
    if (orders.size === 0) return Infinity;
    return Math.min(Math.max(orders.nextEnd, this.#notBefore), orders.nextPoll, this.#link.deadline);
  }

  /** A copy of the counters and gauges. */
  get stats(): NfpClientStats {
    const { jobs, questions, bytes } = this.#orders;
    return {
      jobs: jobs.size,
      questions: questions.size,
      bytes,
      connections: this.#link.sockets,
      ...this.#out.totals,
    };
  }

  step(event: NfpClientEvent<Ticket> | TimerEvent, now: number): readonly NfpClientEffect<Ticket>[] {
    this.#out.begin(now);
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
    return this.#out.effects;
  }

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
    this.#out.counters.aborts++;
    this.#calls.delete(job, now);
    this.#orders.strike(job);
  }

  #onForget(uuid: string): void {
    const question = this.#orders.questions.get(uuid);
    if (question === undefined) return;
    this.#out.counters.aborts++;
    this.#orders.strike(question);
  }

  #onPut({ uuid, worker, body, input }: Extract<NfpClientEvent<Ticket>, { kind: 'put' }>, now: number): void {
    const job = this.#orders.jobs.get(uuid);
    if (job === undefined) return;
    if (this.#link.ready) this.#calls.put(job, worker, body, now);
    else {
      // The worker is asked again.
      const member = job.members.get(worker);
      if (member !== undefined && member.input === input) member.input = undefined;
    }
  }

  #onClose(): void {
    this.#closed = true;
    this.#orders.close();
    const { socket } = this.#link;
    this.#link.close();
    // The DELETE of an aborted job may be under way.
    if (socket !== undefined) this.#out.effects.push({ kind: 'close', socket, linger: true });
  }

  #onSocket(event: Extract<NfpClientEvent<Ticket>, { socket: number }>, now: number): void {
    switch (event.kind) {
      case 'message':
        this.#onMessage(event.message, now);
        break;
      case 'rejected':
        this.#out.drop(event.reason, this.#link.endpoint);
        break;
      case 'unsent':
        this.#onUnsent(event.uuid);
        break;
      case 'lost':
        this.#out.report({ code: 'connection-lost', endpoint: this.#link.endpoint });
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
      this.#out.drop(message.reason, this.#link.endpoint);
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
      this.#out.counters.lateAnswers++;
      return;
    }
    if (message.command === 'event' || message.command === 'stream') {
      if (job === undefined) this.#out.counters.lateAnswers++;
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
    this.#out.effects.push({ kind: 'open', socket, endpoint });
    if (sendOpen)
      this.#out.effects.push({
        kind: 'send',
        socket,
        command: { kind: 'client-open', form: commandForm, body: openBody },
      });
    else this.#onReady(now);
  }

  #onReady(now: number): void {
    for (const job of this.#orders.jobs.values()) this.#calls.begin(job, now);
    for (const question of this.#orders.questions.values()) this.#calls.ask(question, now);
  }

  /** Gives up the connection. Messages may have arrived: jobs are asked about next, and questions that must not be sent twice fail. */
  #lose(now: number): void {
    const { socket } = this.#link;
    if (socket === undefined) return;
    this.#link.lose(now);
    this.#out.effects.push({ kind: 'close', socket, linger: false });
    for (const job of this.#orders.jobs.values()) {
      this.#orders.unpolled(job);
      job.disconnected();
      const isProbed = LEGALITY[job.phase]['connection lost'][0] === 'probe';
      if (isProbed && (job.sent || job.phase === 'queued')) job.phase = 'probing';
    }
    for (const question of this.#orders.questions.values())
      if (question.sent && !question.order.repeatable) this.#orders.fail(question, 'PEER_LOST');
  }

  #onTimer(lateMs: number, now: number): void {
    const orders = this.#orders;
    if (lateMs > 0 && !this.#excused && now >= orders.nextEnd) {
      // Answers may be unread in the socket: docs/adr/0004. Once, and not for long, or a busy process would wait for ever.
      this.#excused = true;
      this.#notBefore = now + Math.min(lateMs, this.#options.answerTimeoutMs);
    }
    if (now >= this.#notBefore)
      for (let order = orders.takeEnded(now); order !== undefined; order = orders.takeEnded(now)) {
        if (order.kind === 'job') this.#progress.timeout(order);
        else this.#questionAnswers.timeout(order);
      }
    if (this.#link.giveUpOpen(now)) this.#onReady(now);
    if (this.#link.isSilent(lateMs, now)) {
      this.#out.report({ code: 'connection-silent', endpoint: this.#link.endpoint });
      this.#lose(now);
    }
    if (orders.size > 0) this.#connect(now);
    for (let job = orders.takePoll(now); job !== undefined; job = orders.takePoll(now)) this.#calls.poll(job, now);
  }
}
