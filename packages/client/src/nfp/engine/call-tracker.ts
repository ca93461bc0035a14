/** NFP client: what is asked of the broker and of workers, and when again. Client rules 1, 2 and 5 of docs/protocols/nfp.md. */
import type { NfpCall, NfpClientCall } from '@proj/frames/nfp';
import type { BrokerConnection } from './broker-connection.js';
import type { OpenRequests } from './open-requests.js';
import { targetOf } from './requests.js';
import type { JobRequest, Question } from './requests.js';
import type { Output } from './output.js';
import type { NfpClientSessionOptions } from './events.js';

/** How often the time doubles for which 404 is doubted. */
const DOUBLINGS_MAX = 4;

/** Puts calls on the connection there is. */
export class CallTracker<Ticket> {
  readonly #options: NfpClientSessionOptions;
  readonly #link: BrokerConnection;
  readonly #orders: OpenRequests<Ticket>;
  readonly #output: Output<Ticket>;

  constructor(
    options: NfpClientSessionOptions,
    link: BrokerConnection,
    orders: OpenRequests<Ticket>,
    output: Output<Ticket>,
  ) {
    this.#options = options;
    this.#link = link;
    this.#orders = orders;
    this.#output = output;
  }

  /** Sends what a job needs first on this connection. */
  begin(job: JobRequest<Ticket>, now: number): void {
    if (job.phase === 'posting' && !job.sent) this.post(job, now);
    else this.poll(job, now);
  }

  /** Offers the job to whom it is for, whoever was thought to have it. */
  post(job: JobRequest<Ticket>, now: number): void {
    const { target, body } = job.order;
    if (job.sent) this.#doubt(job, now);
    job.phase = 'posting';
    job.sent = true;
    job.clear();
    this.#output.counts.posts++;
    this.#call(job, 'post', target, body, now);
    this.#orders.polled(job, now);
  }

  /** Rule 2: asks those whose last word is awaited, and offers the job again to those that were too busy for it. */
  poll(job: JobRequest<Ticket>, now: number): void {
    this.#orders.polled(job, now);
    if (job.asking) {
      // One turn is left out, so that questions do not pile up at a slow broker.
      job.asking = false;
      return;
    }
    if (job.phase === 'posting' && !job.sent) {
      this.post(job, now);
      return;
    }
    const { target, body, question } = job.order;
    const ask: string[] = [];
    for (const [name, member] of job.members) {
      if (member.said !== 'refused') ask.push(name);
      else {
        job.note(member, undefined);
        job.offered = target === 'any';
        this.#doubt(job, now);
        this.#output.counts.posts++;
        // By its name what is for any worker would be this one's, and lost with it.
        this.#call(job, 'post', target === 'any' ? target : targetOf([name]), body, now);
      }
    }
    if (ask.length === 0 && job.members.size > 0) return;
    // A broker that says nothing to a POST may keep it for a worker that is to come: it says so to who asks.
    const isUnplaced = job.phase === 'probing' || job.phase === 'posting';
    const unknown = isUnplaced && target === 'any' ? 'all' : target;
    this.#output.counts.polls++;
    job.asking = true;
    this.#call(job, 'get', ask.length > 0 ? targetOf(ask) : unknown, question, now);
  }

  /** Rule 2: asks one worker that has news. Asking all of them would cost their square by the time the last one is done. */
  fetch(job: JobRequest<Ticket>, worker: string, now: number): void {
    this.#output.counts.polls++;
    this.#call(job, 'get', targetOf([worker]), job.order.question, now);
  }

  /** Rule 5: what is given up is deleted where it may be. */
  delete(job: JobRequest<Ticket>, now: number): void {
    if (!job.sent || !this.#link.ready) return;
    const names = [...job.members.keys()];
    const anywhere = job.order.target === 'any' ? 'all' : job.order.target;
    this.#call(job, 'delete', names.length > 0 ? targetOf(names) : anywhere, job.order.question, now);
  }

  /** Sends something to a worker that has the job. */
  put(job: JobRequest<Ticket>, worker: string, body: NfpClientCall['body'], now: number): void {
    this.#call(job, 'put', targetOf([worker]), body, now);
  }

  /** Asks a question, on this connection for the first time. */
  ask(question: Question<Ticket>, now: number): void {
    question.sent = true;
    question.awaited = undefined;
    this.#send({ kind: 'client-call', form: this.#options.commandForm, ...question.order.call }, now);
  }

  /** Rule 4: nothing in an answer says which question it is to. Each time is twice as long as the one before. */
  #doubt(job: JobRequest<Ticket>, now: number): void {
    job.doubtUntil = now + this.#options.pollIntervalMs * 2 ** Math.min(++job.repeats, DOUBLINGS_MAX);
  }

  #call(job: JobRequest<Ticket>, command: NfpCall, target: string, body: NfpClientCall['body'], now: number): void {
    const { service, uuid } = job.order;
    this.#send({ kind: 'client-call', form: this.#options.commandForm, command, service, target, uuid, body }, now);
  }

  #send(command: NfpClientCall, now: number): void {
    const { socket } = this.#link;
    if (socket === undefined) return;
    this.#output.push({ kind: 'send', socket, command });
    const { command: name, form } = command;
    if (name !== 'put') this.#link.owed(form === 'byte' && (name === 'get' || name === 'delete'), now);
  }
}
