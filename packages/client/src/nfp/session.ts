/** NFP client, the engine: jobs are posted, asked about until all their workers have said the last word, and end once. Section "Client" of docs/protocols/nfp.md. */
import type { NfpCall, NfpClientAnswer, NfpClientCall, NfpDispatch, NfpToClient } from '@proj/frames/nfp';
import { decodeNfpJson } from '@proj/frames/nfp';
import { DeadlineHeap, DeadlineList, oncePerMinute } from '@proj/heartbeat';
import type { Engine, TimerEvent } from '@proj/transport';
import { errorsOf, isRecord, isTurn, readSaid } from './answers.js';
import type { NfpSaid } from './answers.js';
import { Link } from './link.js';
import { Job, Question, targetOf } from './orders.js';
import type { Member } from './orders.js';
import type {
  NfpClientDropReason,
  NfpClientEffect,
  NfpClientEvent,
  NfpClientFailure,
  NfpClientNote,
  NfpClientSessionOptions,
  NfpClientStats,
  NfpJobOrder,
  NfpQuestion,
} from './session-events.js';

/** POSTs of one job after no worker knew it any more. */
const REPOSTS_MAX = 3;
/** Longest body that is read as JSON: a frame cannot be longer. */
const JSON_MAX_BYTES = 134_217_728;
const OK = 200;
/** The workers' own management: each call has a uuid of its own, and answers are not signed. */
const WORKER_SERVICE = 'mmi.service.worker';
const LATE: Word = { status: 408, value: undefined, body: [] };
const GONE: Word = { status: 404, value: undefined, body: [] };

/** The last word of a worker. */
type Word = Pick<Extract<NfpClientEffect<unknown>, { kind: 'result' }>, 'status' | 'value' | 'body'>;

/**
 * The engine of a client: one connection, any number of jobs and questions. What is asked again is GET, and POST under its old uuid when no
 * worker knows the job: workers take a uuid once.
 *
 * A step costs O(1) in the number of orders, but for a connection that ends or begins, which costs O(orders).
 */
