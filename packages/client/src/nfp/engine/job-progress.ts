/** NFP client: the progress of a job's workers, when it is posted again, when it ends. Client rules 3 and 4 of docs/protocols/nfp.md. */
import { isRecord } from './answers.js';
import type { CallTracker } from './call-tracker.js';
import { LEGALITY } from './legality.js';
import { GONE, LATE, UNEXPECTED } from './output.js';
import type { Output, Word } from './output.js';
import type { JobRequest, OpenRequests, WorkerProgress } from './state.js';

/** Limit of POSTs of one job on one connection after no worker knew it any more, and to one worker that did not know what others did. */
const REPOSTS_MAX = 3;

/** Records workers' words about a job, forwards them, and ends the job. */
export class JobProgress<Ticket> {
  readonly #orders: OpenRequests<Ticket>;
  readonly #calls: CallTracker<Ticket>;
  readonly #out: Output<Ticket>;

  constructor(orders: OpenRequests<Ticket>, calls: CallTracker<Ticket>, out: Output<Ticket>) {
    this.#orders = orders;
    this.#calls = calls;
    this.#out = out;
  }

  /** These workers have it, or are said to. */
  tell(job: JobRequest<Ticket>): void {
    const workers = [...job.members.entries()].filter(([, { accepted }]) => accepted || !job.learnt);
    this.#out.effects.push({ kind: 'dispatched', ticket: job.order.ticket, workers: workers.map(([name]) => name) });
  }

  /** The worker has the job. `waiting`: its word while it waits for input. */
  accepted(job: JobRequest<Ticket>, worker: string, waiting: unknown): void {
    if (LEGALITY[job.phase].accepted[0] === 'ignore') return;
    const member = memberOf(job, worker);
    if (member === undefined) return;
    const isNews = !member.accepted;
    const wasProbing = job.phase === 'probing';
    job.known = member.accepted = true;
    job.note(member, undefined);
    if (wasProbing) job.phase = 'running';
    if (isNews && wasProbing) this.tell(job);
    if (isNews) this.#out.effects.push({ kind: 'taken', ticket: job.order.ticket, worker });
    const request = isRecord(waiting) ? waiting['input_request'] : undefined;
    const id = isRecord(request) ? request['id'] : undefined;
    if (typeof id !== 'string' || member.input === id) return;
    member.input = id;
    this.#out.effects.push({ kind: 'input', ticket: job.order.ticket, worker, id, request });
  }

  /** The worker has said its last word. */
  lastWord(job: JobRequest<Ticket>, worker: string, word: Word, now: number): void {
    if (LEGALITY[job.phase]['last word'][0] === 'late' || memberOf(job, worker) === undefined) {
      this.#out.counters.lateAnswers++;
      return;
    }
    job.known = true;
    job.phase = 'running';
    this.finish(job, worker, word);
    this.#settle(job, now);
  }

  /**
   * The worker says 404: the job is gone if it had it; otherwise it never arrived, or was for others. A job for any worker is posted again. `doubtful`: it may
   * not know of the last POST yet.
   */
  missing(job: JobRequest<Ticket>, worker: string, word: Word, doubtful: boolean, now: number): void {
    const member = job.members.get(worker);
    if (member === undefined || LEGALITY[job.phase].missing[0] === 'ignore') return;
    const hasForgotten = member.accepted;
    if (!hasForgotten && doubtful) return;
    if (hasForgotten && job.order.target !== 'any') {
      this.finish(job, worker, word);
      this.#settle(job, now);
      return;
    }
    // Another worker may do a job for any; #settle posts it again.
    if (hasForgotten) job.known = false;
    // A worker that was too busy was asked before the job was offered again, so it has not missed it.
    job.note(member, member.busy && !hasForgotten ? 'refused' : 'missing');
    this.#settle(job, now);
  }

  /** Stops waiting for the worker. */
  finish(job: JobRequest<Ticket>, worker: string, word: Word): void {
    job.remove(worker);
    job.done.add(worker);
    if (job.told.has(worker)) return;
    this.#out.counters.results++;
    this.#out.effects.push({ kind: 'result', ticket: job.order.ticket, worker, ...word });
  }

  /** Rule 3: the job's time is over. Workers that have it and said nothing are 408; 417 after an unexpected answer. */
  timeout(job: JobRequest<Ticket>): void {
    if (LEGALITY[job.phase].timeout[0] === 'fail') {
      this.#orders.fail(job, job.unexpected ? 'UNEXPECTED_ANSWER' : 'TIMEOUT');
      return;
    }
    for (const [name, { accepted }] of [...job.members.entries()])
      if (accepted || !job.learnt) this.finish(job, name, job.unexpected ? UNEXPECTED : LATE);
    this.#conclude(job);
  }

  /** Rule 4: a job unknown to all its workers is posted again; one that some know, to the others, if it is for all. */
  #settle(job: JobRequest<Ticket>, now: number): void {
    if (job.known && job.order.target !== 'any') this.#offerAgain(job);
    if (job.missing < job.members.size) return;
    if (!job.known && job.reposts < REPOSTS_MAX) {
      job.reposts++;
      this.#countRepost(job);
      this.#calls.post(job, now);
      return;
    }
    // A job for any worker has one result. Others were named by a late 202, the answer to a GET for all.
    const isDone = job.order.target === 'any' && job.done.size > 0;
    for (const name of [...job.members.keys()]) {
      if (isDone || (job.learnt && job.known)) job.remove(name);
      else this.finish(job, name, GONE);
    }
    this.#conclude(job);
  }

  /** A broadcast cut short by a lost connection or broker reaches its other workers at the next turn, at most three times. */
  #offerAgain(job: JobRequest<Ticket>): void {
    let isOffered = false;
    for (const member of job.members.values()) {
      if (member.said !== 'missing' || member.offers >= REPOSTS_MAX) continue;
      member.offers++;
      job.note(member, 'refused');
      isOffered = true;
    }
    if (isOffered) this.#countRepost(job);
  }

  #countRepost(job: JobRequest<Ticket>): void {
    this.#out.counters.reposts++;
    this.#out.report({ code: 'job-reposted', uuid: job.order.uuid });
  }

  #conclude(job: JobRequest<Ticket>): void {
    this.#orders.strike(job);
    this.#out.effects.push({ kind: 'ended', ticket: job.order.ticket });
  }
}

/** The member of that name. A job for any worker belongs to the one that claims it. */
function memberOf<Ticket>(job: JobRequest<Ticket>, worker: string): WorkerProgress | undefined {
  const member = job.members.get(worker);
  if (member !== undefined || job.done.has(worker)) return member;
  if (job.phase !== 'probing' && job.order.target !== 'any') return undefined;
  if (job.order.target === 'any') job.clear();
  return job.add(worker);
}
