/**
 * 6/PPP, the worker: every decision of one connection to one queue. The rules are those of docs/protocols/ppp.md, section "Worker".
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 1 | one DEALER, READY first | session.ts |
 * | 2 | heartbeats | shared/broker-connection.ts, session.ts |
 * | 3 | the form of a reply | session.ts, frames/src/ppp/encode.ts |
 * | 4 | any content, any addresses | frames/src/ppp/decode.ts |
 * | 5 | signs of life, a silent queue | shared/broker-connection.ts, legality.ts, session.ts |
 * | 6 | back-off | shared/broker-connection.ts, heartbeat/src/backoff.ts |
 * | 7 | endpoints | shared/broker-connection.ts |
 * | 8 | failed handlers | session.ts, worker-runner.ts |
 * | 9 | waiting requests | shared/job-slot.ts, legality.ts |
 * | 10 | draining | session.ts, legality.ts |
 * | 11 | `bind` | session.ts, shared/broker-connection.ts |
 */
import { totalBytes } from '@proj/frames';
import type { PppReady, PppRequest, PppToWorker } from '@proj/frames/ppp';
import type { Engine, RejectReason, TimerEvent } from '@proj/transport';
import { BrokerConnection } from '../../shared/broker-connection.js';
import type { BrokerConnectionDue, BrokerConnectionOptions } from '../../shared/broker-connection.js';
import { TOLD } from '../../shared/events.js';
import type { CancelReason, Frames, HandlerEffect, LossReason } from '../../shared/events.js';
import { checksOf } from '../../shared/invariants.js';
import { JobSlot } from '../../shared/job-slot.js';
import type { Job } from '../../shared/job-slot.js';
import { SessionOutput } from '../../shared/output.js';
import type { PppFromWorker, PppWorkerEffect, PppWorkerEvent, PppWorkerLeaveReason, PppWorkerNote } from './events.js';
import { LEGALITY } from './legality.js';

/** The Guide's queue takes a busy worker's heartbeat for readiness and keeps no requests: what it sends is accepted, within limits. */
const QUEUE_MAX = 16;

const READY: PppReady = { kind: 'ready' };

const check = checksOf('PppWorkerSession');

type EndReason = Exclude<PppWorkerLeaveReason, 'handler-failed'>;

/** Settings of a {@link PppWorkerSession}; options.ts explains them. */
export interface PppWorkerSessionOptions extends BrokerConnectionOptions {
  /** How long a drain waits for current jobs. Milliseconds. */
  readonly drainMs: number;
  /** The endpoints are ours, and the queue connects to them. Default false. */
  readonly binds?: boolean;
}

/**
 * A worker's connection as a deterministic state machine. One connection and one handler at a time: after a loss the next connection opens while
 * a cancelled handler still runs, but a request waits until that handler has ended.
 */
export class PppWorkerSession implements Engine<PppWorkerEvent, PppWorkerEffect> {
  readonly #drainMs: number;
  readonly #binds: boolean;
  readonly #out = new SessionOutput<PppFromWorker, PppWorkerNote, HandlerEffect>();
  readonly #connection: BrokerConnection;
  readonly #slot = new JobSlot<PppRequest>(QUEUE_MAX);
  #phase: 'new' | 'on' | 'ended' = 'new';
  #draining = false;
  #drainAt = Infinity;

  /** `random` returns a number in [0, 1) and spreads the back-off. */
  constructor(options: PppWorkerSessionOptions, random: () => number) {
    this.#drainMs = options.drainMs;
    this.#binds = options.binds ?? false;
    this.#connection = new BrokerConnection(options, random);
  }

