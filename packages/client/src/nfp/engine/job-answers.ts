/** NFP client: what answers mean for a job: who has it, who is done with it, when it is over. Client rules 3 and 4 of docs/protocols/nfp.md. */
import { parseNfpTarget } from '@proj/frames/nfp';
import type { NfpClientAnswer, NfpDispatch } from '@proj/frames/nfp';
import { errorsOf, isRecord, isTurn, readJson, statusOf, statusWithin } from './answers.js';
import type { NfpSaid } from './answers.js';
import type { CallTracker } from './call-tracker.js';
import type { BrokerConnection } from './broker-connection.js';
import type { OpenRequests } from './open-requests.js';
import type { JobRequest, WorkerProgress } from './requests.js';
import { GONE, LATE, UNEXPECTED } from './output.js';
import type { Output, Word } from './output.js';

/** POSTs of one job after no worker knew it any more, and to one worker after it did not know what others did. */
const REPOSTS_MAX = 3;
const OK = 200;

/** Takes down what is said about jobs, tells it on, and ends them. */
export class JobAnswers<Ticket> {
  readonly #link: BrokerConnection;
  readonly #orders: OpenRequests<Ticket>;
  readonly #calls: CallTracker<Ticket>;
  readonly #output: Output<Ticket>;
  readonly #joins: boolean;

  /** `joins`: brokers join the answers of workers to a GET into one, without a 202 that says whose they are. */
  constructor(
    link: BrokerConnection,
    orders: OpenRequests<Ticket>,
    calls: CallTracker<Ticket>,
    output: Output<Ticket>,
    joins: boolean,
  ) {
    this.#joins = joins;
    this.#link = link;
    this.#orders = orders;
    this.#calls = calls;
    this.#output = output;
  }

  /** An event or a part of the stream of a job. After some events a result is there to be fetched. */
  news(job: JobRequest<Ticket>, { command, body }: NfpClientAnswer, now: number): void {
    const { ticket } = job.order;
    if (command === 'stream') {
      this.#output.counts.streams++;
      this.#output.push({ kind: 'stream', ticket, body });
      return;
    }
    this.#output.counts.events++;
    const value = readJson(body);
    this.#output.push({ kind: 'event', ticket, body, value });
    if (job.phase === 'posting' || !isTurn(value)) return;
    const worker = isRecord(value) ? value['worker'] : undefined;
    if (typeof worker !== 'string') {
      job.asking = false;
      this.#calls.poll(job, now);
    } else if (!job.done.has(worker)) this.#calls.fetch(job, worker, now);
  }

