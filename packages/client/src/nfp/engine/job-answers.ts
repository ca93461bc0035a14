/** NFP client: interprets answers about a job, and which workers the broker says have it. Client rules 3 and 4 of docs/protocols/nfp.md. */
import { parseNfpTarget } from '@proj/frames/nfp';
import type { NfpClientAnswer, NfpDispatch } from '@proj/frames/nfp';
import { errorsOf, isRecord, isTurn, readJson, statusOf, statusWithin } from './answers.js';
import type { NfpSaid } from './answers.js';
import type { BrokerConnection } from './broker-connection.js';
import type { CallTracker } from './call-tracker.js';
import type { JobProgress } from './job-progress.js';
import { eventOfDispatch, LEGALITY } from './legality.js';
import type { Output, Word } from './output.js';
import type { JobRequest, OpenRequests } from './state.js';

const OK = 200;

/** Reads answers, events and streams of jobs. {@link JobProgress} decides what a worker's word means. */
export class JobAnswers<Ticket> {
  readonly #link: BrokerConnection;
  readonly #orders: OpenRequests<Ticket>;
  readonly #calls: CallTracker<Ticket>;
  readonly #progress: JobProgress<Ticket>;
  readonly #out: Output<Ticket>;
  readonly #joins: boolean;

  /** `joins`: brokers combine the workers' answers to a GET into one, without a 202 that says whose they are. */
  constructor(
    link: BrokerConnection,
    orders: OpenRequests<Ticket>,
    calls: CallTracker<Ticket>,
    progress: JobProgress<Ticket>,
    out: Output<Ticket>,
    joins: boolean,
  ) {
    this.#link = link;
    this.#orders = orders;
    this.#calls = calls;
    this.#progress = progress;
    this.#out = out;
    this.#joins = joins;
  }

  /** An event or stream chunk of a job. After some events there may be a result to fetch. */
  news(job: JobRequest<Ticket>, { command, body }: NfpClientAnswer, now: number): void {
    const { ticket } = job.order;
    if (command === 'stream') {
      this.#out.counters.streams++;
      this.#out.effects.push({ kind: 'stream', ticket, body });
      return;
    }
    this.#out.counters.events++;
    const value = readJson(body);
    this.#out.effects.push({ kind: 'event', ticket, body, value });
    if (job.phase === 'posting' || !isTurn(value)) return;
    const worker = isRecord(value) ? value['worker'] : undefined;
    if (typeof worker !== 'string') {
      job.asking = false;
      this.#calls.poll(job, now);
    } else if (!job.done.has(worker)) this.#calls.fetch(job, worker, now);
  }

  /** An answer about a job, from the broker or a worker. */
  answer(job: JobRequest<Ticket>, { status: told, body }: NfpClientAnswer, said: NfpSaid, now: number): void {
    job.asking = false;
    if (said.by === 'broker') {
      this.#onDispatch(job, said.dispatch, now);
      return;
    }
    const status = said.by === 'worker' ? statusOf(told, said.value) : told;
    const rulings = LEGALITY[job.phase];
    if (status === 400 && rulings.no[0] === 'fail') {
      this.#orders.fail(job, 'REJECTED', errorsOf(said, body));
      return;
    }
    if (said.by === 'nobody' && rulings['no answer'][0] === 'fail') {
      // A POST is answered by the broker, or rejected in words of any form.
      if (status < 400) this.#orders.fail(job, 'UNEXPECTED_ANSWER', errorsOf(said, body));
      return;
    }
    if (said.by === 'results' && (status === OK || this.#joins)) {
      this.#onResults(job, said.value, body, now);
      return;
    }
    const worker = said.by === 'worker' ? said.worker : job.onlyMember;
    if (worker === undefined) {
      job.unexpected = true;
      this.#out.drop('answer', this.#link.endpoint);
      return;
    }
    this.#learn(job, [worker]);
    this.#onWord(job, worker, said.by === 'worker', { status, value: said.value, body }, now);
  }

  /** Results by worker; in joined answers, also the words of workers without a result. */
  #onResults(
    job: JobRequest<Ticket>,
    values: Readonly<Record<string, unknown>>,
    body: Word['body'],
    now: number,
  ): void {
    this.#learn(job, Object.keys(values));
    for (const [worker, value] of Object.entries(values)) {
      const status = statusWithin(worker, value);
      if (status === undefined) this.#progress.lastWord(job, worker, { status: OK, value, body }, now);
      else this.#onWord(job, worker, true, { status, value, body }, now);
    }
  }

