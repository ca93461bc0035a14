/** A scheduler's engine with a clock, a disk and a broker that do what a test says. */
import { createHash } from 'node:crypto';
import { fromLatin1, latin1 } from '@proj/frames';
import type { EmqpRequest, EmqpToScheduler } from '@proj/frames/emqp';
import type { Entropy } from '@proj/transport';
import type {
  ScheduleChange,
  ScheduleRecord,
  SchedulerEffect,
  SchedulerEvent,
  SchedulerNote,
} from '../src/engine/events.js';
import { cronIn } from '../src/cron.js';
import { EmqpSchedulerEngine } from '../src/engine/engine.js';
import type { EmqpSchedulerEngineSettings } from '../src/options.js';

export const OPTIONS: EmqpSchedulerEngineSettings = {
  endpoints: ['tcp://a:1', 'tcp://b:1'],
  heartbeatIntervalMs: 3000,
  brokerExpiryMs: 15_000,
  ackTimeoutMs: 5000,
  reconnectMinMs: 250,
  reconnectMaxMs: 30_000,
  minUptimeMs: 10_000,
  jobsMax: 1000,
  jobsMaxBytes: 1_000_000,
  catchUp: false,
  storeRetryMs: 5000,
  byes: 'both',
  drainMs: 10_000,
};

/** Sunday, 29 March 2026, 00:00 UTC. */
export const SUNDAY = Date.UTC(2026, 2, 29) * 1000;

/** The body that asks for this function of `m`. */
export function body(callable: string, args: readonly unknown[] = []): Uint8Array {
  return fromLatin1(JSON.stringify(['run', { callable, path: 'm', args }]));
}

/** What a test says of a SCHEDULE. */
export interface Wish {
  readonly queue?: string;
  readonly headers?: string;
  readonly interval?: string;
  readonly cron?: string;
  readonly body?: Uint8Array;
}

export class SchedulerRig {
  readonly disk = new Map<string, ScheduleRecord>();
  /** Writes that are not on the disk yet, and what they change. */
  readonly writing: { readonly write: number; readonly changes: readonly ScheduleChange[] }[] = [];
  /** Everything that was sent, as words. */
  readonly said: string[] = [];
  readonly requests: EmqpRequest[] = [];
  readonly notes: SchedulerNote[] = [];
  readonly opened: { readonly endpoint: string; readonly identity: string }[] = [];
  engine: EmqpSchedulerEngine;
  now = 1000;
  /** Wall clock less monotonic clock, in milliseconds. */
  wallOffsetMs = SUNDAY / 1000 - 1000;
  /** The transport takes REQUESTs at once. */
  transportIsFast = true;
  /** Writes end at once. */
  diskIsFast = true;
  diskIsFull = false;
  /** INFORM is answered at once. */
  brokerIsThere = true;
  ended = false;
  /** Looks at the engine's books after each step, which costs O(jobs). */
  checks = true;
  /** Steps of the engine, and changes it had written, so far. */
  steps = 0;
  changes = 0;
  socket = 0;
  #options: EmqpSchedulerEngineSettings;
  #timeZone: string;
  #uuids = 0;
  readonly #pending: SchedulerEvent[] = [];

  constructor(options: Partial<EmqpSchedulerEngineSettings> = {}, timeZone = 'UTC') {
    this.#options = { ...OPTIONS, ...options };
    this.#timeZone = timeZone;
    this.engine = this.#make();
  }

  /** Begins, with what is on the disk. */
  start(): this {
    this.do({ kind: 'start', records: [...this.disk] });
    return this;
  }

  /** The process dies: what was not written is lost. */
  crash(): void {
    this.writing.length = this.#pending.length = 0;
    this.ended = false;
    this.engine = this.#make();
  }

