/** 6/PPP, the worker's side: every decision of one connection to one queue. Section 4 of docs/protocols/ppp.md. */
import { totalBytes } from '@proj/frames';
import type { PppHeartbeat, PppReady, PppReply, PppRequest, PppToWorker } from '@proj/frames/ppp';
import type { Engine, RejectReason, TimerEvent } from '@proj/transport';
import type { CancelReason, Frames, LossReason, WorkerEffect, WorkerEvent } from '../../shared/events.js';
import { JobSlot } from '../../shared/job-slot.js';
import type { Job } from '../../shared/job-slot.js';
import { BrokerConnection } from '../../shared/broker-connection.js';
import type { BrokerConnectionDue, BrokerConnectionOptions } from '../../shared/broker-connection.js';
import type { PppWorkerDropReason, PppWorkerLeaveReason, PppWorkerNote } from './events.js';

/** What a request meets, by what the session is doing. `draining` wins over `busy`. */
const ON_REQUEST = { idle: 'take', busy: 'take', full: 'drop', draining: 'drop' } as const;

/** The Guide's queue takes a busy worker's heartbeat for readiness and keeps no requests: what it sends is taken, within bounds. */
const QUEUE_MAX = 16;

/** Settings of a {@link PppWorkerSession}; options.ts of this folder has the defaults. */
export interface PppWorkerSessionOptions extends BrokerConnectionOptions {
  /** How long a drain waits for the jobs in hand. Milliseconds. */
  readonly drainMs: number;
  /** The endpoints are ours, and the queue connects to them. Default false. */
  readonly binds?: boolean;
}

/** What a worker sends. */
export type PppFromWorker = PppReady | PppHeartbeat | PppReply;

/** Events of a {@link PppWorkerSession}. `partial` changes nothing: PPP has one reply, into which the host joins the frames. */
export type PppWorkerEvent = WorkerEvent<PppToWorker>;

/** Effects of a {@link PppWorkerSession}. */
export type PppWorkerEffect = WorkerEffect<PppFromWorker, PppWorkerNote>;

const NOTHING: readonly PppWorkerEffect[] = [];

const READY: PppReady = { kind: 'ready' };
const HEARTBEAT: PppHeartbeat = { kind: 'heartbeat' };

type EndReason = Exclude<PppWorkerLeaveReason, 'handler-failed'>;

/** Losses that were told to us rather than concluded: the way back is tried at once. */
const TOLD: ReadonlySet<LossReason> = new Set(['peer-gone', 'unreadable']);

/**
 * A worker's connection as a deterministic machine. One connection and one handler at a time: after a loss the next
 * connection opens while a cancelled handler still runs, but a request waits until that handler has come to an end.
 */
export class PppWorkerSession implements Engine<PppWorkerEvent, PppWorkerEffect> {
  readonly #drainMs: number;
  readonly #binds: boolean;
  readonly #link: BrokerConnection;
  readonly #slot = new JobSlot<PppRequest>(QUEUE_MAX);
  #effects: PppWorkerEffect[] = [];
  #phase: 'new' | 'on' | 'ended' = 'new';
  /** Number of the socket opened last, which is that of the connection while one is open. */
  #socket = 0;
  #draining = false;
  #drainAt = Infinity;

  /** `random` returns a number in [0, 1) and spreads the back-off. */
  constructor(options: PppWorkerSessionOptions, random: () => number) {
    this.#drainMs = options.drainMs;
    this.#binds = options.binds ?? false;
    this.#link = new BrokerConnection(options, random);
  }

