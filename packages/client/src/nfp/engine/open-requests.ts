/** NFP client: all open jobs and questions, within the limits on them; when each ends, and which job is asked about next. */
import { DeadlineHeap, DeadlineList } from '@proj/heartbeat';
import type { JobRequest, Question } from './requests.js';
import type { Output } from './output.js';
import type { NfpClientFailure, NfpClientSessionOptions } from './events.js';

/** The books. But for {@link failAll}, the cost does not depend on how many are open. */
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

  /** Bytes in their bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  /** When the time of an order is over. */
  get nextEnd(): number {
    return this.#ends.deadline;
  }

  /** When a job is to be asked about. */
  get nextPoll(): number {
    return this.#polls.deadline;
  }

  /** Takes the order in, or fails it: `BUSY`, `QUEUE_FULL`, `CLOSED`. */
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

  /** The order is over. */
  strike(order: JobRequest<Ticket> | Question<Ticket>): void {
    this.#ends.remove(order.end);
    this.#bytes -= order.bytes;
    if (order.kind === 'question') this.#questions.delete(order.order.call.uuid);
    else {
      this.#jobs.delete(order.order.uuid);
      this.#polls.remove(order.poll);
    }
  }

  /** The order is over, and has no good outcome. */
  fail(
    order: JobRequest<Ticket> | Question<Ticket>,
    code: NfpClientFailure,
    errors: readonly string[] = [],
    cause?: unknown,
  ): void {
    this.strike(order);
    this.#output.fail(order.order.ticket, code, errors, cause);
  }

  /** All orders are over. */
  failAll(code: NfpClientFailure, cause?: unknown): void {
    for (const order of [...this.#jobs.values(), ...this.#questions.values()]) this.fail(order, code, [], cause);
  }

  /** Nothing is admitted any more, and what is open has failed. */
  close(): void {
    this.#closed = true;
    this.failAll('CLOSED');
  }

  /** The job was posted or asked about: the next time is one interval later. */
  polled(job: JobRequest<Ticket>, now: number): void {
    this.#polls.renew(job.poll, now);
  }

  /** There is nobody to ask about the job. */
  unpolled(job: JobRequest<Ticket>): void {
    this.#polls.remove(job.poll);
  }

  /** An order whose time is over; the taker ends it. */
  takeEnded(now: number): JobRequest<Ticket> | Question<Ticket> | undefined {
    return this.#ends.takeDue(now);
  }

  /** A job that is to be asked about. */
  takePoll(now: number): JobRequest<Ticket> | undefined {
    return this.#polls.takeDue(now);
  }

  /** Throws unless the books agree. `ready`: calls can be sent, so that every job is asked about. */
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
