/**
 * EventMQ job manager: every decision of one worker. The rules are those of docs/protocols/emqp.md, section "Job manager".
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 1 | routing ids | session.ts |
 * | 2 | INFORM, ACK, READY | session.ts, legality.ts |
 * | 3 | slots and processes | slots.ts, job-pool.ts, job-host.ts |
 * | 4 | which jobs are answered | state.ts, replies.ts |
 * | 5 | what a job names | job-process.mjs |
 * | 6 | arguments and results | job-process.mjs, frames/src/emqp/job.ts |
 * | 7 | retries | slots.ts |
 * | 8 | time limits | slots.ts, job-pool.ts |
 * | 9 | processes that die | slots.ts, job-pool.ts, job-process.mjs |
 * | 10 | heartbeats, a silent broker | session.ts, shared/broker-connection.ts, replies.ts |
 * | 11 | draining | session.ts, slots.ts |
 * | 12 | DISCONNECT and farewells | session.ts, legality.ts, replies.ts |
 * | 13 | REQUESTs beyond the slots | session.ts, slots.ts |
 */
import { decodeEmqpHeaders, emqpTime } from '@proj/frames/emqp';
import type { EmqpQueue, EmqpRequest, EmqpToWorker } from '@proj/frames/emqp';
import type { Engine, Entropy, RejectReason, TimerEvent } from '@proj/transport';
import { BrokerConnection } from '../../shared/broker-connection.js';
import type { BrokerConnectionDue } from '../../shared/broker-connection.js';
import { TOLD } from '../../shared/events.js';
import { checksOf } from '../../shared/invariants.js';
import { SessionOutput } from '../../shared/output.js';
import type { EmqpJobManagerSettings } from '../options.js';
import type {
  EmqpFromJobManager,
  EmqpJobEffect,
  EmqpJobManagerDropReason,
  EmqpJobManagerEffect,
  EmqpJobManagerEvent,
  EmqpJobManagerNote,
  EmqpJobManagerStats,
  EmqpLeaveReason,
  EmqpLossReason,
  EmqpRequestRefusal,
} from './events.js';
import { LEGALITY } from './legality.js';
import { Replies } from './replies.js';
import { JobSlots } from './slots.js';
import type { SlotsOptions } from './slots.js';

/** Settings of an {@link EmqpJobManagerSession}; options.ts explains them. */
export interface EmqpJobManagerSessionOptions
  extends
    SlotsOptions,
    Pick<
      EmqpJobManagerSettings,
      'endpoints' | 'brokerExpiryMs' | 'ackTimeoutMs' | 'killGraceMs' | 'byes' | 'onDisconnect' | 'minUptimeMs'
    > {
  readonly reconnectMinMs: number;
  readonly reconnectMaxMs: number;
  /** The queues to take jobs from; `undefined` leaves it to the broker. */
  readonly queues: readonly EmqpQueue[] | undefined;
  /** Largest result, in bytes: a broker would drop a larger one unread. */
  readonly resultMaxBytes: number;
}

/** Our farewell: the specification's word, then the product's. */
const BYES = { both: ['KBAI', 'KBYE'], kbai: ['KBAI'], kbye: ['KBYE'] } as const;

const check = checksOf('EmqpJobManagerSession');

/**
 * A job manager as a deterministic state machine: one conversation at a time, and jobs, which outlive it. A free slot is announced once per
 * conversation. A step costs O(1), except the end, which costs O(jobs).
 */
export class EmqpJobManagerSession implements Engine<EmqpJobManagerEvent, EmqpJobManagerEffect> {
  readonly #options: EmqpJobManagerSessionOptions;
  readonly #entropy: Entropy;
  readonly #out = new SessionOutput<EmqpFromJobManager, EmqpJobManagerNote, EmqpJobEffect>();
  readonly #connection: BrokerConnection;
  readonly #replies: Replies;
  readonly #slots: JobSlots;
  readonly #lost: Partial<Record<EmqpLossReason, number>> = {};
  readonly #dropped: Partial<Record<EmqpJobManagerDropReason | EmqpRequestRefusal, number>> = {};
  #conversations = 0;
  #phase: 'new' | 'on' | 'leaving' | 'ended' = 'new';
  /** Id of the INFORM without ACK, and its time limit. */
  #inform: string | undefined;
  #ackBy = Infinity;
  /** Slots that the broker considers free. */
  #announced = 0;
  /** When running jobs are killed; then, when held results are given up. */
  #killAt = Infinity;
  #giveUpAt = Infinity;
  /** How long results may wait for a broker when nothing else is left to do. */
  #patienceMs: number;

  constructor(options: EmqpJobManagerSessionOptions, entropy: Entropy) {
    this.#options = options;
    this.#entropy = entropy;
    this.#patienceMs = options.ackTimeoutMs;
    const liveness = options.brokerExpiryMs / options.heartbeatIntervalMs;
    this.#connection = new BrokerConnection({ ...options, liveness }, () => entropy.random());
    this.#replies = new Replies(this.#out, entropy, options.resultMaxBytes);
    this.#slots = new JobSlots(options, this.#out, this.#replies);
  }

