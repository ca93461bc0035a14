/**
 * EventMQ scheduler, the engine: one conversation with one broker at a time, and jobs, which outlive it. The rules are those of
 * docs/protocols/emqp.md, section "Scheduler".
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 1 | the broker | broker-connection.ts, engine.ts, legality.ts |
 * | 2 | jobs in the store | job-table.ts, records.ts |
 * | 3 | identity of a job | schedule-command.ts |
 * | 4 | SCHEDULE and UNSCHEDULE | job-table.ts |
 * | 5 | intervals and cron | timetable.ts, cron.ts, schedule-command.ts |
 * | 6 | what is sent | schedule-command.ts |
 * | 7 | runs that were missed | timetable.ts |
 * | 8 | no broker | job-table.ts, legality.ts |
 */
import { emqpTime } from '@proj/frames/emqp';
import type { EmqpToScheduler } from '@proj/frames/emqp';
import type { Engine, Entropy, TimerEvent } from '@proj/transport';
import type { EngineSnapshot, ServiceSnapshot } from '@proj/transport/engine';
import type { EmqpSchedulerEngineSettings } from '../options.js';
import { BrokerConnection } from './broker-connection.js';
import type { BrokerConnectionDue } from './broker-connection.js';
import type { EmqpSchedulerStats, SchedulerEffect, SchedulerEvent, SchedulerLoss, SchedulerTools } from './events.js';
import { ScheduledJobs } from './job-table.js';
import { LEGALITY } from './legality.js';
import { Output } from './output.js';
import type { ScheduledJob } from './timetable.js';

/** Our farewell: the specification's word, then the product's. */
const BYES = { both: ['KBAI', 'KBYE'], kbai: ['KBAI'], kbye: ['KBYE'] } as const;

/** Losses that were reported rather than inferred from silence: retried at once. */
const REPORTED: ReadonlySet<SchedulerLoss> = new Set<SchedulerLoss>(['peer-gone', 'disconnected']);

/** A scheduler as a deterministic state machine. A step costs O(log jobs), except for an ACK and a clock adjustment, which cost O(jobs). */
export class EmqpSchedulerEngine implements Engine<SchedulerEvent, SchedulerEffect> {
  readonly #options: EmqpSchedulerEngineSettings;
  readonly #entropy: Entropy;
  readonly #out = new Output();
  readonly #connection: BrokerConnection;
  readonly #jobs: ScheduledJobs;
  /** REQUESTs that the transport has not taken yet, by id. */
  readonly #outgoing = new Map<string, ScheduledJob>();
  #phase: 'new' | 'on' | 'leaving' | 'ended' = 'new';
  /** Why we leave. */
  #leaving: 'drained' | 'told' = 'drained';
  #drainAt = Infinity;
  /** Number of the socket opened last: the conversation's, while there is one. */
  #socket = 0;
  /** Id of our INFORM. */
  #inform = '';

  constructor(options: EmqpSchedulerEngineSettings, tools: SchedulerTools, entropy: Entropy) {
    this.#options = options;
    this.#entropy = entropy;
    this.#connection = new BrokerConnection(options, () => entropy.random());
    this.#jobs = new ScheduledJobs(options, tools, entropy, this.#out, (job) => this.#request(job));
  }

