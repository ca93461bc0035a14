/**
 * 18/MDP and 7/MDP "MDP/Worker": every decision of one connection to one broker for one service. The rules are those of docs/protocols/mdp.md,
 * section "Worker".
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 1 | one DEALER, READY first | session.ts |
 * | 2 | heartbeats | shared/broker-connection.ts, session.ts |
 * | 3 | signs of life, a silent broker | shared/broker-connection.ts, legality.ts, session.ts |
 * | 4 | DISCONNECT | legality.ts, session.ts, shared/job-slot.ts |
 * | 5 | PARTIAL and FINAL | session.ts |
 * | 6 | failed handlers | session.ts, worker-runner.ts |
 * | 7 | a second REQUEST | shared/job-slot.ts, legality.ts |
 * | 8 | endpoints, `preferFirst` | shared/broker-connection.ts, first-probe.ts |
 * | 9 | back-off | shared/broker-connection.ts, heartbeat/src/backoff.ts |
 * | 10 | draining | session.ts, legality.ts |
 * | 11 | concurrency | worker-group.ts |
 */
import type { MdpDisconnect, MdpHeartbeat, MdpToWorker, MdpWorkerRequest } from '@proj/frames/mdp';
import type { Engine, RejectReason, TimerEvent } from '@proj/transport';
import { BrokerConnection } from '../../shared/broker-connection.js';
import type { BrokerConnectionDue, BrokerConnectionOptions } from '../../shared/broker-connection.js';
import { TOLD } from '../../shared/events.js';
import type { CancelReason, Frames, HandlerEffect, LossReason } from '../../shared/events.js';
import { checksOf } from '../../shared/invariants.js';
import { JobSlot } from '../../shared/job-slot.js';
import type { Job } from '../../shared/job-slot.js';
import { SessionOutput } from '../../shared/output.js';
import type { MdpWorkerSettings } from '../options.js';
import type { MdpFromWorker, MdpWorkerEffect, MdpWorkerEvent, MdpWorkerLeaveReason, MdpWorkerNote } from './events.js';
import { FirstProbe } from './first-probe.js';
import { LEGALITY } from './legality.js';

/** A broker that follows the protocol never sends a second request; one may wait in case it does. */
const QUEUE_MAX = 1;

/** Empty, header, command, address, empty; in bytes with the longest address of 255. */
const ENVELOPE = { frames: 5, bytes: 262 } as const;

const check = checksOf('MdpWorkerSession');

/** Settings of an {@link MdpWorkerSession}; options.ts explains them. `service`: 1 to 255 printable ASCII characters. */
export interface MdpWorkerSessionOptions
  extends
    BrokerConnectionOptions,
    Pick<MdpWorkerSettings, 'version' | 'sayGoodbye' | 'drainFinishes' | 'drainMs' | 'preferFirst'> {
  readonly service: string;
}

/**
 * A worker's connection as a deterministic state machine. One conversation and one handler at a time: after a loss the next conversation opens
 * while a cancelled handler still runs, but a request waits until that handler has ended.
 */
export class MdpWorkerSession implements Engine<MdpWorkerEvent, MdpWorkerEffect> {
  readonly #options: MdpWorkerSessionOptions;
  readonly #out = new SessionOutput<MdpFromWorker, MdpWorkerNote, HandlerEffect>();
  readonly #connection: BrokerConnection;
  readonly #slot = new JobSlot<MdpWorkerRequest>(QUEUE_MAX);
  readonly #probe: FirstProbe;
  readonly #heartbeat: MdpHeartbeat;
  readonly #disconnect: MdpDisconnect;
  #phase: 'new' | 'on' | 'ended' = 'new';
  /** Number of the socket opened last, either the conversation's or the probe's. */
  #sockets = 0;
  #leaving: 'drained' | 'first-answers' | undefined;
  /** When a leaving session that still handles requests may assume that none is on its way. */
  #quietAt = Infinity;
  #drainAt = Infinity;

  /** `random` returns a number in [0, 1) and spreads the back-off. */
  constructor(options: MdpWorkerSessionOptions, random: () => number) {
    const { version } = options;
    this.#options = options;
    this.#connection = new BrokerConnection(options, random);
    this.#probe = new FirstProbe(options.reconnectMaxMs);
    this.#heartbeat = { kind: 'heartbeat', version };
    this.#disconnect = { kind: 'disconnect', version };
  }