  get deadline(): number {
    return Math.min(this.#connection.deadline, this.#drainAt);
  }

  step(event: PppWorkerEvent | TimerEvent, now: number): readonly PppWorkerEffect[] {
    this.#out.begin(now);
    if (this.#phase !== 'ended') this.#on(event);
    return this.#out.effects;
  }

  assertInvariants(): void {
    const isOn = this.#phase === 'on';
    const { isOpen } = this.#connection;
    this.#connection.assertInvariants(!isOn);
    check(isOn || this.deadline === Infinity, 'something is due before the start or after the end');
    check(this.#slot.current === undefined || isOpen, 'a job without a connection');
    check(this.#slot.waiting === 0 || (isOpen && this.#slot.isBusy), 'a request waits for nothing');
    check(this.#slot.waiting <= QUEUE_MAX, 'too many requests wait');
    check(this.#draining === this.#drainAt < Infinity, 'a drain without limit, or a limit without drain');
    check(!this.#draining || (isOpen && this.#slot.isBusy), 'a drain with nothing to do');
  }

  #on(event: PppWorkerEvent | TimerEvent): void {
    switch (event.kind) {
      case 'start':
        if (this.#phase !== 'new') return;
        this.#phase = 'on';
        this.#open();
        break;
      case 'message':
        this.#message(this.#isCurrent(event.socket) ? this.#state : 'closed', event.command);
        break;
      case 'rejected':
        if (this.#isCurrent(event.socket)) this.#rejected(event.reason);
        break;
      case 'lost':
        if (this.#isCurrent(event.socket)) this.#lose(event.reason);
        break;
      case 'bound':
        if (this.#isCurrent(event.socket)) this.#out.send(READY);
        break;
      case 'sent':
        if (this.#isCurrent(event.socket) && this.#connection.isAwaited) this.#met();
        break;
      case 'partial':
        break;
      case 'final':
        this.#final(event.job, event.body);
        break;
      case 'failed':
        this.#failed(event.job);
        break;
      case 'drain':
        this.#drain();
        break;
      case 'close':
        this.#stop('closed');
        break;
      case 'timer':
        this.#timer(event.lateMs);
        break;
    }
  }

  #open(): void {
    if (this.#binds) this.#connection.await();
    else this.#connection.open(this.#out.now);
    this.#out.push({ kind: 'open', socket: ++this.#out.socket, endpoint: this.#connection.endpoint });
    if (!this.#binds) this.#ready();
  }

  /** A queue has connected and got our READY. */
  #met(): void {
    this.#connection.open(this.#out.now);
    this.#out.report({ code: 'ready', endpoint: this.#connection.endpoint });
  }

  #ready(): void {
    this.#out.send(READY);
    this.#out.report({ code: 'ready', endpoint: this.#connection.endpoint });
  }

  #message(state: keyof typeof LEGALITY, command: PppToWorker): void {
    const [verdict] = LEGALITY[state][command.kind];
    if (verdict === 'ignore') return;
    this.#connection.heard(this.#out.now);
    if (command.kind === 'malformed') this.#out.report({ code: 'message-dropped', reason: command.reason });
    else if (command.kind === 'request') {
      if (verdict === 'accept') this.#run(this.#slot.take(command));
      else this.#out.report({ code: 'request-dropped', reason: state === 'draining' ? 'leaving' : 'busy' });
    }
  }

  get #state(): keyof typeof LEGALITY {
    return this.#draining ? 'draining' : this.#slot.load;
  }

  /** If it was a request, the queue would consider us busy with it for ever: only a new conversation frees it. */
  #rejected(reason: RejectReason): void {
    this.#connection.heard(this.#out.now);
    this.#out.report({ code: 'message-dropped', reason });
    if (reason !== 'no-frames') this.#lose('unreadable');
  }

  #run(job: Job<PppRequest> | undefined): void {
    if (job === undefined) return;
    const { addresses = [], content } = job.request;
    // Also without a stack: content that would be misread goes behind an empty frame.
    const envelope = { frames: addresses.length + 1, bytes: totalBytes(addresses) };
    this.#out.push({ kind: 'run', job: job.id, body: content, envelope });
  }

  #final(id: number, body: Frames): void {
    const request = this.#slot.finish(id);
    if (request === undefined) this.#out.report({ code: 'result-discarded', job: id });
    else this.#out.send({ kind: 'reply', addresses: request.addresses, content: body });
    this.#next();
  }

  /**
   * PPP has no error reply, and a worker that keeps sending heartbeats is never given up. READY begins a new conversation, in which the old
   * one's job is lost: our queue gives it to another worker. Waiting requests keep waiting, because the Guide's queue has forgotten them.
   */
  #failed(id: number): void {
    if (this.#slot.finish(id) !== undefined && !this.#draining) {
      this.#out.report({ code: 'left', endpoint: this.#connection.endpoint, reason: 'handler-failed' });
      this.#ready();
    }
    this.#next();
  }

  /** The handler is free. */
  #next(): void {
    this.#run(this.#slot.next());
    if (this.#draining && !this.#slot.isBusy) this.#leave('drained');
  }

  /** Nothing more may be sent on that socket, except replies if the conversation is still open for the queue. */
  #lose(reason: LossReason): void {
    const { endpoint } = this.#connection;
    const wasDraining = this.#draining;
    this.#leaveConversation(reason === 'unreadable', reason);
    if (wasDraining) {
      this.#out.report({ code: 'lost', endpoint, reason });
      this.#end();
      return;
    }
    const retryInMs = this.#connection.lost(this.#out.now, TOLD.has(reason));
    this.#out.report({ code: 'lost', endpoint, reason, retryInMs });
    if (retryInMs === 0) this.#open();
  }

  #drain(): void {
    if (this.#draining) return;
    if (this.#slot.current === undefined && this.#slot.waiting === 0) {
      this.#stop('drained');
      return;
    }
    this.#draining = true;
    this.#drainAt = this.#out.now + this.#drainMs;
  }

  #stop(reason: EndReason): void {
    if (this.#connection.isOpen) this.#leave(reason);
    else this.#end();
  }

  /** Ends the last conversation. */
  #leave(reason: EndReason): void {
    const { endpoint, isAwaited } = this.#connection;
    for (let left = this.#slot.waiting; left > 0; left--)
      this.#out.report({ code: 'request-dropped', reason: 'leaving' });
    this.#leaveConversation(!isAwaited, reason === 'drain-timeout' ? reason : 'closed');
    this.#out.report({ code: 'left', endpoint, reason });
    this.#end();
  }

  /** Forgets everything that belongs to the conversation, except its deadlines. */
  #leaveConversation(flush: boolean, reason: CancelReason): void {
    this.#out.close(flush);
    const job = this.#slot.abandon();
    if (job !== undefined) this.#out.push({ kind: 'cancel', job, reason });
    this.#draining = false;
    this.#drainAt = Infinity;
  }

  #end(): void {
    this.#phase = 'ended';
    this.#connection.stop();
    this.#out.push({ kind: 'ended' });
  }

  #timer(lateMs: number): void {
    const { now } = this.#out;
    this.#connection.credit(lateMs, now);
    if (this.#drainAt <= now) this.#stop('drain-timeout');
    this.#connection.act(now, this.#due);
  }

  readonly #due: BrokerConnectionDue = {
    open: this.#open.bind(this),
    heartbeat: this.#out.send.bind(this.#out, { kind: 'heartbeat' }),
    silent: this.#lose.bind(this, 'silent'),
  };

  #isCurrent(socket: number): boolean {
    return this.#connection.isOpen && socket === this.#out.socket;
  }
}