  get deadline(): number {
    return Math.min(this.#connection.deadline, this.#slots.deadline, this.#ackBy, this.#killAt, this.#giveUpAt);
  }

  /** A copy of the counters and gauges. */
  get stats(): EmqpJobManagerStats {
    return {
      running: this.#slots.running,
      waiting: this.#slots.waiting,
      free: this.#slots.free,
      held: this.#replies.held,
      ...this.#slots.counts,
      replies: this.#replies.sent,
      conversations: this.#conversations,
      lost: { ...this.#lost },
      dropped: { ...this.#dropped },
    };
  }

  step(event: EmqpJobManagerEvent | TimerEvent, now: number): readonly EmqpJobManagerEffect[] {
    this.#out.begin(now);
    if (this.#phase === 'ended') return this.#out.effects;
    this.#on(event);
    if (this.#phase === 'on') this.#announce();
    else if (this.#phase === 'leaving') this.#endIfDone();
    return this.#out.effects;
  }

  assertInvariants(): void {
    const isOn = this.#phase === 'on' || (this.#phase === 'leaving' && this.#out.socket > 0);
    const { isOpen } = this.#connection;
    const { isRegistered } = this.#replies;
    this.#connection.assertInvariants(!isOn);
    this.#slots.assertInvariants();
    this.#replies.assertInvariants(check, this.#slots.inHand);
    check(!isRegistered || isOpen, 'registered without a connection');
    check((this.#inform === undefined) === (this.#ackBy === Infinity), 'INFORM and its limit do not go together');
    check(isOpen === (isRegistered || this.#inform !== undefined), 'a connection without INFORM');
    const isAnnounced = this.#phase !== 'on' || !isRegistered || this.#announced >= this.#slots.free;
    check(isAnnounced, 'a free slot is not announced');
    const isOver = this.deadline === Infinity && this.#slots.inHand === 0 && this.#replies.held === 0;
    check(this.#phase !== 'ended' || isOver, 'something is left after the end');
  }

  #on(event: EmqpJobManagerEvent | TimerEvent): void {
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
        this.#lostSocket(event.socket, event.reason);
        break;
      case 'unsent':
        this.#lostSocket(event.socket, 'undeliverable');
        this.#replies.unsent(event.reply);
        break;
      case 'up':
        this.#slots.up(event.slot);
        break;
      case 'gone':
        this.#slots.gone(event.slot, event.reason);
        break;
      case 'ran':
        this.#slots.ran(event.slot, event.job, event.outcome, event.result);
        break;
      case 'drain':
        this.#leave('drained');
        break;
      case 'close':
        this.#leave('closed');
        this.#patienceMs = 0;
        this.#giveUpAt = Infinity;
        this.#slots.end();
        break;
      case 'timer':
        this.#timer(event.lateMs);
        break;
    }
  }

  #open(): void {
    const { now } = this.#out;
    const { endpoint } = this.#connection;
    this.#connection.open(now);
    this.#out.push({ kind: 'open', socket: ++this.#out.socket, endpoint, identity: this.#entropy.uuid() });
    this.#inform = this.#entropy.uuid();
    this.#ackBy = now + this.#options.ackTimeoutMs;
    this.#out.send({ kind: 'inform-worker', id: this.#inform, queues: this.#options.queues });
  }

  #message(state: keyof typeof LEGALITY, command: EmqpToWorker): void {
    const [verdict] = LEGALITY[state][command.kind];
    if (verdict === 'ignore') return;
    this.#connection.heard(this.#out.now);
    if (command.kind === 'malformed') this.#dropMessage(command.reason);
    else if (command.kind === 'request') {
      if (verdict === 'drop') this.#refuse('leaving', command.id);
      else this.#request(command);
    } else if (verdict === 'accept') {
      if (command.kind === 'ack' && command.of === this.#inform) this.#registered();
      else if (command.kind === 'disconnect') this.#told();
      else if (command.kind === 'bye') this.#lose('disconnected');
    }
  }

  get #state(): keyof typeof LEGALITY {
    if (this.#phase === 'leaving') return this.#replies.isRegistered ? 'said-bye' : 'leaving';
    return this.#replies.isRegistered ? 'registered' : 'informing';
  }

  #registered(): void {
    this.#inform = undefined;
    this.#ackBy = Infinity;
    this.#replies.isRegistered = true;
    this.#conversations++;
    this.#out.report({ code: 'registered', endpoint: this.#connection.endpoint });
    this.#replies.sendHeld();
    if (this.#phase === 'leaving') this.#bye();
  }

  /** Requests beyond the slots are accepted too, within a limit: the broker believes they run and would wait for ever. */
  #request(request: EmqpRequest): void {
    const { id, headers } = request;
    const { concurrency, queueMax } = this.#options;
    if (this.#slots.inHand + this.#replies.held >= concurrency + queueMax) {
      this.#refuse('full', id);
      return;
    }
    if (this.#announced > 0) this.#announced--;
    const read = decodeEmqpHeaders(headers);
    if (read.invalid > 0) this.#out.report({ code: 'headers-invalid', id, items: read.invalid });
    this.#slots.take(request, read);
  }

  #refuse(reason: EmqpRequestRefusal, id: string): void {
    this.#dropped[reason] = (this.#dropped[reason] ?? 0) + 1;
    this.#out.report({ code: 'request-dropped', reason, id });
  }

  /** If it was a REQUEST, the slot would count as taken for ever: only a new conversation frees it. */
  #rejected(reason: RejectReason): void {
    this.#connection.heard(this.#out.now);
    this.#dropMessage(reason);
    if (reason !== 'no-frames') this.#lose('unreadable');
  }

  /** DISCONNECT. */
  #told(): void {
    if (this.#options.onDisconnect === 'stop') this.#leave('told');
    else {
      this.#bye();
      this.#lose('disconnected');
    }
  }

  /** Sends one READY per free slot that the broker does not know to be free. */
  #announce(): void {
    if (!this.#replies.isRegistered) return;
    for (; this.#announced < this.#slots.free; this.#announced++)
      this.#out.send({ kind: 'ready', id: this.#entropy.uuid() });
  }

  #lostSocket(socket: number, reason: EmqpLossReason): void {
    if (this.#isCurrent(socket)) this.#lose(reason);
    else this.#replies.lost(socket);
  }

  /** The conversation has ended. Jobs continue. */
  #lose(reason: EmqpLossReason): void {
    const { endpoint } = this.#connection;
    // A broker that said farewell still accepts results. One that does not read may later get what it was already sent.
    const isLeaving = reason === 'disconnected';
    if (!isLeaving || !this.#replies.keepOpen()) this.#out.close(isLeaving || reason === 'undeliverable');
    this.#forgetConversation();
    const retryInMs = this.#connection.lost(this.#out.now, TOLD.has(reason));
    this.#lost[reason] = (this.#lost[reason] ?? 0) + 1;
    this.#out.report({ code: 'lost', endpoint, reason, retryInMs });
    if (retryInMs === 0) this.#open();
  }

  #forgetConversation(): void {
    this.#inform = undefined;
    this.#ackBy = Infinity;
    this.#replies.isRegistered = false;
    this.#announced = 0;
  }

  #leave(reason: EmqpLeaveReason): void {
    if (this.#phase === 'leaving') return;
    const isOn = this.#phase === 'on';
    this.#phase = 'leaving';
    this.#killAt = this.#out.now + this.#options.killGraceMs;
    if (isOn && this.#replies.isRegistered) this.#bye();
    if (isOn) this.#out.report({ code: 'left', endpoint: this.#connection.endpoint, reason });
  }

  #bye(): void {
    for (const word of BYES[this.#options.byes]) this.#out.send({ kind: 'bye', id: this.#entropy.uuid(), word });
  }

  /** After our farewell: ends when nothing runs and no result waits, or has waited long enough. */
  #endIfDone(): void {
    const { now } = this.#out;
    if (this.#slots.inHand > 0) return;
    this.#killAt = Infinity;
    if (this.#giveUpAt === Infinity) this.#giveUpAt = now + this.#patienceMs;
    if (this.#replies.held > 0 && now < this.#giveUpAt) return;
    if (this.#connection.isOpen) this.#out.close(true);
    this.#forgetConversation();
    this.#replies.dropHeld();
    this.#connection.stop();
    this.#giveUpAt = Infinity;
    this.#phase = 'ended';
    this.#out.push({ kind: 'ended' });
  }

  #timer(lateMs: number): void {
    const { now } = this.#out;
    const isLate = lateMs > this.#options.heartbeatIntervalMs;
    this.#connection.credit(lateMs, now);
    if (isLate && this.#ackBy < Infinity) this.#ackBy = Math.max(this.#ackBy, now + 1);
    this.#slots.timer(isLate);
    if (this.#killAt <= now) {
      this.#killAt = Infinity;
      this.#slots.end();
    }
    if (this.#ackBy <= now) this.#lose('no-ack');
    this.#connection.act(now, this.#due);
  }

  readonly #due: BrokerConnectionDue = {
    open: this.#open.bind(this),
    heartbeat: this.#beat.bind(this),
    silent: () => {
      // Nobody sends to a worker that has said farewell.
      if (this.#state === 'said-bye') this.#connection.heard(this.#out.now);
      else this.#lose('silent');
    },
  };

  /** After our farewell it tells the broker to expect further REPLYs. */
  #beat(): void {
    if (!this.#replies.isRegistered || (this.#phase === 'leaving' && !this.#slots.owesReply)) return;
    this.#out.send({ kind: 'heartbeat', id: this.#entropy.uuid(), time: emqpTime(this.#entropy.wallMicros()) });
  }

  #isCurrent(socket: number): boolean {
    return this.#connection.isOpen && socket === this.#out.socket;
  }

  #dropMessage(reason: EmqpJobManagerDropReason): void {
    this.#dropped[reason] = (this.#dropped[reason] ?? 0) + 1;
    this.#out.report({ code: 'message-dropped', reason });
  }
}