  get deadline(): number {
    return Math.min(this.#connection.deadline, this.#jobs.deadline, this.#drainAt);
  }

  /** Whether the broker has answered, and is there. */
  get isRegistered(): boolean {
    return this.#connection.isRegistered;
  }

  /** A copy of the counters and gauges. */
  get stats(): EmqpSchedulerStats {
    return { ...this.#jobs.gauges, registered: this.isRegistered, ...this.#out.totals };
  }

  /** The operator's view at `now`: types of jobs are services, the broker is their worker. Linear in the number of waiting runs. */
  detail(now: number): EngineSnapshot {
    const { refused, lost: _lost, dropped, ...totals } = this.#out.totals;
    const { jobs: count, jobsBytes, held, writing, storeHealthy } = this.#jobs.gauges;
    const { isRegistered } = this;
    const { services, jobs } = this.#jobs.detail(isRegistered ? 1 : 0, now);
    const { runs } = this.#jobs;
    const running = runs.awaited;
    const ages = this.#connection.agesAt(now);
    const sum = (what: (service: ServiceSnapshot) => number) =>
      services.reduce((total, service) => total + what(service), 0);
    return {
      protocol: 'scheduler',
      counters: totals,
      dropped: { ...dropped, ...refused },
      gauges: { jobs: count, jobsBytes, held, writing, storeOk: storeHealthy ? 1 : 0 },
      services,
      workers: [
        {
          id: this.#connection.endpoint,
          services: services.map(({ name }) => name),
          state: isRegistered ? (running > 0 ? 'busy' : 'idle') : 'away',
          ...ages,
          stateMs: isRegistered ? Math.min(ages.stateMs, runs.sinceChangeMs(now)) : ages.stateMs,
          running,
          done: sum(({ outcomes }) => outcomes['ok'] ?? 0),
          resends: sum(({ resends }) => resends),
          refused: { ...dropped },
        },
      ],
      clients: [],
      jobs,
    };
  }

  step(event: SchedulerEvent | TimerEvent, now: number): readonly SchedulerEffect[] {
    this.#out.begin(now);
    if (this.#phase === 'ended') return this.#out.effects;
    this.#on(event, now);
    if (this.#phase === 'leaving' && (!this.#jobs.isWriting || this.#drainAt <= now)) this.#leave(this.#leaving);
    return this.#out.effects;
  }

  assertInvariants(): void {
    this.#connection.assertInvariants();
    this.#jobs.assertInvariants();
    const check = (holds: boolean, what: string): void => {
      if (!holds) throw new Error(`EmqpSchedulerEngine: ${what}`);
    };
    const on = this.#phase === 'on' || this.#phase === 'leaving';
    check(on || this.deadline === Infinity, 'something is due before the start or after the end');
    check(this.#jobs.held === 0 || !this.isRegistered, 'a run waits although there is a broker');
    check(this.#drainAt === Infinity || this.#phase === 'leaving', 'an end is due that was not asked for');
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
          this.#connection.heard(now);
          this.#out.drop(event.reason);
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
        this.#connection.credit(event.lateMs, now);
        for (let due = this.#connection.takeDue(now); due !== undefined; due = this.#connection.takeDue(now))
          this.#due(due, now);
        this.#jobs.takeDue(now);
        break;
    }
  }

  #open(now: number): void {
    this.#connection.open(now);
    const { endpoint } = this.#connection;
    this.#out.effects.push({ kind: 'open', socket: ++this.#socket, endpoint, identity: this.#entropy.uuid() });
    this.#inform = this.#entropy.uuid();
    this.#out.send(this.#socket, { kind: 'inform-scheduler', id: this.#inform });
  }

  /** Every message from a known broker is a sign of life, except REPLY: a broker that has forgotten us still sends those. */
  #message(command: EmqpToScheduler, now: number): void {
    const { counters } = this.#out;
    const [verdict] = LEGALITY[this.#connection.state][command.kind];
    if (verdict !== 'count') this.#connection.heard(now);
    if (verdict === 'leave') this.#drain('told', now);
    else if (verdict === 'lose') this.#lose('disconnected', now);
    else if (command.kind === 'ack') {
      if (verdict === 'register' && command.of === this.#inform) this.#registered(now);
    } else if (command.kind === 'schedule') {
      if (this.#phase === 'leaving') this.#out.refuse('leaving', command.queue);
      else this.#jobs.schedule(command, now);
    } else if (command.kind === 'unschedule') this.#jobs.unschedule(command);
    else if (command.kind === 'accepted') counters.accepted++;
    else if (command.kind === 'result') {
      counters.results++;
      if (command.of !== undefined) this.#jobs.runs.answered(command.of, now);
    } else if (command.kind === 'malformed') this.#out.drop(command.reason);
  }

  #registered(now: number): void {
    this.#connection.registered(now);
    this.#out.counters.conversations++;
    this.#out.tell({ code: 'registered', endpoint: this.#connection.endpoint, held: this.#jobs.held });
    this.#jobs.release();
  }

  #request(job: ScheduledJob): string | undefined {
    if (!this.isRegistered) return undefined;
    const { queue, headers, body } = job;
    const id = this.#entropy.uuid();
    this.#outgoing.set(id, job);
    this.#out.send(this.#socket, { kind: 'request', id, queue, headers, body });
    return id;
  }

  #unsent(id: string, now: number): void {
    // Everything outgoing then waits for the next conversation.
    if (this.#outgoing.has(id)) this.#lose('undeliverable', now);
  }

  #lose(reason: SchedulerLoss, now: number): void {
    const { endpoint } = this.#connection;
    const flush = reason === 'disconnected';
    this.#out.effects.push({ kind: 'close', socket: this.#socket, flush });
    const outgoing = [...this.#outgoing];
    this.#outgoing.clear();
    const retryInMs = this.#connection.lost(now, REPORTED.has(reason));
    this.#out.lose(reason, endpoint, retryInMs);
    // Unless flushed, messages not yet taken by the transport will not be sent.
    if (!flush) for (const [id, job] of outgoing) this.#jobs.unsent(job, id);
    this.#jobs.runs.lost(now);
    if (this.#phase === 'leaving') this.#connection.stop();
    else if (retryInMs === 0) this.#open(now);
  }

  /** Pending writes finish first, and their runs are sent. */
  #drain(reason: 'drained' | 'told', now: number): void {
    if (this.#phase !== 'on') {
      if (this.#phase === 'new') this.#leave(reason);
      return;
    }
    this.#phase = 'leaving';
    this.#leaving = reason;
    this.#drainAt = now + this.#options.drainMs;
    this.#jobs.stop();
    if (!this.#connection.isOpen) this.#connection.stop();
  }

  #leave(reason: 'drained' | 'closed' | 'told'): void {
    this.#jobs.stop();
    if (this.#connection.isOpen) {
      if (this.isRegistered)
        for (const word of BYES[this.#options.byes])
          this.#out.send(this.#socket, { kind: 'bye', id: this.#entropy.uuid(), word });
      this.#out.effects.push({ kind: 'close', socket: this.#socket, flush: true });
      this.#out.tell({ code: 'left', endpoint: this.#connection.endpoint, reason });
    }
    this.#connection.stop();
    this.#drainAt = Infinity;
    this.#phase = 'ended';
    this.#out.effects.push({ kind: 'ended' });
  }

  #due(due: BrokerConnectionDue, now: number): void {
    switch (due) {
      case 'open':
        this.#open(now);
        break;
      case 'heartbeat':
        this.#out.send(this.#socket, {
          kind: 'heartbeat',
          id: this.#entropy.uuid(),
          time: emqpTime(this.#entropy.wallMicros()),
        });
        break;
      case 'silent':
      case 'no-ack':
        this.#lose(due, now);
        break;
    }
  }

  #isCurrent(socket: number): boolean {
    return this.#connection.isOpen && socket === this.#socket;
  }
}
