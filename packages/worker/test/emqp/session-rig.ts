/** Plays events to a job manager's session and writes down its effects as short lines, checking invariants at each step. */
import { encodeEmqpHeaders } from '@proj/frames/emqp';
import type { EmqpHeaders, EmqpToWorker } from '@proj/frames/emqp';
import type { Entropy } from '@proj/transport';
import type {
  EmqpFromJobManager,
  EmqpJobManagerEffect,
  EmqpJobManagerEvent,
  EmqpRunOutcome,
} from '../../src/emqp/engine/events.js';
import { EmqpJobManagerSession } from '../../src/emqp/engine/session.js';
import type { EmqpJobManagerSessionOptions } from '../../src/emqp/engine/session.js';
import { describeNote, frame, WorkerRig } from '../rig.js';

export { frame } from '../rig.js';

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

export class SessionRig extends WorkerRig<EmqpToWorker, EmqpJobManagerEvent, EmqpJobManagerEffect> {
  readonly session: EmqpJobManagerSession;
  /** Id of the last INFORM. */
  inform = '';

  constructor(options: Partial<EmqpJobManagerSessionOptions> = {}, random = () => 1) {
    super();
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

  /** Our own heartbeats are left out. */
  override advanceAlive(socket: number, ms: number, step?: number): string[] {
    super.advanceAlive(socket, ms, step);
    this.lines = this.lines.filter((line) => !line.endsWith('HEARTBEAT 1.500000'));
    return this.lines;
  }

  protected heartbeat(): EmqpToWorker {
    return HEARTBEAT;
  }

  protected describe(effect: EmqpJobManagerEffect): string | undefined {
    if (effect.kind === 'send' && effect.command.kind === 'inform-worker') this.inform = effect.command.id;
    // Beside each `run`.
    if (effect.kind === 'note' && effect.note.code === 'job-started') return undefined;
    return describe(effect);
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
      return describeNote(effect.note);
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
