/** Plays events to a job manager's session and writes down its effects as short lines, checking invariants at each step. */
import { encodeEmqpHeaders } from '@proj/frames/emqp';
import type { EmqpHeaders, EmqpToWorker } from '@proj/frames/emqp';
import type { Entropy, TimerEvent } from '@proj/transport';
import type {
  EmqpFromJobManager,
  EmqpJobManagerEffect,
  EmqpJobManagerEvent,
  EmqpJobManagerNote,
  EmqpRunOutcome,
} from '../../src/emqp/effects.js';
import { EmqpJobManagerSession } from '../../src/emqp/session.js';
import type { EmqpJobManagerSessionOptions } from '../../src/emqp/session.js';

export const OPTIONS: EmqpJobManagerSessionOptions = {
  endpoints: ['tcp://a:1'],
  queues: [{ weight: 10, name: 'default' }],
  concurrency: 2,
  queueMax: 3,
  heartbeatIntervalMs: 100,
  brokerExpiryMs: 500,
  ackTimeoutMs: 200,
  reconnectMinMs: 50,
  reconnectMaxMs: 800,
  minUptimeMs: 1000,
  globalTimeoutMs: 0,
  killGraceMs: 5000,
  maxJobsPerProcess: 0,
  retryDelayMs: 10,
  retryMaxMs: 30,
  resultMaxBytes: 100,
  byes: 'both',
  onDisconnect: 'stop',
};

/** A frame of text. */
export const frame = (text: string): Uint8Array => Buffer.from(text);

export const HEARTBEAT: EmqpToWorker = { kind: 'heartbeat', id: 'h', time: '1.0' };

/** Ids count up: `#1`, `#2`. `random` of 1 makes every back-off delay its full length. */
export function countingEntropy(random = () => 1): Entropy {
  let ids = 0;
  return { uuid: () => `#${++ids}`, random, wallMicros: () => 1_500_000 };
}

/** A REQUEST. */
export function request(id: string, headers: Partial<EmqpHeaders> = {}): EmqpToWorker {
  return { kind: 'request', id, queue: 'default', headers: encodeEmqpHeaders(headers), body: frame(`body of ${id}`) };
}

export class SessionRig {
  readonly session: EmqpJobManagerSession;
  now = 0;
  /** Id of the last INFORM. */
  inform = '';
  /** Everything since the last {@link take}. */
  #lines: string[] = [];

  constructor(options: Partial<EmqpJobManagerSessionOptions> = {}, random = () => 1) {
    this.session = new EmqpJobManagerSession({ ...OPTIONS, ...options }, countingEntropy(random));
  }

  /** A session that is registered on socket 1, with all its slots announced, and that written off. */
  static registered(options: Partial<EmqpJobManagerSessionOptions> = {}): SessionRig {
    const rig = new SessionRig(options);
    rig.play({ kind: 'start' });
    rig.up();
    rig.ack(1);
    rig.take();
    return rig;
  }

  /** Delivers events at the present time and returns what they caused, together with all that was not taken before. */
  play(...events: (EmqpJobManagerEvent | TimerEvent)[]): string[] {
    for (const event of events) {
      for (const effect of this.session.step(event, this.now)) {
        if (effect.kind === 'send' && effect.command.kind === 'inform-worker') this.inform = effect.command.id;
        // Beside each `run`.
        if (effect.kind === 'note' && effect.note.code === 'job-started') continue;
        this.#lines.push(describe(effect));
      }
      this.session.assertInvariants();
    }
    return this.#lines;
  }

  receive(socket: number, ...commands: EmqpToWorker[]): string[] {
    return this.play(...commands.map((command) => ({ kind: 'message', socket, command }) as const));
  }

  ack(socket: number): string[] {
    return this.receive(socket, { kind: 'ack', id: 'a', of: this.inform });
  }

  /** Processes run in these slots; by default in all. */
  up(...slots: number[]): string[] {
    const all = Array.from({ length: this.session.stats.free + OPTIONS.concurrency }, (_, slot) => slot);
    return this.play(...(slots.length > 0 ? slots : all).map((slot) => ({ kind: 'up', slot }) as const));
  }

  ran(slot: number, job: number, result = 'ok', outcome: EmqpRunOutcome = 'done'): string[] {
    return this.play({ kind: 'ran', slot, job, outcome, result: frame(result) });
  }

  failed(slot: number, job: number): string[] {
    return this.ran(slot, job, 'error', 'failed');
  }

  gone(slot: number, reason = 'killed'): string[] {
    return this.play({ kind: 'gone', slot, reason });
  }

  /** Moves time on, delivering each deadline punctually. */
  advance(ms: number): string[] {
    const until = this.now + ms;
    while (this.session.deadline <= until) {
      this.now = this.session.deadline;
      this.play({ kind: 'timer', lateMs: 0 });
    }
    this.now = until;
    return this.#lines;
  }

  /** Moves time on while the broker goes on beating, `step` milliseconds apart. Our own heartbeats are left out. */
  advanceAlive(socket: number, ms: number, step = 100): string[] {
    for (let passed = 0; passed < ms; passed += step) {
      this.advance(Math.min(step, ms - passed));
      this.receive(socket, HEARTBEAT);
    }
    this.#lines = this.#lines.filter((line) => !line.endsWith('HEARTBEAT 1.500000'));
    return this.#lines;
  }

  /** Returns the lines written so far and begins anew. */
  take(): string[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }
}

function describe(effect: EmqpJobManagerEffect): string {
  switch (effect.kind) {
    case 'open':
      return `open ${effect.socket} ${effect.endpoint} as ${effect.identity}`;
    case 'send':
      return `send ${effect.socket} ${describeCommand(effect.command)}`;
    case 'close':
      return `close ${effect.socket}${effect.flush ? ' flush' : ''}`;
    case 'run':
      return `run ${effect.slot} ${effect.job.number} ${effect.job.id}${effect.wantsResult ? ' wants result' : ''}`;
    case 'kill':
    case 'recycle':
      return `${effect.kind} ${effect.slot}`;
    case 'note':
      return `note ${describeNote(effect.note)}`;
    case 'ended':
      return 'ended';
  }
}

function describeCommand(command: EmqpFromJobManager): string {
  switch (command.kind) {
    case 'inform-worker':
      return `INFORM ${(command.queues ?? []).map(({ weight, name }) => `${weight}:${name}`).join(',')}`;
    case 'ready':
      return 'READY';
    case 'heartbeat':
      return `HEARTBEAT ${command.time}`;
    case 'result':
      return `REPLY ${String(command.of)} ${Buffer.from(command.result).toString()}`;
    case 'bye':
      return command.word;
  }
}

function describeNote(note: EmqpJobManagerNote): string {
  const { code, ...fields } = note;
  return [code, ...Object.values(fields).map(String)].join(' ');
}