  get deadline(): number {
    return Math.min(this.#connection.deadline, this.#quietAt, this.#drainAt, this.#probe.deadline);
  }

  step(event: MdpWorkerEvent | TimerEvent, now: number): readonly MdpWorkerEffect[] {
    this.#out.begin(now);
    if (this.#phase !== 'ended') this.#on(event);
    return this.#out.effects;
  }

  assertInvariants(): void {
    const isOn = this.#phase === 'on';
    const { isOpen } = this.#connection;
    this.#connection.assertInvariants(!isOn);
    check(isOn || this.deadline === Infinity, 'something is due before the start or after the end');
    check(this.#slot.current === undefined || isOpen, 'a job without a conversation');
    check(this.#slot.waiting === 0 || (isOpen && this.#slot.isBusy), 'a request waits for nothing');
    check(this.#quietAt === Infinity || (isOpen && this.#leaving !== undefined), 'waits for quiet without leaving');
    check(this.#drainAt === Infinity || (isOpen && this.#leaving === 'drained'), 'drain limit without drain');
    check(this.#leaving === undefined || isOpen, 'leaves without a conversation');
    check(this.#probe.deadline === Infinity || this.#mayReturn, 'probes without reason');
    check(this.#probe.socket === undefined || this.#probe.deadline < Infinity, 'a probe that nobody ends');
  }

  #on(event: MdpWorkerEvent | TimerEvent): void {
    switch (event.kind) {
      case 'start':
        if (this.#phase !== 'new') return;
        this.#phase = 'on';
        this.#open();
        break;
      case 'message':
        this.#message(event.socket, event.command);
        break;
      case 'rejected':
        this.#rejected(event.socket, event.reason);
        break;
      case 'lost':
        if (this.#isCurrent(event.socket)) this.#lose(event.reason);
        break;
      case 'bound':
      case 'sent':
        break;
      case 'partial':
        this.#partial(event.job, event.body);
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
    const { now } = this.#out;
    const { version, service } = this.#options;
    const { endpoint } = this.#connection;
    this.#connection.open(now);
    this.#out.socket = ++this.#sockets;
    this.#out.push({ kind: 'open', socket: this.#sockets, endpoint });
    this.#out.send({ kind: 'worker-ready', version, service });
    this.#out.report({ code: 'ready', endpoint });
    if (this.#mayReturn) this.#probe.plan(now);
  }

  #message(socket: number, command: MdpToWorker): void {
    if (socket === this.#probe.socket) {
      if (this.#isLife(command)) this.#firstAnswers();
      return;
    }
    const [verdict] = LEGALITY[this.#isCurrent(socket) ? this.#state : 'closed'][command.kind];
    if (verdict === 'ignore' || !this.#isLife(command)) return;
    this.#connection.heard(this.#out.now);
    if (command.kind === 'disconnect') this.#lose('disconnected');
    else if (command.kind === 'worker-request') {
      if (verdict === 'accept') this.#run(this.#slot.take(command));
      else this.#out.report({ code: 'request-dropped', reason: this.#state === 'leaving' ? 'leaving' : 'busy' });
    }
  }

  get #state(): keyof typeof LEGALITY {
    return this.#leaving !== undefined && !this.#options.drainFinishes ? 'leaving' : this.#slot.load;
  }

  /** True for a message with our header, even if the rest is invalid. Counts what cannot be acted upon. */
  #isLife(command: MdpToWorker): boolean {
    if (command.kind === 'malformed') {
      this.#out.report({ code: 'message-dropped', reason: command.reason });
      return command.side === 'worker';
    }
    if (command.version === this.#options.version) return true;
    this.#out.report({ code: 'message-dropped', reason: 'wrong-version' });
    return false;
  }

  /** If it was a request, the broker would consider us busy with it for ever: only a new conversation frees it. */
  #rejected(socket: number, reason: RejectReason): void {
    this.#out.report({ code: 'message-dropped', reason });
    if (reason !== 'no-frames' && this.#isCurrent(socket)) this.#lose('unreadable');
  }

  #run(job: Job<MdpWorkerRequest> | undefined): void {
    if (job === undefined) return;
    this.#quietAt = Infinity;
    this.#out.push({ kind: 'run', job: job.id, body: job.request.body, envelope: ENVELOPE });
  }

  /** 0.1 has no partial replies; there the host joins what a handler yields into its last reply. */
  #partial(id: number, body: Frames): void {
    const { version } = this.#options;
    const job = this.#slot.current;
    if (version === '0.1' || job?.id !== id) return;
    this.#out.send({ kind: 'worker-partial', version, client: job.request.client, body });
  }

  #final(id: number, body: Frames): void {
    const request = this.#slot.finish(id);
    if (request === undefined) this.#out.report({ code: 'result-discarded', job: id });
    else this.#out.send({ kind: 'worker-final', version: this.#options.version, client: request.client, body });
    this.#next();
  }

  /** MDP has no error reply: ending the conversation makes the broker send the request to another worker. */
  #failed(id: number): void {
    if (this.#slot.finish(id) === undefined) this.#next();
    else this.#leave(this.#leaving ?? 'handler-failed');
  }

  /** The handler is free. */
  #next(): void {
    if (this.#state !== 'leaving') this.#run(this.#slot.next());
    if (this.#slot.current === undefined) this.#leaveWhenIdle();
  }

  /** Nothing more may be sent on that socket, except a goodbye if the conversation is still open for the broker. */
  #lose(reason: LossReason): void {
    const { now } = this.#out;
    const { endpoint } = this.#connection;
    const isBelieved = reason === 'unreadable';
    if (isBelieved) this.#goodbye();
    this.#leaveConversation(isBelieved, reason);
    if (this.#leaving === 'drained') {
      this.#out.report({ code: 'lost', endpoint, reason });
      this.#end();
      return;
    }
    this.#leaving = undefined;
    const retryInMs = this.#connection.lost(now, TOLD.has(reason));
    this.#out.report({ code: 'lost', endpoint, reason, retryInMs });
    if (retryInMs === 0) this.#open();
  }

  #drain(): void {
    if (this.#leaving === 'drained') return;
    if (!this.#connection.isOpen) {
      this.#end();
      return;
    }
    this.#endProbe();
    this.#leaving = 'drained';
    this.#drainAt = this.#out.now + this.#options.drainMs;
    this.#leaveWhenIdle();
  }

  #leaveWhenIdle(): void {
    if (this.#leaving === undefined || this.#slot.current !== undefined) return;
    if (!this.#options.drainFinishes) this.#leave(this.#leaving);
    else if (this.#slot.waiting === 0) this.#quietAt = this.#out.now + this.#options.heartbeatIntervalMs;
  }

  #stop(reason: 'closed' | 'drain-timeout'): void {
    if (this.#connection.isOpen) this.#leave(reason);
    else this.#end();
  }

  /** Ends the conversation; the reason decides what follows. */
  #leave(reason: MdpWorkerLeaveReason): void {
    const { now } = this.#out;
    const { endpoint } = this.#connection;
    this.#goodbye();
    if (this.#slot.waiting > 0) this.#out.report({ code: 'request-dropped', reason: 'leaving' });
    this.#leaveConversation(true, reason === 'drain-timeout' ? reason : 'closed');
    this.#out.report({ code: 'left', endpoint, reason });
    this.#leaving = undefined;
    if (reason !== 'handler-failed' && reason !== 'first-answers') {
      this.#end();
      return;
    }
    this.#connection.left(now, reason === 'first-answers' ? 'first' : 'same');
    this.#open();
  }

  #goodbye(): void {
    if (this.#options.sayGoodbye) this.#out.send(this.#disconnect);
  }

  /** Forgets everything that belongs to the conversation, except its deadlines. */
  #leaveConversation(flush: boolean, reason: CancelReason): void {
    this.#out.close(flush);
    const job = this.#slot.abandon();
    if (job !== undefined) this.#out.push({ kind: 'cancel', job, reason });
    this.#quietAt = this.#drainAt = Infinity;
    this.#endProbe();
  }

  #end(): void {
    this.#phase = 'ended';
    this.#leaving = undefined;
    this.#connection.stop();
    this.#out.push({ kind: 'ended' });
  }

  #timer(lateMs: number): void {
    const { now } = this.#out;
    this.#connection.credit(lateMs, now);
    if (this.#drainAt <= now) this.#stop('drain-timeout');
    this.#connection.act(now, this.#due);
    if (this.#quietAt <= now && this.#leaving !== undefined) this.#leave(this.#leaving);
    if (this.#probe.deadline <= now) this.#probeFirst();
  }

  readonly #due: BrokerConnectionDue = {
    open: this.#open.bind(this),
    heartbeat: () => {
      this.#out.send(this.#heartbeat);
    },
    silent: this.#lose.bind(this, 'silent'),
  };

  #isCurrent(socket: number): boolean {
    return this.#connection.isOpen && socket === this.#out.socket;
  }

  /** True while another endpoint than the preferred one serves us. */
  get #mayReturn(): boolean {
    return this.#options.preferFirst && this.#connection.isOpen && !this.#connection.isHome;
  }

  #probeFirst(): void {
    this.#endProbe();
    const socket = ++this.#sockets;
    this.#out.push({ kind: 'open', socket, endpoint: this.#options.endpoints[0] as string });
    this.#out.send(this.#heartbeat, socket);
    this.#probe.plan(this.#out.now, socket);
  }

  #endProbe(): void {
    const { socket } = this.#probe;
    if (socket !== undefined) this.#out.close(false, socket);
    this.#probe.stop();
  }

  #firstAnswers(): void {
    this.#endProbe();
    this.#leaving = 'first-answers';
    this.#leaveWhenIdle();
  }
}
