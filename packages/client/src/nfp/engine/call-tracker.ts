/** NFP client: calls to the broker and to workers, and when to repeat them. Client rules 1, 2 and 5 of docs/protocols/nfp.md. */
import type { NfpCall, NfpClientCall } from '@proj/frames/nfp';
import type { BrokerConnection } from './broker-connection.js';
import type { JobRequest, OpenRequests, Question } from './state.js';
import type { Output } from './output.js';
import type { NfpClientSessionOptions } from './events.js';

/** How often the time during which 404 is not believed doubles. */
const DOUBLINGS_MAX = 4;
/** Questions without an answer are repeated at least this often, or every second turn. */
const PATIENCE_MAX_MS = 4000;

/** Sends calls over the current connection. */
export class CallTracker<Ticket> {
  readonly #options: NfpClientSessionOptions;
  readonly #link: BrokerConnection;
  readonly #orders: OpenRequests<Ticket>;
  readonly #out: Output<Ticket>;
  /** The most turns that are skipped while a question has no answer. */
  readonly #patienceMax: number;

  constructor(
    options: NfpClientSessionOptions,
    link: BrokerConnection,
    orders: OpenRequests<Ticket>,
    out: Output<Ticket>,
  ) {
    this.#options = options;
    this.#link = link;
    this.#orders = orders;
    this.#out = out;
    this.#patienceMax = Math.max(1, Math.floor(PATIENCE_MAX_MS / options.pollIntervalMs));
  }

  /** Sends a job's first call on this connection. */
  begin(job: JobRequest<Ticket>, now: number): void {
    if (job.phase === 'posting' && !job.sent) this.post(job, now);
    else this.poll(job, now);
  }

  /** Posts the job to its target, whichever workers seemed to have it. */
  post(job: JobRequest<Ticket>, now: number): void {
    const { target, body } = job.order;
    if (job.sent) this.#doubt(job, now);
    job.phase = 'posting';
    job.sent = true;
    job.clear();
    this.#out.counters.posts++;
    this.#call(job, 'post', target, body, now);
    this.#orders.polled(job, now);
  }

  /** Rule 2: asks the workers whose last word is awaited, and offers the job again to those that were too busy. */
  poll(job: JobRequest<Ticket>, now: number): void {
    this.#orders.polled(job, now);
    // Questions must not pile up at a slow broker, or they would make it slower.
    if (job.asking && job.skipped++ < job.patience) return;
    job.patience = job.asking ? Math.min(2 * job.patience, this.#patienceMax) : 1;
    job.asking = false;
    job.skipped = 0;
    if (job.phase === 'posting' && !job.sent) {
      this.post(job, now);
      return;
    }
    const { target, body } = job.order;
    const ask: string[] = [];
    for (const [name, member] of job.members) {
      if (member.said !== 'refused') ask.push(name);
      else {
        job.note(member, undefined);
        job.offered = target === 'any';
        this.#doubt(job, now);
        this.#out.counters.posts++;
        // If posted by name, a job for any worker would belong to this one only, and be lost with it.
        this.#call(job, 'post', target === 'any' ? target : targetOf([name]), body, now);
      }
    }
    if (ask.length === 0 && job.members.size > 0) return;
    // A broker that does not answer a POST may keep it for a later worker; GET reveals it.
    const isUnplaced = job.phase === 'probing' || job.phase === 'posting';
    const unknown = isUnplaced && target === 'any' ? 'all' : target;
    job.asking = true;
    this.#get(job, ask.length > 0 ? targetOf(ask) : unknown, now);
  }

  /** Rule 2: asks only the worker with news. Asking all each time would be quadratic. */
  fetch(job: JobRequest<Ticket>, worker: string, now: number): void {
    this.#get(job, targetOf([worker]), now);
  }

  /** Rule 5: deletes an aborted job wherever it may be. */
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

  /** Sends a question for the first time on this connection. */
  ask(question: Question<Ticket>, now: number): void {
    question.sent = true;
    question.awaited = undefined;
    this.#send({ kind: 'client-call', form: this.#options.commandForm, ...question.order.call }, now);
  }

  #get(job: JobRequest<Ticket>, target: string, now: number): void {
    this.#out.counters.polls++;
    job.oldAnswers.asked();
    this.#call(job, 'get', target, job.order.question, now);
  }

  /** Rule 4: 404 is not believed if it may answer an older question than this POST, nor for a time that doubles with each repeat. */
  #doubt(job: JobRequest<Ticket>, now: number): void {
    job.oldAnswers.posted();
    job.doubtUntil = now + this.#options.pollIntervalMs * 2 ** Math.min(++job.repeats, DOUBLINGS_MAX);
  }

  #call(job: JobRequest<Ticket>, command: NfpCall, target: string, body: NfpClientCall['body'], now: number): void {
    const { service, uuid } = job.order;
    this.#send({ kind: 'client-call', form: this.#options.commandForm, command, service, target, uuid, body }, now);
  }

  #send(command: NfpClientCall, now: number): void {
    const { socket } = this.#link;
    if (socket === undefined) return;
    this.#out.effects.push({ kind: 'send', socket, command });
    const { command: name, form } = command;
    if (name !== 'put') this.#link.owed(form === 'byte' && (name === 'get' || name === 'delete'), now);
  }
}

/** Limit of workers that a GET names; beyond that it goes to all, and other workers' answers are ignored. */
const NAMES_MAX = 1000;
/** Longest target, in characters, with room to spare. */
const TARGET_MAX_CHARS = 16_000;

/** The target for these workers. */
function targetOf(names: readonly string[]): string {
  if (names.length > NAMES_MAX) return 'all';
  const target = JSON.stringify(names);
  return target.length > TARGET_MAX_CHARS ? 'all' : target;
}
