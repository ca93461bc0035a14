/** EventMQ scheduler, the engine: one conversation with one broker at a time, and the jobs, which outlive it. Section 11 of docs/protocols/emqp.md. */
import { emqpTime } from '@proj/frames/emqp';
import type { EmqpToScheduler } from '@proj/frames/emqp';
import type { Engine, Entropy, TimerEvent } from '@proj/transport';
import { BrokerConnection } from './broker-connection.js';
import type { BrokerConnectionDue, BrokerConnectionOptions } from './broker-connection.js';
import type {
  EmqpFromScheduler,
  EmqpSchedulerStats,
  SchedulerDropReason,
  SchedulerEffect,
  SchedulerEvent,
  SchedulerLoss,
  SchedulerNote,
  SchedulerTools,
} from './events.js';
import { ScheduledJobs } from './job-table.js';
import type { ScheduledJobsOptions } from './job-table.js';
import type { ScheduledJob } from './timetable.js';

/** Settings of an {@link EmqpSchedulerEngine}; options.ts has the defaults. Times in milliseconds. */
export interface EmqpSchedulerEngineOptions extends BrokerConnectionOptions, ScheduledJobsOptions {
  readonly byes: keyof typeof BYES;
  /** How long a drain waits for the disk. */
  readonly drainMs: number;
}

/** Our farewell: the text's word, then the product's. */
const BYES = { both: ['KBAI', 'KBYE'], kbai: ['KBAI'], kbye: ['KBYE'] } as const;

/** Losses that were told to us rather than concluded: the way back is tried at once. */
const TOLD: ReadonlySet<SchedulerLoss> = new Set<SchedulerLoss>(['peer-gone', 'disconnected']);

const NOTHING: readonly SchedulerEffect[] = [];

/** A scheduler as a deterministic machine. A step costs O(log jobs), but for an ACK and a clock that jumps, which cost O(jobs). */
export class EmqpSchedulerEngine implements Engine<SchedulerEvent, SchedulerEffect> {
  readonly #options: EmqpSchedulerEngineOptions;
  readonly #entropy: Entropy;
  readonly #link: BrokerConnection;
  readonly #jobs: ScheduledJobs;
  /** REQUESTs that the transport has not taken over yet, by id. */
  readonly #outgoing = new Map<string, ScheduledJob>();
  readonly #counts = { accepted: 0, results: 0, conversations: 0 };
  readonly #lost: Partial<Record<SchedulerLoss, number>> = {};
  readonly #dropped: Partial<Record<SchedulerDropReason, number>> = {};
  #effects: SchedulerEffect[] = [];
  #phase: 'new' | 'on' | 'leaving' | 'ended' = 'new';
  /** Why we leave. */
  #leaving: 'drained' | 'told' = 'drained';
  #drainAt = Infinity;
  /** Number of the socket opened last, which is that of the conversation while one is open. */
  #socket = 0;
  /** Id of the INFORM. */
  #inform = '';

