/**
 * 6/PPP as seen by whoever hands out work, be it a queue or a pool: who is registered, who is alive, what a message means.
 * Rules 1 to 3, 6 to 13, 16 and 20 of docs/protocols/ppp.md, section "Queue". What becomes of requests is `jobs.ts`.
 */
import { equalBytes } from '@proj/frames';
import type { PppAddressedReply, PppToQueue } from '@proj/frames/ppp';
import type { Access, Peer, RejectReason } from '@proj/transport';
import { Rights } from '../../shared/rights.js';
import { type BrokerState, newBrokerState } from './state.js';
import type { PppBackendEvent, PppMessageDrop, PppWorkerLoss } from './events.js';
import { Dispatcher } from './dispatcher.js';
import type { PppBackendSettings } from '../options.js';
import type { Output } from './output.js';
import type { Request, Requester } from './requests.js';
import { Worker } from './workers.js';

type WorkerCommand = Exclude<PppToQueue, { kind: 'malformed' }>;

/** What follows from a command, by what its sender is to us; a reason means that it is dropped and counted as such. */
interface Legality {
  readonly stranger: 'register' | 'unregistered';
  readonly idle: 'alive' | 'reply-unexpected';
  readonly busy: 'alive' | 'restart' | 'answer';
}

/** Rules 1, 6 and 9. Whatever a registered worker sends is also a sign of life (rule 10). */
const LEGALITY: Readonly<Record<WorkerCommand['kind'], Legality>> = {
  ready: { stranger: 'register', idle: 'alive', busy: 'restart' },
  heartbeat: { stranger: 'unregistered', idle: 'alive', busy: 'alive' },
  reply: { stranger: 'unregistered', idle: 'reply-unexpected', busy: 'answer' },
};

/** Rule 20: what rules of access call the work that queue and pool hand out; there is one kind of it. */
export const WORK = 'ppp';

/** The workers' side of an engine. */
export class Backend<Asked extends Request> {
  readonly books: BrokerState<Asked>;
  readonly jobs: Dispatcher<Asked>;
  /** Rule 20: who may serve, and ask for, {@link WORK}. */
  readonly rights = new Rights();
  readonly #settings: PppBackendSettings;
  readonly #out: Output<unknown>;
  #state: 'serving' | 'draining' | 'drained' = 'serving';
  #drainUntil = Infinity;

  constructor(settings: PppBackendSettings, out: Output<unknown>, requester: Requester<Asked>) {
    this.#settings = settings;
    this.#out = out;
    this.books = newBrokerState(settings);
    this.jobs = new Dispatcher(settings, this.books, out, requester);
  }

  get state(): 'serving' | 'draining' | 'drained' {
    return this.#state;
  }

  /** When something is due on this side; `drainUntil` included. */
  get deadline(): number {
    const { workers, jobs } = this.books;
    return Math.min(workers.deadline, jobs?.deadline ?? Infinity, this.#drainUntil);
  }

  /** When a drain ends at the latest. */
  get drainUntil(): number {
    return this.#drainUntil;
  }

  /** Takes a fact about a worker. */
  handle(event: PppBackendEvent): void {
    const { peer } = event;
    if ((event.kind === 'message' || event.kind === 'rejected') && this.rights.forbid(peer, 'serve', WORK)) {
      this.#out.dropMessage('not-allowed', 'backend', peer);
      return;
    }
    const worker = this.books.workers.find(peer);
    switch (event.kind) {
      case 'message':
        this.#onMessage(peer, worker, event.command);
        break;
      case 'rejected':
        this.#drop(peer, worker, dropReason(event.reason));
        break;
      case 'undeliverable':
        // Rule 12. It never got there, so it was no attempt: the request is not to blame for a worker that was gone already.
        if (event.command.kind === 'request' && worker?.request !== undefined) worker.request.attempts--;
        if (worker !== undefined) this.#lose(worker, event.reason);
        break;
      case 'peer-gone':
        if (worker !== undefined) this.#lose(worker, 'gone');
        break;
    }
  }

  /**
   * Rule 20: also for workers that are registered; requests that were taken stay taken. All who must go do so before the first
   * job is resent, or it would be given to one that goes next.
   */
  replaceRights(access: Access): void {
    this.rights.replace(access);
    const dismissed = [...this.books.workers.values()].filter(({ peer }) => !access.allows(peer, 'serve', WORK));
    for (const worker of dismissed) this.#forget(worker, 'not-allowed');
    this.jobs.recover(dismissed);
  }

  /** What is due: expiry, job time-outs, heartbeats. `lateMs` as in a timer event. */
  onTimer(lateMs: number): void {
    if (lateMs > this.#settings.heartbeatIntervalMs) this.#beLate(lateMs);
    this.#endOverdue();
    this.#sendHeartbeats();
    if (this.#out.now >= this.#drainUntil) this.#finish();
  }

  /** Rule 19: none that waits is started; what runs, resends included, may finish. */
  drain(): void {
    if (this.#state !== 'serving') return;
    this.#state = 'draining';
    this.#drainUntil = this.#out.now + this.#settings.drainMs;
    this.jobs.giveUpWaiting('drained');
  }

  /** Ends a step: a drain is over when nothing runs any more. */
  settle(): void {
    if (this.#state === 'draining' && this.jobs.open === 0) this.#finish();
  }

  #onMessage(peer: Peer, worker: Worker<Asked> | undefined, command: PppToQueue): void {
    if (command.kind === 'malformed') this.#drop(peer, worker, command.reason);
    else if (worker === undefined) this.#fromStranger(peer, command);
    else if (worker.request === undefined) this.#fromIdle(worker, command);
    else this.#fromBusy(worker, worker.request, command);
  }

  #fromStranger(peer: Peer, { kind }: WorkerCommand): void {
    const verdict = LEGALITY[kind].stranger;
    if (verdict !== 'register') this.#drop(peer, undefined, verdict);
    else if (this.books.workers.size >= this.#settings.workersMax) this.#drop(peer, undefined, 'workers-limit');
    else this.#register(peer);
  }

  #fromIdle(worker: Worker<Asked>, { kind }: WorkerCommand): void {
    const verdict = LEGALITY[kind].idle;
    if (verdict === 'alive') this.#heard(worker, kind === 'heartbeat');
    else this.#drop(worker.peer, worker, verdict);
  }

  #fromBusy(worker: Worker<Asked>, request: Asked, command: WorkerCommand): void {
    if (LEGALITY[command.kind].busy === 'restart') {
      this.#lose(worker, 'restarted');
      this.#register(worker.peer);
    } else if (command.kind === 'reply' && !isFor(request, command)) {
      this.#drop(worker.peer, worker, 'reply-address');
    } else {
      this.#heard(worker, command.kind === 'heartbeat');
      if (command.kind === 'reply') this.jobs.reply(worker, request, command);
    }
  }

  #register(peer: Peer): void {
    const { now } = this.#out;
    const worker = new Worker<Asked>(peer, now);
    this.books.workers.add(worker, now);
    this.#out.counters.workersReady++;
    this.#out.push({ kind: 'worker-ready', peer });
    this.jobs.free(worker);
  }

  /** Rules 1, 2 and 10: what is dropped is counted and never answered, but shows that its sender is alive. */
  #drop(peer: Peer, worker: Worker<Asked> | undefined, reason: PppMessageDrop): void {
    this.#out.dropMessage(reason, 'backend', peer);
    if (worker !== undefined) this.#heard(worker, false);
  }

