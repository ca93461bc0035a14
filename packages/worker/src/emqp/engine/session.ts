/** EventMQ job manager, the engine: every decision of one worker. Section 10 of docs/protocols/emqp.md. */
import { decodeEmqpHeaders, emqpTime } from '@proj/frames/emqp';
import type { EmqpQueue, EmqpRequest, EmqpResult, EmqpToWorker } from '@proj/frames/emqp';
import type { Engine, Entropy, RejectReason, TimerEvent } from '@proj/transport';
import { BrokerConnection } from '../../shared/broker-connection.js';
import type { BrokerConnectionDue } from '../../shared/broker-connection.js';
import type {
  EmqpFromJobManager,
  EmqpJobManagerDropReason,
  EmqpJobManagerEffect,
  EmqpJobManagerEvent,
  EmqpJobManagerNote,
  EmqpJobManagerStats,
  EmqpLeaveReason,
  EmqpLossReason,
  EmqpRequestRefusal,
} from './events.js';
import { JobSlots, toResult, wantsReply } from './slots.js';
import type { Job, SlotsOptions } from './slots.js';

/** Settings of an {@link EmqpJobManagerSession}; options.ts of this folder has the defaults. Times in milliseconds. */
export interface EmqpJobManagerSessionOptions extends Omit<SlotsOptions, 'graceMs'> {
  /** Backends of brokers, in order of preference; at least one. */
  readonly endpoints: readonly string[];
  /** Where jobs come from; `undefined` leaves it to the broker. */
  readonly queues: readonly EmqpQueue[] | undefined;
  readonly heartbeatIntervalMs: number;
  /** Silence after which a broker counts as lost. More than `heartbeatIntervalMs`. */
  readonly brokerExpiryMs: number;
  /** How long INFORM may stay without ACK. */
  readonly ackTimeoutMs: number;
  readonly reconnectMinMs: number;
  readonly reconnectMaxMs: number;
  readonly minUptimeMs: number;
  /** How long running jobs are waited for after our farewell. */
  readonly killGraceMs: number;
  /** Largest result, in bytes: a broker would drop a larger one unread. */
  readonly resultMaxBytes: number;
  readonly byes: keyof typeof BYES;
  readonly onDisconnect: 'stop' | 'reconnect';
}

/** Our farewell: the text's word, then the product's. */
const BYES = { both: ['KBAI', 'KBYE'], kbai: ['KBAI'], kbye: ['KBYE'] } as const;

/** Losses that were told to us rather than concluded: the way back is tried at once. */
const TOLD: ReadonlySet<EmqpLossReason> = new Set<EmqpLossReason>(['peer-gone', 'unreadable', 'disconnected']);

const NOTHING: readonly EmqpJobManagerEffect[] = [];

/** A result that waits for a broker. */
type Held = Pick<EmqpResult, 'result' | 'of'>;

/**
 * A job manager as a deterministic machine: one conversation at a time, and the jobs, which outlive it. A free slot is
 * announced once per conversation; a result goes to the connection that brought the job while a broker that left still
 * listens there, else to the current one. A step costs O(1), but for an end, which costs O(jobs in hand).
 */