  /** Delivers an event and what it causes. */
  do(event: SchedulerEvent | { readonly kind: 'timer'; readonly lateMs: number }): void {
    const run = (one: typeof event): void => {
      this.steps++;
      for (const effect of this.engine.step(one, this.now)) this.#perform(effect);
      if (this.checks) this.engine.assertInvariants();
    };
    run(event);
    for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) run(next);
    while (this.engine.deadline <= this.now) {
      run({ kind: 'timer', lateMs: 0 });
      for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) run(next);
    }
  }

  /** A message of the broker. */
  hear(command: EmqpToScheduler): void {
    this.do({ kind: 'message', socket: this.socket, command });
  }

  schedule({ queue = 'q', headers = '', interval = '-1', cron = '', body: job = body('f') }: Wish): void {
    this.hear({ kind: 'schedule', id: 's', queue, headers: fromLatin1(headers), interval, body: job, cron });
  }

  unschedule(job = body('f')): void {
    this.hear({ kind: 'unschedule', id: 'u', queue: '', headers: fromLatin1(''), interval: '-1', body: job, cron: '' });
  }

  /** Lets this much time pass, timer by timer; the broker beats meanwhile. */
  pass(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const beat = this.engine.isRegistered ? Math.min(this.now + 3000, end) : end;
      const next = Math.min(this.engine.deadline, beat, end);
      this.now = Math.max(this.now, next);
      if (this.engine.deadline <= this.now) this.do({ kind: 'timer', lateMs: 0 });
      else if (this.now < end || this.engine.isRegistered) this.hear({ kind: 'heartbeat', id: 'h', time: '' });
      if (this.now >= end && this.engine.deadline > this.now) return;
    }
  }

  /** The process sleeps through this much time. */
  sleep(ms: number): void {
    this.now += ms;
    this.do({ kind: 'timer', lateMs: this.now - this.engine.deadline });
  }

  /** The oldest write ends. */
  finishWrite(): void {
    const first = this.writing.shift();
    if (first !== undefined) this.do(this.#toDisk(first));
  }

  /** The broker is there again, or told us so. */
  ack(): void {
    this.brokerIsThere = true;
    this.hear({ kind: 'ack', id: 'a', of: this.#inform });
  }

  lose(): void {
    this.brokerIsThere = false;
    this.do({ kind: 'lost', socket: this.socket, reason: 'peer-gone' });
  }

  /** The REQUESTs since the last call, as queue and callable. */
  fired(): string[] {
    return this.requests
      .splice(0)
      .map(
        ({ queue, body: job }) => `${queue}:${(JSON.parse(latin1(job)) as [string, { callable: string }])[1].callable}`,
      );
  }

  notesOf<Code extends SchedulerNote['code']>(code: Code): Extract<SchedulerNote, { code: Code }>[] {
    return this.notes.filter((note): note is Extract<SchedulerNote, { code: Code }> => note.code === code);
  }

  #inform = '';

  #make(): EmqpSchedulerEngine {
    const entropy: Entropy = {
      wallMicros: () => Math.round((this.now + this.wallOffsetMs) * 1000),
      uuid: () => `uuid-${++this.#uuids}`,
      random: () => 0.5,
    };
    const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');
    return new EmqpSchedulerEngine(this.#options, { sha1, nextCron: cronIn(this.#timeZone) }, entropy);
  }

  #perform(effect: SchedulerEffect): void {
    switch (effect.kind) {
      case 'open':
        this.socket = effect.socket;
        this.opened.push(effect);
        break;
      case 'send': {
        const { command } = effect;
        this.said.push(command.kind === 'bye' ? command.word : command.kind);
        if (command.kind === 'request') {
          this.requests.push(command);
          if (this.transportIsFast) this.#pending.push({ kind: 'sent', id: command.id });
        }
        if (command.kind !== 'inform-scheduler') break;
        this.#inform = command.id;
        if (this.brokerIsThere)
          this.#pending.push({
            kind: 'message',
            socket: effect.socket,
            command: { kind: 'ack', id: 'a', of: command.id },
          });
        break;
      }
      case 'close':
        this.said.push('close');
        break;
      case 'store':
        this.changes += effect.changes.length;
        if (this.diskIsFast) this.#pending.push(this.#toDisk(effect));
        else this.writing.push(effect);
        break;
      case 'note':
        this.notes.push(effect.note);
        break;
      case 'ended':
        this.ended = true;
        break;
    }
  }

  #toDisk({ write, changes }: { readonly write: number; readonly changes: readonly ScheduleChange[] }): SchedulerEvent {
    if (this.diskIsFull) return { kind: 'stored', write, error: 'the disk is full' };
    for (const { identity, record } of changes) {
      if (record === undefined) this.disk.delete(identity);
      else this.disk.set(identity, record);
    }
    return { kind: 'stored', write, error: undefined };
  }
}