export class NfpClientSession<Ticket> implements Engine<NfpClientEvent<Ticket>, NfpClientEffect<Ticket>> {
  readonly #options: NfpClientSessionOptions;
  readonly #link: Link;
  readonly #jobs = new Map<string, Job<Ticket>>();
  readonly #questions = new Map<string, Question<Ticket>>();
  readonly #ends = new DeadlineHeap<Job<Ticket> | Question<Ticket>>();
  readonly #polls: DeadlineList<Job<Ticket>>;
  readonly #noted = oncePerMinute();
  readonly #counts = {
    posts: 0,
    polls: 0,
    reposts: 0,
    results: 0,
    events: 0,
    streams: 0,
    aborts: 0,
    lateAnswers: 0,
  };
  readonly #failures = { TIMEOUT: 0, QUEUE_FULL: 0, PEER_LOST: 0, UNREACHABLE: 0, REJECTED: 0, BUSY: 0, CLOSED: 0 };
  readonly #dropped = new Map<NfpClientDropReason, number>();
  #effects: NfpClientEffect<Ticket>[] = [];
  #bytes = 0;
  #notBefore = -Infinity;
  #excused = false;
  #closed = false;

  constructor(options: NfpClientSessionOptions) {
    this.#options = options;
    this.#link = new Link(options);
    this.#polls = new DeadlineList(options.pollIntervalMs);
  }

  /** See {@link Engine.deadline}. */
  get deadline(): number {
    if (this.#ends.size === 0) return Infinity;
    const end = Math.max(this.#ends.deadline, this.#notBefore);
    return Math.min(end, this.#polls.deadline, this.#link.deadline);
  }

  /** Counters and gauges, as a copy. */
  get stats(): NfpClientStats {
    return {
      jobs: this.#jobs.size,
      questions: this.#questions.size,
      bytes: this.#bytes,
      connections: this.#link.sockets,
      ...this.#counts,
      failures: { ...this.#failures },
      dropped: Object.fromEntries(this.#dropped),
    };
  }

  /** See {@link Engine.step}. */
  step(event: NfpClientEvent<Ticket> | TimerEvent, now: number): readonly NfpClientEffect<Ticket>[] {
    this.#effects = [];
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
    return this.#effects;
  }

  #onSocket(event: Extract<NfpClientEvent<Ticket>, { socket: number }>, now: number): void {
    switch (event.kind) {
      case 'message':
        this.#onMessage(event.message, now);
        break;
      case 'rejected':
        this.#drop(event.reason, now);
        break;
      case 'unsent':
        this.#onUnsent(event.uuid);
        break;
      case 'lost':
        this.#note({ code: 'connection-lost', endpoint: this.#link.endpoint });
        this.#lose(now);
        break;
      case 'refused':
        this.#lose(now);
        for (const order of [...this.#jobs.values(), ...this.#questions.values()])
          this.#fail(order, 'UNREACHABLE', [], event.cause);
        break;
    }
  }

  // --- orders

  #onJob(order: NfpJobOrder<Ticket>, now: number): void {
    const job = new Job(order);
    if (this.#jobs.has(order.uuid)) this.#refuse(order.ticket, 'BUSY');
    else if (this.#admits(job)) {
      this.#jobs.set(order.uuid, job);
      this.#enter(job, now);
      if (this.#link.ready) this.#begin(job, now);
      else this.#connect(now);
    }
  }

  #onAsk(order: NfpQuestion<Ticket>, now: number): void {
    const question = new Question(order);
    if (this.#questions.has(order.call.uuid)) this.#refuse(order.ticket, 'BUSY');
    else if (this.#admits(question)) {
      this.#questions.set(order.call.uuid, question);
      this.#enter(question, now);
      if (this.#link.ready) this.#ask(question, now);
      else this.#connect(now);
    }
  }

  #admits(order: Job<Ticket> | Question<Ticket>): boolean {
    const { openMax, openMaxBytes } = this.#options;
    const full = this.#ends.size >= openMax || this.#bytes + order.bytes > openMaxBytes;
    if (!this.#closed && !full) return true;
    this.#refuse(order.order.ticket, this.#closed ? 'CLOSED' : 'QUEUE_FULL');
    return false;
  }

  #enter(order: Job<Ticket> | Question<Ticket>, now: number): void {
    this.#bytes += order.bytes;
    this.#ends.set(order.end, now + order.order.timeoutMs);
  }

  /** Sends what a job needs first on this connection. */
  #begin(job: Job<Ticket>, now: number): void {
    if (job.phase === 'posting' && !job.sent) this.#post(job, now);
    else this.#poll(job, now);
  }

  #post(job: Job<Ticket>, now: number): void {
    const { target, body } = job.order;
    job.phase = 'posting';
    job.sent = true;
    job.clear();
    this.#counts.posts++;
    this.#call(job, 'post', target, body, now);
    this.#polls.renew(job.poll, now);
  }

  #ask(question: Question<Ticket>, now: number): void {
    question.sent = true;
    question.awaited = undefined;
    this.#send({ kind: 'client-call', form: this.#options.commandForm, ...question.order.call }, now);
  }

  /** Rule 2: asks those whose last word is awaited, and offers the job again to those that were too busy for it. */
  #poll(job: Job<Ticket>, now: number): void {
    this.#polls.renew(job.poll, now);
    if (job.asking) {
      // One turn is left out, so that questions do not pile up at a slow broker.
      job.asking = false;
      return;
    }
    if (job.phase === 'posting') {
      if (!job.sent) this.#post(job, now);
      return;
    }
    const { target, body, question } = job.order;
    const ask: string[] = [];
    for (const [name, member] of job.members) {
      if (member.said !== 'refused') ask.push(name);
      else {
        job.note(member, undefined);
        this.#counts.posts++;
        this.#call(job, 'post', targetOf([name]), body, now);
      }
    }
    if (ask.length === 0 && job.members.size > 0) return;
    const unknown = job.phase === 'probing' && target === 'any' ? 'all' : target;
    this.#counts.polls++;
    job.asking = true;
    this.#call(job, 'get', ask.length > 0 ? targetOf(ask) : unknown, question, now);
  }

  #call(job: Job<Ticket>, command: NfpCall, target: string, body: NfpClientCall['body'], now: number): void {
    const { service, uuid } = job.order;
    this.#send({ kind: 'client-call', form: this.#options.commandForm, command, service, target, uuid, body }, now);
  }

  #send(command: NfpClientCall, now: number): void {
    const { socket } = this.#link;
    if (socket === undefined) return;
    this.#effects.push({ kind: 'send', socket, command });
    if (command.command !== 'put') this.#link.owed(now);
  }

  /** Rule 5: what is given up is deleted where it may be. */
  #onAbort(uuid: string, now: number): void {
    const job = this.#jobs.get(uuid);
    if (job === undefined) return;
    this.#counts.aborts++;
    const names = [...job.members.keys()];
    const anywhere = job.order.target === 'any' ? 'all' : job.order.target;
    if (job.sent && this.#link.ready)
      this.#call(job, 'delete', names.length > 0 ? targetOf(names) : anywhere, job.order.question, now);
    this.#strike(job);
  }

  #onForget(uuid: string): void {
    const question = this.#questions.get(uuid);
    if (question === undefined) return;
    this.#counts.aborts++;
    this.#strike(question);
  }

  #onPut({ uuid, worker, body, input }: Extract<NfpClientEvent<Ticket>, { kind: 'put' }>, now: number): void {
    const job = this.#jobs.get(uuid);
    if (job === undefined) return;
    if (this.#link.ready) this.#call(job, 'put', targetOf([worker]), body, now);
    else {
      // It is asked for again.
      const member = job.members.get(worker);
      if (member !== undefined && member.input === input) member.input = undefined;
    }
  }

  #onUnsent(uuid: string): void {
    const job = this.#jobs.get(uuid);
    if (job !== undefined) {
      job.asking = false;
      if (job.phase === 'posting') job.sent = false;
    }
    const question = this.#questions.get(uuid);
    if (question !== undefined) this.#fail(question, 'QUEUE_FULL');
  }

  // --- answers

  #onMessage(message: NfpToClient, now: number): void {
    if (message.kind === 'malformed') {
      this.#drop(message.reason, now);
      return;
    }
    this.#excused = false;
    if (this.#link.heard(message.kind === 'broker-open', now)) this.#onReady(now);
    if (message.kind !== 'client-answer') return;
    const job = this.#jobs.get(message.uuid);
    const question = this.#questions.get(message.uuid);
    if (job === undefined && question === undefined) {
      this.#counts.lateAnswers++;
      return;
    }
    if (message.command === 'event' || message.command === 'stream') {
      if (job === undefined) this.#counts.lateAnswers++;
      else this.#onNews(job, message, now);
      return;
    }
    if (question?.order.from === 'broker') this.#onBrokerAnswer(question, message);
    if (job === undefined && question?.order.from !== 'workers') return;
    const said = readSaid(message.body, JSON_MAX_BYTES);
    if (question?.order.from === 'workers') this.#onWorkersAnswer(question, message, said);
    if (job !== undefined) this.#onJobAnswer(job, message, said, now);
  }

  #onNews(job: Job<Ticket>, { command, body }: NfpClientAnswer, now: number): void {
    const { ticket } = job.order;
    if (command === 'stream') {
      this.#counts.streams++;
      this.#effects.push({ kind: 'stream', ticket, body });
      return;
    }
    this.#counts.events++;
    const value = decodeNfpJson(body, JSON_MAX_BYTES);
    this.#effects.push({ kind: 'event', ticket, body, value });
    if (job.phase === 'posting' || !isTurn(value)) return;
    job.asking = false;
    this.#poll(job, now);
  }

  #onBrokerAnswer(question: Question<Ticket>, { status, body }: NfpClientAnswer): void {
    if (status === 202 || status === 300) return;
    if (status === 400) this.#fail(question, 'REJECTED', errorsOf(readSaid(body, JSON_MAX_BYTES), body));
    else this.#answered(question, { worker: undefined, status, body, value: undefined });
  }

  #onWorkersAnswer(question: Question<Ticket>, { status, body }: NfpClientAnswer, said: NfpSaid): void {
    if (said.by === 'broker') {
      this.#onDirectory(question, status, body, said);
      return;
    }
    // The acceptance of a POST of ours under this uuid.
    if (status === 201 || status === 202) return;
    const { awaited } = question;
    if (awaited === undefined) {
      if (status === 400) this.#fail(question, 'REJECTED', errorsOf(said, body));
      return;
    }
    const { command, service } = question.order.call;
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

  /** What the broker itself says to a question for workers. */
  #onDirectory(
    question: Question<Ticket>,
    status: number,
    body: NfpClientCall['body'],
    said: Extract<NfpSaid, { by: 'broker' }>,
  ): void {
    const { workers, status: word, errors = [] } = said.dispatch;
    if (word === 'FAILED') this.#fail(question, 'REJECTED', errors);
    else if (word === 'DISPATCHED' && workers !== null && workers.length > 0) {
      if (question.awaited !== undefined) return;
      question.awaited = new Set(workers);
      question.missing = workers.length - question.replies.length;
    } else this.#answered(question, { worker: undefined, status, body, value: said.dispatch });
  }

  #answered(question: Question<Ticket>, ...last: readonly Question<Ticket>['replies'][number][]): void {
    this.#strike(question);
    this.#effects.push({ kind: 'answered', ticket: question.order.ticket, replies: [...question.replies, ...last] });
  }

  #onJobAnswer(job: Job<Ticket>, { status, body }: NfpClientAnswer, said: NfpSaid, now: number): void {
    job.asking = false;
    if (said.by === 'broker') {
      this.#onDispatch(job, said.dispatch, now);
      return;
    }
    if (status === 400 && job.phase === 'posting') {
      this.#fail(job, 'REJECTED', errorsOf(said, body));
      return;
    }
    if (said.by === 'results' && status === OK) {
      for (const [worker, value] of Object.entries(said.value))
        this.#onLastWord(job, worker, { status, value, body }, now);
      return;
    }
    const worker = said.by === 'worker' ? said.worker : job.onlyMember;
    if (worker === undefined) this.#drop('answer', now);
    else this.#onWord(job, worker, said.by === 'worker', { status, value: said.value, body }, now);
  }

  /** Rule 3: what a worker says about a job; `signed`, if its name is in it. */
  #onWord(job: Job<Ticket>, worker: string, signed: boolean, word: Word, now: number): void {
    switch (word.status) {
      case OK:
        // An answer to DELETE is signed; a result that bears no name is its only worker's.
        if (!signed) this.#onLastWord(job, worker, word, now);
        break;
      case 102:
      case 201:
      case 202:
      case 300:
        this.#onKnown(job, worker, word.status === 102 ? word.value : undefined);
        break;
      case 400:
        if (signed) this.#onLastWord(job, worker, word, now);
        break;
      case 404:
        this.#onMissing(job, worker, word, now);
        break;
      default: {
        const member = job.members.get(worker);
        if (member === undefined || member.accepted) break;
        member.busy = true;
        job.note(member, 'refused');
      }
    }
  }

  #onDispatch(job: Job<Ticket>, { status, workers, target, errors = [] }: NfpDispatch, now: number): void {
    const aboutPost = target === job.order.target;
    switch (status) {
      case 'DISPATCHED':
        this.#onWorkers(job, workers ?? [], aboutPost);
        break;
      case 'PENDING':
        if (job.phase === 'posting' || job.phase === 'probing') job.phase = 'queued';
        break;
      case 'CANCELLED':
        this.#fail(job, 'REJECTED', ['the job was cancelled before any worker had it']);
        break;
      case 'FAILED':
        // Of a GET it says that the workers are away for now; of a POST it is the last word.
        if (job.phase === 'posting' || (aboutPost && (job.phase === 'queued' || job.order.target === 'any')))
          this.#fail(job, 'REJECTED', errors);
        else if (job.phase === 'queued') {
          // The broker has forgotten what waited there.
          job.phase = 'probing';
          this.#polls.renew(job.poll, now);
        }
    }
  }

  #onWorkers(job: Job<Ticket>, workers: readonly string[], aboutPost: boolean): void {
    const again = aboutPost && job.order.target === 'any' && !job.known && job.phase === 'running';
    if (workers.length === 0 || (job.phase === 'running' && !again)) return;
    if (job.phase === 'probing') {
      if (job.members.size > 0) return;
      job.learnt = true;
    } else {
      job.phase = 'running';
      job.clear();
    }
    for (const name of workers) job.add(name);
    if (!job.learnt) this.#tell(job);
  }

  #tell(job: Job<Ticket>): void {
    const workers = [...job.members.entries()].filter(([, { accepted }]) => accepted || !job.learnt);
    this.#effects.push({ kind: 'dispatched', ticket: job.order.ticket, workers: workers.map(([name]) => name) });
  }

  /** The member of that name. A job for any worker is whose who says to have it. */
  #memberOf(job: Job<Ticket>, worker: string): Member | undefined {
    const member = job.members.get(worker);
    if (member !== undefined || job.phase === 'posting' || job.done.has(worker)) return member;
    if (job.phase !== 'probing' && job.order.target !== 'any') return undefined;
    if (job.order.target === 'any') job.clear();
    return job.add(worker);
  }

  #onKnown(job: Job<Ticket>, worker: string, waiting: unknown): void {
    const member = this.#memberOf(job, worker);
    if (member === undefined) return;
    const news = !member.accepted && job.phase === 'probing';
    job.known = member.accepted = true;
    job.note(member, undefined);
    if (job.phase === 'probing') job.phase = 'running';
    if (news) this.#tell(job);
    const request = isRecord(waiting) ? waiting['input_request'] : undefined;
    const id = isRecord(request) ? request['id'] : undefined;
    if (typeof id !== 'string' || member.input === id) return;
    member.input = id;
    this.#effects.push({ kind: 'input', ticket: job.order.ticket, worker, id, request });
  }

  #onLastWord(job: Job<Ticket>, worker: string, word: Word, now: number): void {
    if (this.#memberOf(job, worker) === undefined) {
      this.#counts.lateAnswers++;
      return;
    }
    job.known = true;
    job.phase = 'running';
    this.#finish(job, worker, word);
    this.#settle(job, now);
  }

  #finish(job: Job<Ticket>, worker: string, word: Word): void {
    job.remove(worker);
    job.done.add(worker);
    if (job.told.has(worker)) return;
    this.#counts.results++;
    this.#effects.push({ kind: 'result', ticket: job.order.ticket, worker, ...word });
  }

  /** 404: gone, if the worker had it; else it never came, or was meant for others. */
  #onMissing(job: Job<Ticket>, worker: string, word: Word, now: number): void {
    const member = job.members.get(worker);
    if (member === undefined || job.phase === 'posting') return;
    if (member.accepted) this.#finish(job, worker, word);
    // Who was too busy for it was asked before it was offered the job again: it has not missed it.
    else job.note(member, member.busy ? 'refused' : 'missing');
    this.#settle(job, now);
  }

  /** Rule 4: a job that none of its workers knows is posted again; of one that some know, the others have nothing to say. */
  #settle(job: Job<Ticket>, now: number): void {
    if (job.missing < job.members.size) return;
    if (!job.known && job.reposts < REPOSTS_MAX) {
      job.reposts++;
      this.#counts.reposts++;
      this.#note({ code: 'job-reposted', uuid: job.order.uuid });
      this.#post(job, now);
      return;
    }
    for (const name of [...job.members.keys()]) {
      if (job.learnt && job.known) job.remove(name);
      else this.#finish(job, name, GONE);
    }
    this.#conclude(job);
  }

  #conclude(job: Job<Ticket>): void {
    this.#strike(job);
    this.#effects.push({ kind: 'ended', ticket: job.order.ticket });
  }

  #drop(reason: NfpClientDropReason, now: number): void {
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + 1);
    if (this.#noted.allow(reason, now)) this.#note({ code: 'message-dropped', reason, endpoint: this.#link.endpoint });
  }

  // --- the connection

  #connect(now: number): void {
    if (this.#closed || !this.#link.mayOpen(now)) return;
    const { sendOpen, commandForm, openBody } = this.#options;
    const { endpoint } = this.#link;
    const socket = this.#link.open(sendOpen, now);
    this.#effects.push({ kind: 'open', socket, endpoint });
    if (sendOpen)
      this.#effects.push({ kind: 'send', socket, command: { kind: 'client-open', form: commandForm, body: openBody } });
    else this.#onReady(now);
  }

  #onReady(now: number): void {
    for (const job of this.#jobs.values()) this.#begin(job, now);
    for (const question of this.#questions.values()) this.#ask(question, now);
  }

  /** Gives the connection up. What was sent may have arrived: jobs are asked about next, and what must not be said twice has failed. */
  #lose(now: number): void {
    const { socket } = this.#link;
    if (socket === undefined) return;
    this.#link.lose(now);
    this.#effects.push({ kind: 'close', socket, linger: false });
    for (const job of this.#jobs.values()) {
      this.#polls.remove(job.poll);
      job.asking = false;
      if (job.phase === 'queued' || (job.phase === 'posting' && job.sent)) job.phase = 'probing';
    }
    for (const question of this.#questions.values())
      if (question.sent && !question.order.repeatable) this.#fail(question, 'PEER_LOST');
  }

  #onTimer(lateMs: number, now: number): void {
    if (lateMs > 0 && !this.#excused && now >= this.#ends.deadline) {
      // Answers may lie unread in the socket: docs/adr/0004. Once, and not for long, or a busy process waits for ever.
      this.#excused = true;
      this.#notBefore = now + Math.min(lateMs, this.#options.answerTimeoutMs);
    }
    if (now >= this.#notBefore)
      for (let order = this.#ends.takeDue(now); order !== undefined; order = this.#ends.takeDue(now))
        this.#onTimeout(order);
    if (this.#link.giveUpOpen(now)) this.#onReady(now);
    if (this.#link.isSilent(lateMs, now)) {
      this.#note({ code: 'connection-silent', endpoint: this.#link.endpoint });
      this.#lose(now);
    }
    if (this.#ends.size > 0) this.#connect(now);
    for (let job = this.#polls.takeDue(now); job !== undefined; job = this.#polls.takeDue(now)) this.#poll(job, now);
  }

  /** Rule 3: what nobody said in time is 408, of those who are known to have it. */
  #onTimeout(order: Job<Ticket> | Question<Ticket>): void {
    if (order.kind === 'question') {
      const { awaited } = order;
      if (awaited === undefined) this.#fail(order, 'TIMEOUT');
      else {
        // Of those who do not say who they are, nobody knows who is missing.
        const named = order.missing === awaited.size;
        const late = [...awaited].map((worker) => ({ worker: named ? worker : undefined, ...LATE }));
        this.#answered(order, ...late.slice(0, order.missing));
      }
      return;
    }
    if (order.phase !== 'running') {
      this.#fail(order, 'TIMEOUT');
      return;
    }
    for (const [name, { accepted }] of [...order.members.entries()])
      if (accepted || !order.learnt) this.#finish(order, name, LATE);
    this.#conclude(order);
  }

  #onClose(): void {
    this.#closed = true;
    for (const order of [...this.#jobs.values(), ...this.#questions.values()]) this.#fail(order, 'CLOSED');
    const { socket } = this.#link;
    this.#link.close();
    // DELETE of what was aborted may be on its way.
    if (socket !== undefined) this.#effects.push({ kind: 'close', socket, linger: true });
  }

  #strike(order: Job<Ticket> | Question<Ticket>): void {
    this.#ends.remove(order.end);
    this.#bytes -= order.bytes;
    if (order.kind === 'question') this.#questions.delete(order.order.call.uuid);
    else {
      this.#jobs.delete(order.order.uuid);
      this.#polls.remove(order.poll);
    }
  }

  #fail(
    order: Job<Ticket> | Question<Ticket>,
    code: NfpClientFailure,
    errors: readonly string[] = [],
    cause?: unknown,
  ): void {
    this.#strike(order);
    this.#refuse(order.order.ticket, code, errors, cause);
  }

  #refuse(ticket: Ticket, code: NfpClientFailure, errors: readonly string[] = [], cause?: unknown): void {
    this.#failures[code]++;
    this.#effects.push({ kind: 'failed', ticket, code, errors, cause });
  }

  #note(note: NfpClientNote): void {
    this.#effects.push({ kind: 'note', note });
  }

  /** See {@link Engine.assertInvariants}. */
  assertInvariants(): void {
    let bytes = 0;
    for (const order of [...this.#jobs.values(), ...this.#questions.values()]) {
      bytes += order.bytes;
      if (order.end.place < 0) throw new Error('an order waits for ever');
    }
    this.#ends.assertInvariants();
    if (bytes !== this.#bytes) throw new Error(`${bytes} bytes are open, counted are ${this.#bytes}`);
    if (this.#ends.size !== this.#jobs.size + this.#questions.size) throw new Error('an ended order has a deadline');
    if (this.#ends.size > this.#options.openMax) throw new Error(`${this.#ends.size} orders are open`);
    for (const job of this.#polls.values())
      if (this.#jobs.get(job.order.uuid) !== job) throw new Error('an ended job is asked about');
    if (this.#link.ready && this.#polls.size !== this.#jobs.size) throw new Error('an open job is not asked about');
    for (const job of this.#jobs.values())
      if (job.phase === 'running' && job.members.size === 0) throw new Error('a job runs nowhere');
  }
}

/** The awaited worker whose result this is. */
function nameIn(value: unknown, awaited: ReadonlySet<string>): string | undefined {
  if (!isRecord(value)) return undefined;
  return Object.keys(value).find((name) => awaited.has(name));
}