export class EmqpJobManagerSession implements Engine<EmqpJobManagerEvent, EmqpJobManagerEffect> {
  readonly #options: EmqpJobManagerSessionOptions;
  readonly #entropy: Entropy;
  readonly #link: BrokerConnection;
  readonly #slots: JobSlots;
  /** Jobs in hand by the connection that brought them. */
  readonly #jobsOf = new Map<number, number>();
  /** Connections whose broker said farewell; they stay for the results of their jobs. */
  readonly #lame = new Set<number>();
  readonly #held: Held[] = [];
  readonly #counts = { replies: 0, conversations: 0 };
  readonly #lost: Partial<Record<EmqpLossReason, number>> = {};
  readonly #dropped: Partial<Record<EmqpJobManagerDropReason | EmqpRequestRefusal, number>> = {};
  #effects: EmqpJobManagerEffect[] = [];
  #phase: 'new' | 'on' | 'leaving' | 'ended' = 'new';
  /** Number of the socket opened last, which is that of the conversation while one is open. */
  #socket = 0;
  /** Id of the INFORM without ACK, and until when it may stay so. */
  #inform: string | undefined;
  #ackBy = Infinity;
  #isRegistered = false;
  /** Slots the broker believes to be free. */
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
    this.#link = new BrokerConnection({ ...options, liveness }, () => entropy.random());
    this.#slots = new JobSlots(
      { ...options, graceMs: options.heartbeatIntervalMs },
      {
        effect: (effect) => this.#effects.push(effect),
        note: (note) => {
          this.#note(note);
        },
        finished: (job, result) => {
          this.#finished(job, result);
        },
        abandoned: (job) => {
          this.#abandoned(job);
        },
      },
    );
  }

  /** See {@link Engine.deadline}. */
  get deadline(): number {
    return Math.min(this.#link.deadline, this.#slots.deadline, this.#ackBy, this.#killAt, this.#giveUpAt);
  }

  /** Counters and gauges, as a copy. */
  get stats(): EmqpJobManagerStats {
    return {
      running: this.#slots.running,
      waiting: this.#slots.waiting,
      free: this.#slots.free,
      held: this.#held.length,
      ...this.#slots.counts,
      ...this.#counts,
      lost: { ...this.#lost },
      dropped: { ...this.#dropped },
    };
  }

  /** See {@link Engine.step}. */
  step(event: EmqpJobManagerEvent | TimerEvent, now: number): readonly EmqpJobManagerEffect[] {
    if (this.#phase === 'ended') return NOTHING;
    this.#on(event, now);
    if (this.#phase === 'on') this.#announce();
    else if (this.#phase === 'leaving') this.#endIfDone(now);
    if (this.#effects.length === 0) return NOTHING;
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  #on(event: EmqpJobManagerEvent | TimerEvent, now: number): void {
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
        else if (this.#lame.delete(event.socket)) this.#close(event.socket, false);
        break;
      case 'unsent':
        this.#counts.replies--;
        if (this.#isCurrent(event.socket)) this.#lose('undeliverable', now);
        else if (this.#lame.delete(event.socket)) this.#close(event.socket, false);
        this.#replyOrHold(event.reply);
        break;
      case 'up':
        this.#slots.up(event.slot, now);
        break;
      case 'gone':
        this.#slots.gone(event.slot, event.reason, now);
        break;
      case 'ran':
        this.#slots.ran(event.slot, event.job, event.outcome, event.result, now);
        break;
      case 'drain':
        this.#leave('drained', now);
        break;
      case 'close':
        this.#leave('closed', now);
        this.#patienceMs = 0;
        this.#giveUpAt = Infinity;
        this.#slots.end();
        break;
      case 'timer':
        this.#timer(event.lateMs, now);
        break;
    }
  }

  #open(now: number): void {
    this.#link.open(now);
    const { endpoint } = this.#link;
    this.#effects.push({ kind: 'open', socket: ++this.#socket, endpoint, identity: this.#entropy.uuid() });
    this.#inform = this.#entropy.uuid();
    this.#ackBy = now + this.#options.ackTimeoutMs;
    this.#send({ kind: 'inform-worker', id: this.#inform, queues: this.#options.queues });
  }

  /** Whatever a broker says, it is alive. */
  #message(command: EmqpToWorker, now: number): void {
    this.#link.heard(now);
    switch (command.kind) {
      case 'ack':
        if (command.of === this.#inform) this.#registered();
        break;
      case 'request':
        this.#request(command, now);
        break;
      case 'disconnect':
        if (this.#phase === 'on') this.#told(now);
        break;
      case 'bye':
        // Who has said farewell stays for its results.
        if (!this.#hasSaidBye) this.#lose('disconnected', now);
        break;
      case 'malformed':
        this.#dropMessage(command.reason);
        break;
      case 'heartbeat':
        break;
    }
  }

  #registered(): void {
    this.#inform = undefined;
    this.#ackBy = Infinity;
    this.#isRegistered = true;
    this.#counts.conversations++;
    this.#note({ code: 'registered', endpoint: this.#link.endpoint });
    for (const { result, of } of this.#held.splice(0)) this.#reply(this.#socket, result, of);
    if (this.#phase === 'leaving') this.#bye();
  }

  /** One above the slots is taken too, within a bound: the broker believes in it and would wait for ever. */
  #request(request: EmqpRequest, now: number): void {
    const { id, headers } = request;
    const { concurrency, queueMax } = this.#options;
    if (this.#phase === 'leaving') this.#refuse('leaving', id);
    else if (this.#slots.inHand + this.#held.length >= concurrency + queueMax) this.#refuse('full', id);
    else {
      if (this.#announced > 0) this.#announced--;
      const read = decodeEmqpHeaders(headers);
      if (read.invalid > 0) this.#note({ code: 'headers-invalid', id, items: read.invalid });
      this.#jobsOf.set(this.#socket, (this.#jobsOf.get(this.#socket) ?? 0) + 1);
      this.#slots.take(request, read, this.#socket, now);
    }
  }

  #refuse(reason: EmqpRequestRefusal, id: string): void {
    this.#dropped[reason] = (this.#dropped[reason] ?? 0) + 1;
    this.#note({ code: 'request-dropped', reason, id });
  }

  /** Had it been a REQUEST, the slot would count as taken for ever: only a new conversation frees it. */
  #rejected(reason: RejectReason, now: number): void {
    this.#link.heard(now);
    this.#dropMessage(reason);
    if (reason !== 'no-frames') this.#lose('unreadable', now);
  }

  /** DISCONNECT. */
  #told(now: number): void {
    if (this.#options.onDisconnect === 'stop') this.#leave('told', now);
    else {
      this.#bye();
      this.#lose('disconnected', now);
    }
  }

  #finished(job: Job, result: Uint8Array): void {
    this.#settled(job, wantsReply(job) ? this.#fitting(result) : undefined);
  }

  /** A job with `guarantee` or `retry-count` is left to the broker, who gives it to another worker. */
  #abandoned(job: Job): void {
    const { replyRequested, guarantee, retryCount } = job.headers;
    const text = 'the job manager stopped before the job had ended';
    this.#settled(job, replyRequested && !guarantee && retryCount === 0 ? toResult(text) : undefined);
  }

  #settled({ socket, id }: Job, result: Uint8Array | undefined): void {
    if (result !== undefined) {
      if (this.#lame.has(socket)) this.#reply(socket, result, id);
      else this.#replyOrHold({ result, of: id });
    }
    const left = (this.#jobsOf.get(socket) ?? 0) - 1;
    if (left > 0) {
      this.#jobsOf.set(socket, left);
      return;
    }
    this.#jobsOf.delete(socket);
    if (this.#lame.delete(socket)) this.#close(socket, true);
  }

  #fitting(result: Uint8Array): Uint8Array {
    const { resultMaxBytes } = this.#options;
    if (result.length <= resultMaxBytes) return result;
    return toResult(`result of ${result.length} bytes: allowed are ${resultMaxBytes}`);
  }

  #replyOrHold({ result, of }: Held): void {
    if (this.#isRegistered) this.#reply(this.#socket, result, of);
    else this.#held.push({ result, of });
  }

  #reply(socket: number, result: Uint8Array, of: string | undefined): void {
    this.#counts.replies++;
    const command = { kind: 'result', id: this.#entropy.uuid(), result, of } as const;
    this.#effects.push({ kind: 'send', socket, command });
  }

  /** One READY per slot that is free and that the broker does not know to be. */
  #announce(): void {
    if (!this.#isRegistered) return;
    for (; this.#announced < this.#slots.free; this.#announced++)
      this.#send({ kind: 'ready', id: this.#entropy.uuid() });
  }

  /** The conversation is over. Jobs go on. */
  #lose(reason: EmqpLossReason, now: number): void {
    const { endpoint } = this.#link;
    const socket = this.#socket;
    // A broker that said farewell still takes results. Who does not read may get what it was given later.
    if (reason === 'disconnected' && this.#jobsOf.has(socket)) this.#lame.add(socket);
    else this.#close(socket, reason === 'disconnected' || reason === 'undeliverable');
    this.#forgetConversation();
    const retryInMs = this.#link.lost(now, TOLD.has(reason));
    this.#lost[reason] = (this.#lost[reason] ?? 0) + 1;
    this.#note({ code: 'lost', endpoint, reason, retryInMs });
    if (retryInMs === 0) this.#open(now);
  }

  #forgetConversation(): void {
    this.#inform = undefined;
    this.#ackBy = Infinity;
    this.#isRegistered = false;
    this.#announced = 0;
  }

  #leave(reason: EmqpLeaveReason, now: number): void {
    if (this.#phase === 'leaving') return;
    const isOn = this.#phase === 'on';
    this.#phase = 'leaving';
    this.#killAt = now + this.#options.killGraceMs;
    if (isOn && this.#isRegistered) this.#bye();
    if (isOn) this.#note({ code: 'left', endpoint: this.#link.endpoint, reason });
  }

  #bye(): void {
    for (const word of BYES[this.#options.byes]) this.#send({ kind: 'bye', id: this.#entropy.uuid(), word });
  }

  /** After our farewell: nothing runs, and no result waits, or has waited long enough. */
  #endIfDone(now: number): void {
    if (this.#slots.inHand > 0) return;
    this.#killAt = Infinity;
    if (this.#giveUpAt === Infinity) this.#giveUpAt = now + this.#patienceMs;
    if (this.#held.length > 0 && now < this.#giveUpAt) return;
    if (this.#link.isOpen) this.#close(this.#socket, true);
    this.#forgetConversation();
    this.#held.length = 0;
    this.#link.stop();
    this.#giveUpAt = Infinity;
    this.#phase = 'ended';
    this.#effects.push({ kind: 'ended' });
  }

  #timer(lateMs: number, now: number): void {
    const isLate = lateMs > this.#options.heartbeatIntervalMs;
    this.#link.credit(lateMs, now);
    if (isLate && this.#ackBy < Infinity) this.#ackBy = Math.max(this.#ackBy, now + 1);
    this.#slots.timer(isLate, now);
    if (this.#killAt <= now) {
      this.#killAt = Infinity;
      this.#slots.end();
    }
    if (this.#ackBy <= now) this.#lose('no-ack', now);
    for (let due = this.#link.takeDue(now); due !== undefined; due = this.#link.takeDue(now)) this.#due(due, now);
  }

  #due(due: BrokerConnectionDue, now: number): void {
    switch (due) {
      case 'open':
        this.#open(now);
        break;
      case 'heartbeat':
        this.#beat();
        break;
      case 'silent':
        // To whom has said farewell nobody says anything.
        if (this.#hasSaidBye) this.#link.heard(now);
        else this.#lose('silent', now);
        break;
    }
  }

  /** After our farewell it tells that REPLYs are still to be expected. */
  #beat(): void {
    if (!this.#isRegistered || (this.#hasSaidBye && !this.#slots.owesReply)) return;
    this.#send({ kind: 'heartbeat', id: this.#entropy.uuid(), time: emqpTime(this.#entropy.wallMicros()) });
  }

  get #hasSaidBye(): boolean {
    return this.#phase === 'leaving' && this.#isRegistered;
  }

  #isCurrent(socket: number): boolean {
    return this.#link.isOpen && socket === this.#socket;
  }

  #dropMessage(reason: EmqpJobManagerDropReason): void {
    this.#dropped[reason] = (this.#dropped[reason] ?? 0) + 1;
    this.#note({ code: 'message-dropped', reason });
  }

  #close(socket: number, flush: boolean): void {
    this.#effects.push({ kind: 'close', socket, flush });
  }

  #send(command: EmqpFromJobManager): void {
    this.#effects.push({ kind: 'send', socket: this.#socket, command });
  }

  #note(note: EmqpJobManagerNote): void {
    this.#effects.push({ kind: 'note', note });
  }

  /** See {@link Engine.assertInvariants}. */
  assertInvariants(): void {
    const check = (holds: boolean, what: string): void => {
      if (!holds) throw new Error(`EmqpJobManagerSession: ${what}`);
    };
    const isOn = this.#phase === 'on' || (this.#phase === 'leaving' && this.#socket > 0);
    this.#link.assertInvariants(!isOn);
    this.#slots.assertInvariants();
    check(this.#effects.length === 0, 'effects are left over from the last step');
    check(!this.#isRegistered || this.#link.isOpen, 'registered without a connection');
    check(
      (this.#inform === undefined) === (this.#ackBy === Infinity),
      'INFORM without limit, or a limit without INFORM',
    );
    check(this.#link.isOpen === (this.#isRegistered || this.#inform !== undefined), 'a connection without INFORM');
    check(this.#held.length === 0 || !this.#isRegistered, 'a result is held back');
    check(
      this.#phase !== 'on' || !this.#isRegistered || this.#announced >= this.#slots.free,
      'a free slot is not announced',
    );
    let jobs = 0;
    for (const [socket, count] of this.#jobsOf) {
      check(count > 0 && socket <= this.#socket, `socket ${socket} has ${count} jobs`);
      jobs += count;
    }
    check(jobs === this.#slots.inHand, 'jobs in hand are miscounted');
    for (const socket of this.#lame) check(this.#jobsOf.has(socket), `socket ${socket} is open for nobody`);
    check(
      this.#phase !== 'ended' || (this.deadline === Infinity && jobs === 0 && this.#held.length === 0),
      'something is left after the end',
    );
  }
}