  #heard(worker: Worker<Asked>, beat: boolean): void {
    const { workers } = this.books;
    const expiryMs = workers.expiryMs(worker);
    const silentMs = workers.heard(worker, this.#out.now, beat);
    if (silentMs === undefined) return;
    this.#out.push({ kind: 'note', code: 'spacing-hint', socket: 'backend', peer: worker.peer, silentMs, expiryMs });
  }

  /** Rules 11 to 13: a worker is no more. Nothing is sent to it from here on. */
  #lose(worker: Worker<Asked>, reason: PppWorkerLoss): void {
    this.#forget(worker, reason);
    this.jobs.recover([worker]);
  }

  /** Takes the worker out of all books but its own; its job remains to be recovered. */
  #forget(worker: Worker<Asked>, reason: PppWorkerLoss): void {
    const { workers, idle, jobs } = this.books;
    workers.remove(worker);
    idle.remove(worker.idle);
    jobs?.remove(worker.patience);
    this.#out.counters.workersLost++;
    this.#out.push({ kind: 'worker-lost', peer: worker.peer, reason });
  }

  /** We were too busy to listen: what was not heard meanwhile proves nothing about the workers (ADR 4). */
  #beLate(lateMs: number): void {
    this.books.workers.postponeExpiry(lateMs, this.#out.now);
    this.books.jobs?.postpone(lateMs, this.#out.now);
    this.#out.push({ kind: 'note', code: 'running-late', lateMs });
  }

  /** Rules 11 and 16. All that are due go before the first job is resent, or it would be given to one that goes next. */
  #endOverdue(): void {
    const { workers, jobs } = this.books;
    const { now } = this.#out;
    const lost: Worker<Asked>[] = [];
    for (let worker = workers.takeExpired(now); worker !== undefined; worker = workers.takeExpired(now)) {
      this.#forget(worker, 'expired');
      lost.push(worker);
    }
    for (let worker = jobs?.takeDue(now); worker !== undefined; worker = jobs?.takeDue(now)) {
      this.#forget(worker, 'job-timeout');
      lost.push(worker);
    }
    this.jobs.recover(lost);
  }

  /** Rule 7: to all, busy or idle, whatever else they were sent. */
  #sendHeartbeats(): void {
    const { workers } = this.books;
    let worker = workers.takeHeartbeatDue(this.#out.now);
    for (; worker !== undefined; worker = workers.takeHeartbeatDue(this.#out.now)) {
      this.#out.counters.heartbeatsSent++;
      this.#out.sendToWorker(worker.peer, { kind: 'heartbeat' });
    }
  }

  /** Rule 19: PPP has no word for goodbye, so workers are forgotten and told nothing. */
  #finish(): void {
    this.#state = 'drained';
    this.#drainUntil = Infinity;
    this.jobs.giveUpWaiting('drained');
    for (const worker of this.books.workers.values()) {
      this.#forget(worker, 'drained');
      const { request } = worker;
      worker.request = undefined;
      if (request !== undefined) this.jobs.giveUp(request, 'drained');
    }
    this.#out.push({ kind: 'drained' });
  }
}

/** Rule 9: a reply counts when it goes to whom the job is from. Rule 18: ids are compared as bytes. */
function isFor(request: Request, { addresses: [address] }: PppAddressedReply): boolean {
  const [asked] = request.addresses;
  return asked !== undefined && address !== undefined && equalBytes(asked, address);
}

function dropReason(reason: RejectReason): PppMessageDrop {
  return reason === 'too-many-frames' ? 'too-large' : reason;
}