  /** An answer about a job, from whomever. */
  answer(job: JobRequest<Ticket>, { status: told, body }: NfpClientAnswer, said: NfpSaid, now: number): void {
    job.asking = false;
    if (said.by === 'broker') {
      this.#onDispatch(job, said.dispatch, now);
      return;
    }
    const status = said.by === 'worker' ? statusOf(told, said.value) : told;
    if (job.phase === 'posting') {
      if (status === 400) this.#orders.fail(job, 'REJECTED', errorsOf(said, body));
      // A POST is answered by the broker, or refused in words of whatever form.
      else if (said.by === 'nobody' && status < 400) this.#orders.fail(job, 'UNEXPECTED_ANSWER', errorsOf(said, body));
      if (status === 400 || said.by === 'nobody') return;
    }
    if (said.by === 'results' && (status === OK || this.#joins)) {
      this.#onResults(job, said.value, body, now);
      return;
    }
    const worker = said.by === 'worker' ? said.worker : job.onlyMember;
    if (worker === undefined) {
      job.unexpected = true;
      this.#output.drop('answer', this.#link.endpoint, now);
      return;
    }
    this.#learn(job, [worker]);
    this.#onWord(job, worker, said.by === 'worker', { status, value: said.value, body }, now);
  }

  /** Results by worker, and, where they are joined, the words of those that have none. */
  #onResults(
    job: JobRequest<Ticket>,
    values: Readonly<Record<string, unknown>>,
    body: Word['body'],
    now: number,
  ): void {
    const all = Object.entries(values);
    this.#learn(
      job,
      all.map(([worker]) => worker),
    );
    for (const [worker, value] of all) {
      const status = statusWithin(worker, value);
      if (status === undefined) this.#onLastWord(job, worker, { status: OK, value, body }, now);
      else this.#onWord(job, worker, true, { status, value, body }, now);
    }
  }

  /** Rule 4: whoever answers for the first time a GET without a 202 are all that have been asked. */
  #learn(job: JobRequest<Ticket>, workers: readonly string[]): void {
    if (!this.#joins || job.phase !== 'probing' || job.members.size > 0) return;
    job.learnt = true;
    for (const worker of workers) job.add(worker);
  }

  /** Rule 3: what nobody said in time is 408, of those who are known to have it; 417 where something else has come. */
  timeout(job: JobRequest<Ticket>): void {
    if (job.phase !== 'running') {
      this.#orders.fail(job, job.unexpected ? 'UNEXPECTED_ANSWER' : 'TIMEOUT');
      return;
    }
    for (const [name, { accepted }] of [...job.members.entries()])
      if (accepted || !job.learnt) this.#finish(job, name, job.unexpected ? UNEXPECTED : LATE);
    this.#conclude(job);
  }

  /** Rule 3: what a worker says about a job; `signed`, if its name is in it. */
  #onWord(job: JobRequest<Ticket>, worker: string, signed: boolean, word: Word, now: number): void {
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
      case 408:
        // The broker has given the worker up; where answers are joined, it says only that the worker is away for now.
        if (signed && !this.#joins) this.#onLastWord(job, worker, word, now);
        break;
      default: {
        const member = job.members.get(worker);
        if (member === undefined || member.accepted) break;
        member.busy = true;
        job.note(member, 'refused');
      }
    }
  }

  #onDispatch(job: JobRequest<Ticket>, dispatch: NfpDispatch, now: number): void {
    const { status, target, errors = [] } = dispatch;
    const aboutPost = target === job.order.target;
    // What is for any worker is asked for at all of them as long as nobody is known to have it.
    const aboutGet = target === 'all' && !aboutPost;
    switch (status) {
      case 'DISPATCHED':
        if (aboutPost) job.offered = false;
        if (!aboutGet || (job.phase !== 'posting' && job.phase !== 'queued')) this.#onWorkers(job, dispatch);
        break;
      case 'PENDING':
        if (job.phase === 'posting') job.phase = 'queued';
        break;
      case 'CANCELLED':
        this.#orders.fail(job, 'REJECTED', ['the job was cancelled before any worker had it']);
        break;
      case 'FAILED':
        // Of a GET it says that the workers are away for now; of a POST it is the last word.
        if (job.phase === 'posting' && aboutGet) break;
        if (job.phase === 'running' && aboutPost && job.offered) {
          // Its workers are away for now, or as busy as the last one: it is offered once more.
          for (const member of job.members.values()) job.note(member, 'refused');
          break;
        }
        if (job.phase === 'posting' || (aboutPost && (job.phase === 'queued' || job.order.target === 'any')))
          this.#orders.fail(job, 'REJECTED', errors);
        else if (job.phase === 'queued') {
          // The broker has forgotten what waited there.
          job.phase = 'probing';
          this.#orders.polled(job, now);
        }
    }
  }

  #onWorkers(job: JobRequest<Ticket>, { workers, errors = [] }: NfpDispatch): void {
    const names = workers ?? [];
    if (names.length === 0 || (job.phase === 'running' && !this.#isMove(job, names))) return;
    const isFirst = job.phase === 'posting' || job.phase === 'queued';
    if (job.phase === 'probing') {
      if (job.members.size > 0) return;
      job.learnt = true;
    } else {
      job.phase = 'running';
      job.known = false;
      job.clear();
    }
    for (const name of names) job.add(name);
    if (!job.learnt) this.#tell(job);
    if (isFirst && errors.length > 0) this.#finishStrangers(job, new Set(names), errors);
  }

  /** Rule 4: a job for any worker was lost with its worker, and is another one's now. */
  #isMove({ order, members, done }: JobRequest<Ticket>, [name = '', ...others]: readonly string[]): boolean {
    return order.target === 'any' && others.length === 0 && !members.has(name) && !done.has(name);
  }

  /** Rule 3: those of a list that the broker knows nothing of. */
  #finishStrangers(job: JobRequest<Ticket>, served: ReadonlySet<string>, errors: readonly string[]): void {
    const target = parseNfpTarget(job.order.target);
    if (target?.kind !== 'names') return;
    for (const name of target.names) {
      const own = errors.filter((error) => error.startsWith(`${name}: `));
      if (served.has(name) || own.length === 0) continue;
      this.#finish(job, name, { status: 400, value: { worker: name, status: 'FAILED', errors: own }, body: [] });
    }
  }

  #tell(job: JobRequest<Ticket>): void {
    const workers = [...job.members.entries()].filter(([, { accepted }]) => accepted || !job.learnt);
    this.#output.push({ kind: 'dispatched', ticket: job.order.ticket, workers: workers.map(([name]) => name) });
  }

  /** The member of that name. A job for any worker is whose who says to have it. */
  #memberOf(job: JobRequest<Ticket>, worker: string): WorkerProgress | undefined {
    const member = job.members.get(worker);
    if (member !== undefined || job.phase === 'posting' || job.done.has(worker)) return member;
    if (job.phase !== 'probing' && job.order.target !== 'any') return undefined;
    if (job.order.target === 'any') job.clear();
    return job.add(worker);
  }

  #onKnown(job: JobRequest<Ticket>, worker: string, waiting: unknown): void {
    const member = this.#memberOf(job, worker);
    if (member === undefined) return;
    const isNews = !member.accepted;
    const wasProbing = job.phase === 'probing';
    job.known = member.accepted = true;
    job.note(member, undefined);
    if (wasProbing) job.phase = 'running';
    if (isNews && wasProbing) this.#tell(job);
    if (isNews) this.#output.push({ kind: 'taken', ticket: job.order.ticket, worker });
    const request = isRecord(waiting) ? waiting['input_request'] : undefined;
    const id = isRecord(request) ? request['id'] : undefined;
    if (typeof id !== 'string' || member.input === id) return;
    member.input = id;
    this.#output.push({ kind: 'input', ticket: job.order.ticket, worker, id, request });
  }

  #onLastWord(job: JobRequest<Ticket>, worker: string, word: Word, now: number): void {
    if (this.#memberOf(job, worker) === undefined) {
      this.#output.counts.lateAnswers++;
      return;
    }
    job.known = true;
    job.phase = 'running';
    this.#finish(job, worker, word);
    this.#settle(job, now);
  }

  #finish(job: JobRequest<Ticket>, worker: string, word: Word): void {
    job.remove(worker);
    job.done.add(worker);
    if (job.told.has(worker)) return;
    this.#output.counts.results++;
    this.#output.push({ kind: 'result', ticket: job.order.ticket, worker, ...word });
  }

  /** 404: gone, if the worker had it; else it never came, or was meant for others. What was for anybody is posted again. */
  #onMissing(job: JobRequest<Ticket>, worker: string, word: Word, now: number): void {
    const member = job.members.get(worker);
    if (member === undefined || job.phase === 'posting') return;
    const hasForgotten = member.accepted;
    if (!hasForgotten && now < job.doubtUntil) return;
    if (hasForgotten && job.order.target !== 'any') {
      this.#finish(job, worker, word);
      this.#settle(job, now);
      return;
    }
    // A job for anybody may be done by another; #settle posts it again.
    if (hasForgotten) job.known = false;
    // Who was too busy for it was asked before it was offered the job again: it has not missed it.
    job.note(member, member.busy && !hasForgotten ? 'refused' : 'missing');
    this.#settle(job, now);
  }

  /** Rule 4: a job that none of its workers knows is posted again, and one that some know to the others, if they are all meant. */
  #settle(job: JobRequest<Ticket>, now: number): void {
    if (job.known && job.order.target !== 'any') this.#offerAgain(job);
    if (job.missing < job.members.size) return;
    if (!job.known && job.reposts < REPOSTS_MAX) {
      job.reposts++;
      this.#output.counts.reposts++;
      this.#output.note({ code: 'job-reposted', uuid: job.order.uuid });
      this.#calls.post(job, now);
      return;
    }
    for (const name of [...job.members.keys()]) {
      if (job.learnt && job.known) job.remove(name);
      else this.#finish(job, name, GONE);
    }
    this.#conclude(job);
  }

  /** A broadcast that a lost connection or broker has cut short reaches the rest of those it is for at the next turn, three times at most. */
  #offerAgain(job: JobRequest<Ticket>): void {
    let isNews = false;
    for (const member of job.members.values()) {
      if (member.said !== 'missing' || member.offers >= REPOSTS_MAX) continue;
      member.offers++;
      job.note(member, 'refused');
      isNews = true;
    }
    if (!isNews) return;
    this.#output.counts.reposts++;
    this.#output.note({ code: 'job-reposted', uuid: job.order.uuid });
  }

  #conclude(job: JobRequest<Ticket>): void {
    this.#orders.strike(job);
    this.#output.push({ kind: 'ended', ticket: job.order.ticket });
  }
}