  /** Rule 4: the first answer to a GET without a 202 names all workers that were asked. */
  #learn(job: JobRequest<Ticket>, workers: readonly string[]): void {
    if (!this.#joins || job.phase !== 'probing' || job.members.size > 0) return;
    job.learnt = true;
    for (const worker of workers) job.add(worker);
  }

  /** Rule 3: a worker's word about the job; `signed` if it has its name. */
  #onWord(job: JobRequest<Ticket>, worker: string, signed: boolean, word: Word, now: number): void {
    const isOld = job.oldAnswers.isOld(worker, job.members.has(worker));
    switch (word.status) {
      case OK:
        // An answer to DELETE is signed; a result without a name is its only worker's.
        if (!signed) this.#progress.lastWord(job, worker, word, now);
        break;
      case 102:
      case 201:
      case 202:
      case 300:
        this.#progress.accepted(job, worker, word.status === 102 ? word.value : undefined);
        break;
      case 400:
        if (signed) this.#progress.lastWord(job, worker, word, now);
        break;
      case 404:
        this.#progress.missing(job, worker, word, isOld || now < job.doubtUntil, now);
        break;
      case 408:
        // The broker has given up the worker; in joined answers, it only says that the worker is away for now.
        if (signed && !this.#joins) this.#progress.lastWord(job, worker, word, now);
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
    if (status === 'DISPATCHED' && target === job.order.target) job.offered = false;
    if (status !== 'DISPATCHED' && job.phase !== 'posting') job.oldAnswers.unasked();
    switch (LEGALITY[job.phase][eventOfDispatch(dispatch, job.order.target)][0]) {
      case 'accept':
        if (status === 'PENDING') job.phase = 'queued';
        else this.#onWorkers(job, dispatch);
        break;
      case 'fail': {
        const cancelled = ['the job was cancelled before any worker had it'];
        this.#orders.fail(job, 'REJECTED', status === 'CANCELLED' ? cancelled : errors);
        break;
      }
      case 'probe':
        job.phase = 'probing';
        this.#orders.polled(job, now);
        break;
      case 'doubt':
        // Its workers are away for now, or as busy as the last one: it is offered again.
        if (job.phase === 'running' && job.offered)
          for (const member of job.members.values()) job.note(member, 'refused');
        else if (job.order.target === 'any') this.#orders.fail(job, 'REJECTED', errors);
        break;
      case 'ignore':
      case 'late':
      case 'read':
        break;
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
    if (!job.learnt) this.#progress.tell(job);
    if (isFirst && errors.length > 0) this.#finishStrangers(job, new Set(names), errors);
  }

  /** Rule 4: a job for any worker was lost with its worker, and now belongs to another. */
  #isMove({ order, members, done }: JobRequest<Ticket>, [name = '', ...others]: readonly string[]): boolean {
    return order.target === 'any' && others.length === 0 && !members.has(name) && !done.has(name);
  }

  /** Rule 3: ends the named workers that the broker does not know. */
  #finishStrangers(job: JobRequest<Ticket>, served: ReadonlySet<string>, errors: readonly string[]): void {
    const target = parseNfpTarget(job.order.target);
    if (target?.kind !== 'names') return;
    for (const name of target.names) {
      const own = errors.filter((error) => error.startsWith(`${name}: `));
      if (served.has(name) || own.length === 0) continue;
      const value = { worker: name, status: 'FAILED', errors: own };
      this.#progress.finish(job, name, { status: 400, value, body: [] });
    }
  }
}
