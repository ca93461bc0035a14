/** Plays events to a PPP worker session and writes down its effects as short lines, checking invariants at each step. */
import type { PppToWorker } from '@proj/frames/ppp';
import type { TimerEvent } from '@proj/transport';
import type { PppWorkerNote } from '../../src/ppp/notes.js';
import { PppWorkerSession } from '../../src/ppp/session.js';
import type { PppFromWorker, PppWorkerEffect, PppWorkerEvent, PppWorkerSessionOptions } from '../../src/ppp/session.js';

export const OPTIONS: PppWorkerSessionOptions = {
  endpoints: ['tcp://a:1'],
  heartbeatIntervalMs: 100,
  liveness: 3,
  reconnectMinMs: 50,
  reconnectMaxMs: 800,
  minUptimeMs: 1000,
  drainMs: 5000,
};

/** A frame of text. */
export const frame = (text: string): Uint8Array => Buffer.from(text);

export const HEARTBEAT: PppToWorker = { kind: 'heartbeat' };

export class SessionRig {
  readonly session: PppWorkerSession;
  now = 0;
  /** Everything since the last {@link take}. */
  #lines: string[] = [];

  /** `random` of 1 makes every back-off delay its full length. */
  constructor(options: Partial<PppWorkerSessionOptions> = {}, random = () => 1) {
    this.session = new PppWorkerSession({ ...OPTIONS, ...options }, random);
  }

  /** A session that has said READY on socket 1, with that written off. */
  static started(options: Partial<PppWorkerSessionOptions> = {}): SessionRig {
    const rig = new SessionRig(options);
    rig.play({ kind: 'start' });
    rig.take();
    return rig;
  }

  /** Delivers events at the present time and returns what they caused, together with all that was not taken before. */
  play(...events: (PppWorkerEvent | TimerEvent)[]): string[] {
    for (const event of events) {
      for (const effect of this.session.step(event, this.now)) this.#lines.push(describe(effect));
      this.session.assertInvariants();
    }
    return this.#lines;
  }

  receive(socket: number, ...commands: PppToWorker[]): string[] {
    return this.play(...commands.map((command) => ({ kind: 'message', socket, command }) as const));
  }

  /** A request under the addresses that `addresses` names, separated by `/`. */
  request(socket: number, addresses: string, ...content: string[]): string[] {
    return this.receive(socket, {
      kind: 'request',
      addresses: addresses.split('/').map(frame),
      content: content.map(frame),
    });
  }

  final(job: number, ...body: string[]): string[] {
    return this.play({ kind: 'final', job, body: body.map(frame) });
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

  /** Moves time on while the queue goes on beating, `step` milliseconds apart. */
  advanceAlive(socket: number, ms: number, step = 100): string[] {
    for (let passed = 0; passed < ms; passed += step) {
      this.advance(Math.min(step, ms - passed));
      this.receive(socket, HEARTBEAT);
    }
    return this.#lines;
  }

  /** Returns the lines written so far and begins anew. */
  take(): string[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }
}

function describe(effect: PppWorkerEffect): string {
  switch (effect.kind) {
    case 'open':
      return `open ${effect.socket} ${effect.endpoint}`;
    case 'send':
      return `send ${effect.socket} ${describeCommand(effect.command)}`;
    case 'close':
      return `close ${effect.socket}${effect.flush ? ' flush' : ''}`;
    case 'run':
      return `run ${effect.job} ${text(effect.body, ',')}`;
    case 'cancel':
      return `cancel ${effect.job} ${effect.reason}`;
    case 'note':
      return `note ${describeNote(effect.note)}`;
    case 'ended':
      return 'ended';
  }
}

function describeCommand(command: PppFromWorker): string {
  if (command.kind !== 'reply') return command.kind.toUpperCase();
  return `REPLY ${text(command.addresses, '/')} ${text(command.content, ',')}`;
}

function describeNote(note: PppWorkerNote): string {
  const { code, ...fields } = note;
  return [code, ...Object.values(fields).map(String)].join(' ');
}

const text = (frames: readonly Uint8Array[], separator: string): string =>
  frames.map((one) => Buffer.from(one).toString()).join(separator);
