/** 18/MDP and 7/MDP "MDP/Worker", the worker's side: every decision of one connection to one broker for one service. */
import type {
  MdpDisconnect,
  MdpHeartbeat,
  MdpToWorker,
  MdpVersion,
  MdpWorkerReady,
  MdpWorkerReply,
  MdpWorkerRequest,
} from '@proj/frames/mdp';
import type { Engine, RejectReason, TimerEvent } from '@proj/transport';
import type { CancelReason, Frames, LossReason, WorkerEffect, WorkerEvent } from '../../shared/events.js';
import { JobSlot } from '../../shared/job-slot.js';
import type { Job } from '../../shared/job-slot.js';
import { BrokerConnection } from '../../shared/broker-connection.js';
import type { BrokerConnectionDue, BrokerConnectionOptions } from '../../shared/broker-connection.js';
import { FirstProbe } from './first-probe.js';
import type { MdpWorkerDropReason, MdpWorkerLeaveReason, MdpWorkerNote } from './events.js';

/** What a request meets, by what the session is doing. `leaving` wins over `busy`. */
const ON_REQUEST = { idle: 'take', busy: 'take', full: 'drop', leaving: 'drop' } as const;

/** A broker that knows the protocol never sends a second request; one may wait in case it does. */
const QUEUE_MAX = 1;

/** Settings of an {@link MdpWorkerSession}; options.ts of this folder has the defaults. */
export interface MdpWorkerSessionOptions extends BrokerConnectionOptions {
  readonly version: MdpVersion;
  /** 1 to 255 printable ASCII characters. */
  readonly service: string;
  /** Send DISCONNECT whenever we end a conversation. */
  readonly sayGoodbye: boolean;
  /** While leaving, run what still arrives; leave after one interval without a request. */
  readonly drainFinishes: boolean;
  /** How long a drain waits for the running job. Milliseconds. */
  readonly drainMs: number;
  /** Return to the first endpoint when it answers again. */
  readonly preferFirst: boolean;
}

/** What a worker sends. */
export type MdpFromWorker = MdpWorkerReady | MdpWorkerReply | MdpHeartbeat | MdpDisconnect;

/** Events of an {@link MdpWorkerSession}. */
export type MdpWorkerEvent = WorkerEvent<MdpToWorker>;

/** Effects of an {@link MdpWorkerSession}. */
export type MdpWorkerEffect = WorkerEffect<MdpFromWorker, MdpWorkerNote>;

const NOTHING: readonly MdpWorkerEffect[] = [];

/** Empty, header, command, address, empty; in bytes with the longest address of 255. */
const ENVELOPE = { frames: 5, bytes: 262 } as const;

/** Losses that were told to us rather than concluded: the way back is tried at once. */
const TOLD: ReadonlySet<LossReason> = new Set(['disconnected', 'peer-gone', 'unreadable']);

/**
 * A worker's connection as a deterministic machine. One conversation at a time, one handler at a time: after a loss the
 * next conversation opens while a cancelled handler still runs, but a request waits until that handler has come to an end.
 */
export class MdpWorkerSession implements Engine<MdpWorkerEvent, MdpWorkerEffect> {
  readonly #options: MdpWorkerSessionOptions;
  readonly #link: BrokerConnection;
  readonly #heartbeat: MdpHeartbeat;
  readonly #disconnect: MdpDisconnect;
  #effects: MdpWorkerEffect[] = [];
  #phase: 'new' | 'on' | 'ended' = 'new';
  readonly #slot = new JobSlot<MdpWorkerRequest>(QUEUE_MAX);
  readonly #probe: FirstProbe;
  /** Number of the socket opened last, and that of the conversation while one is open. */
  #sockets = 0;
  #socket = 0;
  #leaving: 'drained' | 'first-answers' | undefined;
  /** When a leaving session that finishes what arrives may assume that nothing is under way to it. */
  #quietAt = Infinity;
  #drainAt = Infinity;

  /** `random` returns a number in [0, 1) and spreads the back-off. */
  constructor(options: MdpWorkerSessionOptions, random: () => number) {
    const { version } = options;
    this.#options = options;
    this.#link = new BrokerConnection(options, random);
    this.#probe = new FirstProbe(options.reconnectMaxMs);
    this.#heartbeat = { kind: 'heartbeat', version };
    this.#disconnect = { kind: 'disconnect', version };
  }