  get deadline(): number {
    return Math.min(this.#link.deadline, this.#drainAt);
  }

  step(event: PppWorkerEvent | TimerEvent, now: number): readonly PppWorkerEffect[] {
    if (this.#phase !== 'ended') this.#on(event, now);
    if (this.#effects.length === 0) return NOTHING;
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  assertInvariants(): void {
    const on = this.#phase === 'on';
    const open = this.#link.isOpen;
    const check = (holds: boolean, what: string): void => {
      if (!holds) throw new Error(`PppWorkerSession: ${what}`);
    };
    this.#link.assertInvariants(!on);
    check(on || this.deadline === Infinity, 'something is due before the start or after the end');
    check(this.#effects.length === 0, 'effects are left over from the last step');
    check(this.#slot.current === undefined || open, 'a job without a connection');
    check(this.#slot.waiting === 0 || (open && this.#slot.isBusy), 'a request waits for nothing');
    check(this.#slot.waiting <= QUEUE_MAX, 'too many requests wait');
    check(this.#draining === this.#drainAt < Infinity, 'a drain without limit, or a limit without drain');
    check(!this.#draining || (open && this.#slot.isBusy), 'a drain with nothing to do');
  }

  #on(event: PppWorkerEvent | TimerEvent, now: number): void {
    switch (event.kind) {
      case 'start':
        if (this.#phase !== 'new') return;
        this.#phase = 'on';
        this.#open(now);
        break;
      case 'message':
        if (this.#isCurrent(event.socket)) this.#message(event.command, now);
        break;
      case 'rejected':
        if (this.#isCurrent(event.socket)) this.#rejected(event.reason, now);
        break;
      case 'lost':
        if (this.#isCurrent(event.socket)) this.#lose(event.reason, now);
        break;
      case 'bound':
        if (this.#isCurrent(event.socket)) this.#send(READY);
        break;
      case 'sent':
        if (this.#isCurrent(event.socket) && this.#link.isAwaited) this.#met(now);
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
        this.#drain(now);
        break;
      case 'close':
        this.#stop('closed');
        break;
      case 'timer':
        this.#timer(event.lateMs, now);
        break;
    }
  }

  #open(now: number): void {
    if (this.#binds) this.#link.await();
    else this.#link.open(now);
    this.#effects.push({ kind: 'open', socket: ++this.#socket, endpoint: this.#link.endpoint });
    if (!this.#binds) this.#ready();
  }

  /** A queue has connected and got our READY. */
  #met(now: number): void {
    this.#link.open(now);
    this.#note({ code: 'ready', endpoint: this.#link.endpoint });
  }

  #ready(): void {
    this.#send(READY);
    this.#note({ code: 'ready', endpoint: this.#link.endpoint });
  }

  /** Whatever a queue says, it is alive. */
  #message(command: PppToWorker, now: number): void {
    this.#link.heard(now);
    if (command.kind === 'request') this.#request(command);
    else if (command.kind === 'malformed') this.#dropMessage(command.reason);
  }

  /** Had it been a request, the queue would believe us busy with it for ever: only a new conversation frees it. */
  #rejected(reason: RejectReason, now: number): void {
    this.#link.heard(now);
    this.#dropMessage(reason);
    if (reason !== 'no-frames') this.#lose('unreadable', now);
  }

  #request(request: PppRequest): void {
    const load = this.#load();
    if (ON_REQUEST[load] === 'take') this.#run(this.#slot.take(request));
    else this.#note({ code: 'request-dropped', reason: load === 'draining' ? 'leaving' : 'busy' });
  }

  #load(): keyof typeof ON_REQUEST {
    if (this.#draining) return 'draining';
    if (this.#slot.isFull) return 'full';
    return this.#slot.isBusy ? 'busy' : 'idle';
  }

  #run(job: Job<PppRequest> | undefined): void {
    if (job === undefined) return;
    const { addresses = [], content } = job.request;
    // Without stack, too: what would be read as something else leaves behind an empty one.
    const envelope = { frames: addresses.length + 1, bytes: totalBytes(addresses) };
    this.#effects.push({ kind: 'run', job: job.id, body: content, envelope });
  }

  #final(id: number, body: Frames): void {
    const request = this.#slot.finish(id);
    if (request === undefined) this.#note({ code: 'result-discarded', job: id });
    else this.#send({ kind: 'reply', addresses: request.addresses, content: body });
    this.#next();
  }

  /**
   * There is no error reply in PPP, and a worker that beats on is never given up. READY begins a new conversation, in which
   * the job of the old one is lost: a queue of ours gives it to another worker. What waits here goes on waiting, for the
   * Guide's queue has forgotten it.
   */
  #failed(id: number): void {
    if (this.#slot.finish(id) !== undefined && !this.#draining) {
      this.#note({ code: 'left', endpoint: this.#link.endpoint, reason: 'handler-failed' });
      this.#ready();
    }
    this.#next();
  }

  /** The handler is free. */
  #next(): void {
    this.#run(this.#slot.next());
    if (this.#draining && !this.#slot.isBusy) this.#leave('drained');
  }

  /** Nothing more may go out on that socket, except replies where the queue still believes in the conversation. */
  #lose(reason: LossReason, now: number): void {
    const { endpoint } = this.#link;
    const wasDraining = this.#draining;
    this.#leaveConversation(reason === 'unreadable', reason);
    if (wasDraining) {
      this.#note({ code: 'lost', endpoint, reason });
      this.#end();
      return;
    }
    const retryInMs = this.#link.lost(now, TOLD.has(reason));
    this.#note({ code: 'lost', endpoint, reason, retryInMs });
    if (retryInMs === 0) this.#open(now);
  }

  #drain(now: number): void {
    if (this.#draining) return;
    if (this.#slot.current === undefined && this.#slot.waiting === 0) {
      this.#stop('drained');
      return;
    }
    this.#draining = true;
    this.#drainAt = now + this.#drainMs;
  }

  #stop(reason: EndReason): void {
    if (this.#link.isOpen) this.#leave(reason);
    else this.#end();
  }

  /** Ends the last conversation by our own wish. */
  #leave(reason: EndReason): void {
    const { endpoint } = this.#link;
    for (let left = this.#slot.waiting; left > 0; left--) this.#note({ code: 'request-dropped', reason: 'leaving' });
    this.#leaveConversation(!this.#link.isAwaited, reason === 'drain-timeout' ? reason : 'closed');
    this.#note({ code: 'left', endpoint, reason });
    this.#end();
  }

  /** Forgets all that belongs to the conversation. The link still has to be told. */
  #leaveConversation(flush: boolean, reason: CancelReason): void {
    this.#effects.push({ kind: 'close', socket: this.#socket, flush });
    const job = this.#slot.abandon();
    if (job !== undefined) this.#effects.push({ kind: 'cancel', job, reason });
    this.#draining = false;
    this.#drainAt = Infinity;
  }

  #end(): void {
    this.#phase = 'ended';
    this.#link.stop();
    this.#effects.push({ kind: 'ended' });
  }

  #timer(lateMs: number, now: number): void {
    this.#link.credit(lateMs, now);
    if (this.#drainAt <= now) this.#stop('drain-timeout');
    for (let due = this.#link.takeDue(now); due !== undefined; due = this.#link.takeDue(now)) this.#due(due, now);
  }

  #due(due: BrokerConnectionDue, now: number): void {
    switch (due) {
      case 'open':
        this.#open(now);
        break;
      case 'heartbeat':
        this.#send(HEARTBEAT);
        break;
      case 'silent':
        this.#lose('silent', now);
        break;
    }
  }

  #isCurrent(socket: number): boolean {
    return this.#link.isOpen && socket === this.#socket;
  }

  #dropMessage(reason: PppWorkerDropReason): void {
    this.#note({ code: 'message-dropped', reason });
  }

  #send(command: PppFromWorker): void {
    this.#effects.push({ kind: 'send', socket: this.#socket, command });
  }

  #note(note: PppWorkerNote): void {
    this.#effects.push({ kind: 'note', note });
  }
}