  constructor(options: EmqpSchedulerEngineOptions, tools: SchedulerTools, entropy: Entropy) {
    this.#options = options;
    this.#entropy = entropy;
    this.#link = new BrokerConnection(options, () => entropy.random());
    this.#jobs = new ScheduledJobs(options, tools, entropy, {
      effect: (effect) => this.#effects.push(effect),
      send: (job) => this.#request(job),
    });
  }

  /** See {@link Engine.deadline}. */
  get deadline(): number {
    return Math.min(this.#link.deadline, this.#jobs.deadline, this.#drainAt);
  }

  /** Counters and gauges, as a copy. */
  get stats(): EmqpSchedulerStats {
    return {
      ...this.#jobs.stats,
      registered: this.#link.isRegistered,
      ...this.#counts,
      lost: { ...this.#lost },
      dropped: { ...this.#dropped },
    };
  }

  /** See {@link Engine.step}. */
  step(event: SchedulerEvent | TimerEvent, now: number): readonly SchedulerEffect[] {
    if (this.#phase === 'ended') return NOTHING;
    this.#on(event, now);
    if (this.#phase === 'leaving' && (!this.#jobs.isWriting || this.#drainAt <= now)) this.#leave(this.#leaving);
    if (this.#effects.length === 0) return NOTHING;
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  /** See {@link Engine.assertInvariants}. */
  assertInvariants(): void {
    this.#link.assertInvariants();
    this.#jobs.assertInvariants();
    const check = (holds: boolean, what: string): void => {
      if (!holds) throw new Error(`EmqpSchedulerEngine: ${what}`);
    };
    const on = this.#phase === 'on' || this.#phase === 'leaving';
    check(on || this.deadline === Infinity, 'something is due before the start or after the end');
    check(this.#effects.length === 0, 'effects are left over from the last step');
    check(this.#jobs.held === 0 || !this.#link.isRegistered, 'a run waits although there is a broker');
    check(this.#drainAt === Infinity || this.#phase === 'leaving', 'an end is due that nobody wished');
  }

  #on(event: SchedulerEvent | TimerEvent, now: number): void {
    switch (event.kind) {
      case 'start':
        if (this.#phase !== 'new') return;
        this.#phase = 'on';
        this.#jobs.load(event.records, now);
        this.#open(now);
        break;
      case 'message':
        if (this.#isCurrent(event.socket)) this.#message(event.command, now);
        break;
      case 'rejected':
        if (this.#isCurrent(event.socket)) {
          this.#link.heard(now);
          this.#drop(event.reason);
        }
        break;
      case 'lost':
        if (this.#isCurrent(event.socket)) this.#lose(event.reason, now);
        break;
      case 'sent':
        this.#outgoing.delete(event.id);
        break;
      case 'unsent':
        this.#unsent(event.id, now);
        break;
      case 'stored':
        this.#jobs.stored(event.write, event.error, now);
        break;
      case 'drain':
        this.#drain('drained', now);
        break;
      case 'close':
        this.#leave('closed');
        break;
      case 'timer':
        this.#link.credit(event.lateMs, now);
        for (let due = this.#link.takeDue(now); due !== undefined; due = this.#link.takeDue(now)) this.#due(due, now);
        this.#jobs.takeDue(now);
        break;
    }
  }

  #open(now: number): void {
    this.#link.open(now);
    const { endpoint } = this.#link;
    this.#effects.push({ kind: 'open', socket: ++this.#socket, endpoint, identity: this.#entropy.uuid() });
    this.#inform = this.#entropy.uuid();
    this.#send({ kind: 'inform-scheduler', id: this.#inform });
  }

  /** Whatever a broker says, it is alive; but anybody who asks gets a REPLY, also who is forgotten and hears nothing else any more. */
  #message(command: EmqpToScheduler, now: number): void {
    if (command.kind !== 'accepted' && command.kind !== 'result') this.#link.heard(now);
    switch (command.kind) {
      case 'ack':
        if (command.of === this.#inform && !this.#link.isRegistered) this.#registered(now);
        break;
      case 'schedule':
        if (this.#phase === 'leaving') this.#jobs.refuse('leaving', command.queue);
        else this.#jobs.schedule(command, now);
        break;
      case 'unschedule':
        this.#jobs.unschedule(command);
        break;
      case 'accepted':
        this.#counts.accepted++;
        break;
      case 'result':
        this.#counts.results++;
        break;
      case 'disconnect':
        this.#drain('told', now);
        break;
      case 'bye':
        this.#lose('disconnected', now);
        break;
      case 'malformed':
        this.#drop(command.reason);
        break;
      case 'heartbeat':
        break;
    }
  }

  #registered(now: number): void {
    this.#link.registered(now);
    this.#counts.conversations++;
    this.#note({ code: 'registered', endpoint: this.#link.endpoint, held: this.#jobs.held });
    this.#jobs.release();
  }

  #request(job: ScheduledJob): boolean {
    if (!this.#link.isRegistered) return false;
    const { queue, headers, body } = job;
    const id = this.#entropy.uuid();
    this.#outgoing.set(id, job);
    this.#send({ kind: 'request', id, queue, headers, body });
    return true;
  }

  #unsent(id: string, now: number): void {
    // All that is on its way out waits for the next conversation then.
    if (this.#outgoing.has(id)) this.#lose('undeliverable', now);
  }

  #lose(reason: SchedulerLoss, now: number): void {
    const { endpoint } = this.#link;
    const flush = reason === 'disconnected';
    this.#effects.push({ kind: 'close', socket: this.#socket, flush });
    const outgoing = [...this.#outgoing.values()];
    this.#outgoing.clear();
    const retryInMs = this.#link.lost(now, TOLD.has(reason));
    this.#lost[reason] = (this.#lost[reason] ?? 0) + 1;
    this.#note({ code: 'lost', endpoint, reason, retryInMs });
    // What the transport had not taken over yet will not go out, unless it is flushed.
    if (!flush) for (const job of outgoing) this.#jobs.unsent(job);
    if (this.#phase === 'leaving') this.#link.stop();
    else if (retryInMs === 0) this.#open(now);
  }

  /** What is being written ends first, and its runs are sent. */
  #drain(reason: 'drained' | 'told', now: number): void {
    if (this.#phase !== 'on') {
      if (this.#phase === 'new') this.#leave(reason);
      return;
    }
    this.#phase = 'leaving';
    this.#leaving = reason;
    this.#drainAt = now + this.#options.drainMs;
    this.#jobs.stop();
    if (!this.#link.isOpen) this.#link.stop();
  }

  #leave(reason: 'drained' | 'closed' | 'told'): void {
    this.#jobs.stop();
    if (this.#link.isOpen) {
      if (this.#link.isRegistered)
        for (const word of BYES[this.#options.byes]) this.#send({ kind: 'bye', id: this.#entropy.uuid(), word });
      this.#effects.push({ kind: 'close', socket: this.#socket, flush: true });
      this.#note({ code: 'left', endpoint: this.#link.endpoint, reason });
    }
    this.#link.stop();
    this.#drainAt = Infinity;
    this.#phase = 'ended';
    this.#effects.push({ kind: 'ended' });
  }

  #due(due: BrokerConnectionDue, now: number): void {
    switch (due) {
      case 'open':
        this.#open(now);
        break;
      case 'heartbeat':
        this.#send({ kind: 'heartbeat', id: this.#entropy.uuid(), time: emqpTime(this.#entropy.wallMicros()) });
        break;
      case 'silent':
      case 'no-ack':
        this.#lose(due, now);
        break;
    }
  }

  #isCurrent(socket: number): boolean {
    return this.#link.isOpen && socket === this.#socket;
  }

  #drop(reason: SchedulerDropReason): void {
    this.#dropped[reason] = (this.#dropped[reason] ?? 0) + 1;
    this.#note({ code: 'message-dropped', reason });
  }

  #send(command: EmqpFromScheduler): void {
    this.#effects.push({ kind: 'send', socket: this.#socket, command });
  }

  #note(note: SchedulerNote): void {
    this.#effects.push({ kind: 'note', note });
  }
}
