/** NFP client: the engine's state of each open job and question, within its limits. */
import { totalBytes } from '@proj/frames';
import { Deadline, DeadlineHeap, DeadlineList, HeapDeadline } from '@proj/heartbeat';
import type { NfpClientFailure, NfpClientSessionOptions, NfpJobOrder, NfpQuestion, NfpReply } from './events.js';
import type { NfpJobPhase } from './legality.js';
import { OldAnswers } from './old-answers.js';
import type { Output } from './output.js';

/** One worker's progress with a job. */
export interface WorkerProgress {
  /** It has said that it knows the job. */
  accepted: boolean;
  /** `refused`: it was too busy and gets the job again. `missing`: it does not know the job. */
  said: 'refused' | 'missing' | undefined;
  /** It was too busy once. */
  busy: boolean;
  /** The last input it requested. */
  input: string | undefined;
  /** Times the job was offered again on this connection because it had not arrived. */
  offers: number;
}

/** A job without an outcome. */
export class JobRequest<Ticket> {
  readonly kind = 'job';
  readonly order: NfpJobOrder<Ticket>;
  readonly bytes: number;
  readonly end: HeapDeadline<JobRequest<Ticket> | Question<Ticket>> = new HeapDeadline(this);
  readonly poll = new Deadline<JobRequest<Ticket>>(this);
  phase: NfpJobPhase;
  /** Workers whose last word is awaited, by name. Empty while unknown. */
  readonly members = new Map<string, WorkerProgress>();
  /** The transport has taken it at least once. */
  sent = false;
  /** A worker has said that it knows the job. */
  known = false;
  /** Workers whose last word an earlier process had: it may arrive again, and does not count. */
  readonly told: ReadonlySet<string>;
  /** Workers whose last word has arrived: later words do not count. */
  readonly done = new Set<string>();
  /** Workers were found by asking everybody: those that do not know the job were never meant. */
  learnt = false;
  /** Number of members that do not know it. */
  missing = 0;
  /** A GET had no answer at all. */
  asking = false;
  /** Turns without a question since then, and how many there may be. */
  skipped = 0;
  patience = 1;
  /** An unexpected answer arrived. */
  unexpected = false;
  /** Times it was posted again on this connection because no worker knew it. */
  reposts = 0;
  oldAnswers = new OldAnswers();
  /** Times it was posted again to any of them. */
  repeats = 0;
  /** Until then a worker may still say 404 although the job was posted again. */
  doubtUntil = -Infinity;
  /** It is for any worker, its worker was too busy, and the broker has not yet said which one gets it instead. */
  offered = false;

  constructor(order: NfpJobOrder<Ticket>) {
    this.order = order;
    this.bytes = totalBytes(order.body) + totalBytes(order.question);
    this.phase = order.resumed ? 'probing' : 'posting';
    this.sent = order.resumed;
    this.told = new Set(order.told);
    for (const name of order.workers) this.add(name);
  }

  /** Adds a worker whose last word is awaited. */
  add(name: string): WorkerProgress {
    const known = this.members.get(name);
    if (known !== undefined) return known;
    const member: WorkerProgress = { accepted: false, said: undefined, busy: false, input: undefined, offers: 0 };
    this.members.set(name, member);
    return member;
  }

  /** Records a member's last word. */
  note(member: WorkerProgress, said: WorkerProgress['said']): void {
    if (member.said === 'missing') this.missing--;
    if (said === 'missing') this.missing++;
    member.said = said;
  }

  /** Stops waiting for this worker. */
  remove(name: string): void {
    const member = this.members.get(name);
    if (member === undefined) return;
    this.note(member, undefined);
    this.members.delete(name);
  }

  /** What was sent on the last connection is lost, or was answered there. */
  disconnected(): void {
    this.asking = false;
    this.reposts = this.repeats = 0;
    this.doubtUntil = -Infinity;
    this.oldAnswers = new OldAnswers();
    for (const member of this.members.values()) member.offers = 0;
  }

  /** Forgets its workers. */
  clear(): void {
    this.members.clear();
    this.missing = 0;
    this.learnt = false;
  }

  /** The worker whose last word is awaited, if there is exactly one. */
  get onlyMember(): string | undefined {
    return this.members.size === 1 ? this.members.keys().next().value : undefined;
  }
}

/** A question without an outcome. */
export class Question<Ticket> {
  readonly kind = 'question';
  readonly order: NfpQuestion<Ticket>;
  readonly bytes: number;
  readonly end: HeapDeadline<JobRequest<Ticket> | Question<Ticket>> = new HeapDeadline(this);
  sent = false;
  /** Workers whose answer is awaited; `undefined` until the broker has named them. */
  awaited: Set<string> | undefined;
  /** Number of awaited answers. */
  missing = 0;
  readonly replies: NfpReply[] = [];