  get deadline(): number {
    return Math.min(this.#link.deadline, this.#quietAt, this.#drainAt, this.#probe.deadline);
  }

  step(event: MdpWorkerEvent | TimerEvent, now: number): readonly MdpWorkerEffect[] {
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
      if (!holds) throw new Error(`MdpWorkerSession: ${what}`);
    };
    this.#link.assertInvariants(!on);
    check(on || this.deadline === Infinity, 'something is due before the start or after the end');
    check(this.#effects.length === 0, 'effects are left over from the last step');
    check(this.#slot.current === undefined || open, 'a job without a conversation');
    check(this.#slot.waiting === 0 || (open && this.#slot.isBusy), 'a request waits for nothing');
    check(this.#quietAt === Infinity || (open && this.#leaving !== undefined), 'waits for quiet without leaving');
    check(this.#drainAt === Infinity || (open && this.#leaving === 'drained'), 'drain limit without drain');
    check(this.#leaving === undefined || open, 'leaves without a conversation');
    check(this.#probe.deadline === Infinity || this.#mayReturn, 'probes without reason');
    check(this.#probe.socket === undefined || this.#probe.deadline < Infinity, 'a probe that nobody ends');
  }

  #on(event: MdpWorkerEvent | TimerEvent, now: number): void {
    switch (event.kind) {
      case 'start':
        if (this.#phase !== 'new') return;
        this.#phase = 'on';
        this.#open(now);
        break;
      case 'message':
        this.#message(event.socket, event.command, now);
        break;
      case 'rejected':
        this.#rejected(event.socket, event.reason, now);
        break;
      case 'lost':
        if (this.#isCurrent(event.socket)) this.#lose(event.reason, now);
        break;
      case 'bound':
      case 'sent':
        break;
      case 'partial':
        this.#partial(event.job, event.body);
        break;
      case 'final':
        this.#final(event.job, event.body, now);
        break;
      case 'failed':
        this.#failed(event.job, now);
        break;
      case 'drain':
        this.#drain(now);
        break;
      case 'close':
        this.#stop('closed', now);
        break;
      case 'timer':
        this.#timer(event.lateMs, now);
        break;
    }
  }

  #open(now: number): void {
    this.#link.open(now);
    this.#socket = ++this.#sockets;
    const { version, service } = this.#options;
    const { endpoint } = this.#link;
    this.#effects.push(
      { kind: 'open', socket: this.#socket, endpoint },
      { kind: 'send', socket: this.#socket, command: { kind: 'worker-ready', version, service } },
      { kind: 'note', note: { code: 'ready', endpoint } },
    );
    if (this.#mayReturn) this.#probe.plan(now);
  }

  #message(socket: number, command: MdpToWorker, now: number): void {
    if (!this.#isCurrent(socket) && socket !== this.#probe.socket) return;
    if (!this.#isLife(command)) return;
    if (socket === this.#probe.socket) {
      this.#firstAnswers(now);
      return;
    }
    this.#link.heard(now);
    if (command.kind === 'worker-request') this.#request(command);
    else if (command.kind === 'disconnect') this.#lose('disconnected', now);
  }

  /** True for a message with our header, even if what follows makes no sense; counts what cannot be acted upon. */
  #isLife(command: MdpToWorker): boolean {
    if (command.kind === 'malformed') {
      this.#dropMessage(command.reason);
      return command.side === 'worker';
    }
    if (command.version === this.#options.version) return true;
    this.#dropMessage('wrong-version');
    return false;
  }

  /** Had it been a request, the broker would believe us busy with it for ever: only a new conversation frees it. */
  #rejected(socket: number, reason: RejectReason, now: number): void {
    this.#dropMessage(reason);
    if (reason !== 'no-frames' && this.#isCurrent(socket)) this.#lose('unreadable', now);
  }

  #request(request: MdpWorkerRequest): void {
    const load = this.#load();
    if (ON_REQUEST[load] === 'take') this.#run(this.#slot.take(request));
    else this.#note({ code: 'request-dropped', reason: load === 'leaving' ? 'leaving' : 'busy' });
  }

  #load(): keyof typeof ON_REQUEST {
    if (this.#leaving !== undefined && !this.#options.drainFinishes) return 'leaving';
    if (this.#slot.isFull) return 'full';
    return this.#slot.isBusy ? 'busy' : 'idle';
  }

  #run(job: Job<MdpWorkerRequest> | undefined): void {
    if (job === undefined) return;
    this.#quietAt = Infinity;
    this.#effects.push({ kind: 'run', job: job.id, body: job.request.body, envelope: ENVELOPE });
  }

  /** 0.1 has no word for it; there the host joins what a handler yields into its last reply. */
  #partial(id: number, body: Frames): void {
    const { version } = this.#options;
    const job = this.#slot.current;
    if (version === '0.1' || job?.id !== id) return;
    this.#send({ kind: 'worker-partial', version, client: job.request.client, body });
  }

  #final(id: number, body: Frames, now: number): void {
    const request = this.#slot.finish(id);
    if (request === undefined) this.#note({ code: 'result-discarded', job: id });
    else this.#send({ kind: 'worker-final', version: this.#options.version, client: request.client, body });
    this.#next(now);
  }

  /** There is no error reply in MDP: ending the conversation makes the broker send the request to another worker. */
  #failed(id: number, now: number): void {
    if (this.#slot.finish(id) === undefined) this.#next(now);
    else this.#leave(this.#leaving ?? 'handler-failed', now);
  }

  /** The handler is free. */
  #next(now: number): void {
    if (this.#load() !== 'leaving') this.#run(this.#slot.next());
    if (this.#slot.current === undefined) this.#leaveWhenIdle(now);
  }

  /** Nothing more may go out on that socket, except a goodbye where the broker still believes in the conversation. */
  #lose(reason: LossReason, now: number): void {
    const { endpoint } = this.#link;
    const believed = reason === 'unreadable';
    if (believed) this.#goodbye();
    this.#leaveConversation(believed, reason);
    if (this.#leaving === 'drained') {
      this.#note({ code: 'lost', endpoint, reason });
      this.#end();
      return;
    }
    this.#leaving = undefined;
    const retryInMs = this.#link.lost(now, TOLD.has(reason));
    this.#note({ code: 'lost', endpoint, reason, retryInMs });
    if (retryInMs === 0) this.#open(now);
  }

  #drain(now: number): void {
    if (this.#leaving === 'drained') return;
    if (!this.#link.isOpen) {
      this.#end();
      return;
    }
    this.#endProbe();
    this.#leaving = 'drained';
    this.#drainAt = now + this.#options.drainMs;
    this.#leaveWhenIdle(now);
  }

  #leaveWhenIdle(now: number): void {
    if (this.#leaving === undefined || this.#slot.current !== undefined) return;
    if (!this.#options.drainFinishes) this.#leave(this.#leaving, now);
    else if (this.#slot.waiting === 0) this.#quietAt = now + this.#options.heartbeatIntervalMs;
  }

  #stop(reason: 'closed' | 'drain-timeout', now: number): void {
    if (this.#link.isOpen) this.#leave(reason, now);
    else this.#end();
  }

  /** Ends the conversation by our own wish; what comes after depends on the wish. */
  #leave(reason: MdpWorkerLeaveReason, now: number): void {
    const { endpoint } = this.#link;
    this.#goodbye();
    if (this.#slot.waiting > 0) this.#note({ code: 'request-dropped', reason: 'leaving' });
    this.#leaveConversation(true, reason === 'drain-timeout' ? reason : 'closed');
    this.#note({ code: 'left', endpoint, reason });
    this.#leaving = undefined;
    if (reason !== 'handler-failed' && reason !== 'first-answers') {
      this.#end();
      return;
    }
    this.#link.left(now, reason === 'first-answers' ? 'first' : 'same');
    this.#open(now);
  }

  #goodbye(): void {
    if (this.#options.sayGoodbye) this.#send(this.#disconnect);
  }

  /** Forgets all that belongs to the conversation. The link still has to be told. */
  #leaveConversation(flush: boolean, reason: CancelReason): void {
    this.#effects.push({ kind: 'close', socket: this.#socket, flush });
    const job = this.#slot.abandon();
    if (job !== undefined) this.#effects.push({ kind: 'cancel', job, reason });
    this.#quietAt = this.#drainAt = Infinity;
    this.#endProbe();
  }

  #end(): void {
    this.#phase = 'ended';
    this.#leaving = undefined;
    this.#link.stop();
    this.#effects.push({ kind: 'ended' });
  }

  #timer(lateMs: number, now: number): void {
    this.#link.credit(lateMs, now);
    if (this.#drainAt <= now) this.#stop('drain-timeout', now);
    for (let due = this.#link.takeDue(now); due !== undefined; due = this.#link.takeDue(now)) this.#due(due, now);
    if (this.#quietAt <= now && this.#leaving !== undefined) this.#leave(this.#leaving, now);
    if (this.#probe.deadline <= now) this.#probeFirst(now);
  }

  #due(due: BrokerConnectionDue, now: number): void {
    switch (due) {
      case 'open':
        this.#open(now);
        break;
      case 'heartbeat':
        this.#send(this.#heartbeat);
        break;
      case 'silent':
        this.#lose('silent', now);
        break;
    }
  }

  #isCurrent(socket: number): boolean {
    return this.#link.isOpen && socket === this.#socket;
  }

  /** True while another endpoint than the preferred one serves us. */
  get #mayReturn(): boolean {
    return this.#options.preferFirst && this.#link.isOpen && !this.#link.isHome;
  }

  #probeFirst(now: number): void {
    this.#endProbe();
    const socket = ++this.#sockets;
    const endpoint = this.#options.endpoints[0] as string;
    this.#effects.push({ kind: 'open', socket, endpoint }, { kind: 'send', socket, command: this.#heartbeat });
    this.#probe.ask(socket, now);
  }

  #endProbe(): void {
    const { socket } = this.#probe;
    if (socket !== undefined) this.#effects.push({ kind: 'close', socket, flush: false });
    this.#probe.stop();
  }

  #firstAnswers(now: number): void {
    this.#endProbe();
    this.#leaving = 'first-answers';
    this.#leaveWhenIdle(now);
  }

  #dropMessage(reason: MdpWorkerDropReason): void {
    this.#note({ code: 'message-dropped', reason });
  }

  #send(command: MdpFromWorker): void {
    this.#effects.push({ kind: 'send', socket: this.#socket, command });
  }

  #note(note: MdpWorkerNote): void {
    this.#effects.push({ kind: 'note', note });
  }
}