  constructor(order: NfpQuestion<Ticket>) {
    this.order = order;
    this.bytes = totalBytes(order.call.body);
  }
}

/** All open jobs and questions, within their limits. Each call costs O(log open), except for {@link OpenRequests.failAll}. */
export class OpenRequests<Ticket> {
  readonly #options: NfpClientSessionOptions;
  readonly #output: Output<Ticket>;
  readonly #jobs = new Map<string, JobRequest<Ticket>>();
  readonly #questions = new Map<string, Question<Ticket>>();
  readonly #ends = new DeadlineHeap<JobRequest<Ticket> | Question<Ticket>>();
  readonly #polls: DeadlineList<JobRequest<Ticket>>;
  #bytes = 0;
  #closed = false;

  constructor(options: NfpClientSessionOptions, output: Output<Ticket>) {
    this.#options = options;
    this.#output = output;
    this.#polls = new DeadlineList(options.pollIntervalMs);
  }

  /** Jobs by uuid. */
  get jobs(): ReadonlyMap<string, JobRequest<Ticket>> {
    return this.#jobs;
  }

  /** Questions by the uuid of their call. */
  get questions(): ReadonlyMap<string, Question<Ticket>> {
    return this.#questions;
  }

  get size(): number {
    return this.#ends.size;
  }

  /** Bytes of their bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  /** When the time of the next order is over. */
  get nextEnd(): number {
    return this.#ends.deadline;
  }

  /** When the next job must be polled. */
  get nextPoll(): number {
    return this.#polls.deadline;
  }

  /** Adds the order, or fails it with `BUSY`, `QUEUE_FULL` or `CLOSED`. */
  admit(order: JobRequest<Ticket> | Question<Ticket>, now: number): boolean {
    const refusal = this.#refusalOf(order);
    if (refusal !== undefined) {
      this.#output.fail(order.order.ticket, refusal);
      return false;
    }
    if (order.kind === 'job') this.#jobs.set(order.order.uuid, order);
    else this.#questions.set(order.order.call.uuid, order);
    this.#bytes += order.bytes;
    this.#ends.set(order.end, now + order.order.timeoutMs);
    return true;
  }

  /** The order has ended. */
  strike(order: JobRequest<Ticket> | Question<Ticket>): void {
    this.#ends.remove(order.end);
    this.#bytes -= order.bytes;
    if (order.kind === 'question') this.#questions.delete(order.order.call.uuid);
    else {
      this.#jobs.delete(order.order.uuid);
      this.#polls.remove(order.poll);
    }
  }

  /** The order has failed. */
  fail(
    order: JobRequest<Ticket> | Question<Ticket>,
    code: NfpClientFailure,
    errors: readonly string[] = [],
    cause?: unknown,
  ): void {
    this.strike(order);
    this.#output.fail(order.order.ticket, code, errors, cause);
  }

  /** All orders have ended. */
  failAll(code: NfpClientFailure, cause?: unknown): void {
    for (const order of [...this.#jobs.values(), ...this.#questions.values()]) this.fail(order, code, [], cause);
  }

  /** Fails what is open, and everything later. */
  close(): void {
    this.#closed = true;
    this.failAll('CLOSED');
  }

  /** The job was posted or polled: it is polled again after one interval. */
  polled(job: JobRequest<Ticket>, now: number): void {
    this.#polls.renew(job.poll, now);
  }

  /** There is nobody to ask about the job. */
  unpolled(job: JobRequest<Ticket>): void {
    this.#polls.remove(job.poll);
  }

  /** An order whose time is over. The caller ends it. */
  takeEnded(now: number): JobRequest<Ticket> | Question<Ticket> | undefined {
    return this.#ends.takeDue(now);
  }

  /** A job that must be polled. */
  takePoll(now: number): JobRequest<Ticket> | undefined {
    return this.#polls.takeDue(now);
  }

  /** `ready`: calls can be sent, so every job must be polled. */
  assertInvariants(ready: boolean): void {
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
    if (ready && this.#polls.size !== this.#jobs.size) throw new Error('an open job is not asked about');
    for (const job of this.#jobs.values())
      if (job.phase === 'running' && job.members.size === 0) throw new Error('a job runs nowhere');
  }

  #refusalOf(order: JobRequest<Ticket> | Question<Ticket>): NfpClientFailure | undefined {
    const { openMax, openMaxBytes } = this.#options;
    const isBusy = order.kind === 'job' ? this.#jobs.has(order.order.uuid) : this.#questions.has(order.order.call.uuid);
    if (isBusy) return 'BUSY';
    if (this.#closed) return 'CLOSED';
    return this.size >= openMax || this.#bytes + order.bytes > openMaxBytes ? 'QUEUE_FULL' : undefined;
  }
}
