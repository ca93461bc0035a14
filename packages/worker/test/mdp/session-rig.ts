/** Plays events to an MDP worker session and writes down its effects as short lines, checking invariants at each step. */
import type { MdpToWorker } from '@proj/frames/mdp';
import type { TimerEvent } from '@proj/transport';
import type { MdpWorkerNote } from '../../src/mdp/notes.js';
import { MdpWorkerSession } from '../../src/mdp/session.js';
import type { MdpFromWorker, MdpWorkerEffect, MdpWorkerEvent, MdpWorkerSessionOptions } from '../../src/mdp/session.js';

export const OPTIONS: MdpWorkerSessionOptions = {
  version: '0.2',
  service: 'echo',
  endpoints: ['tcp://a:1'],
  heartbeatIntervalMs: 100,
  liveness: 3,
  reconnectMinMs: 50,
  reconnectMaxMs: 800,
  minUptimeMs: 1000,
  sayGoodbye: true,
  drainFinishes: false,
  drainMs: 5000,
  preferFirst: false,
};

/** A frame of text. */
export const frame = (text: string): Uint8Array => Buffer.from(text);

export const HEARTBEAT: MdpToWorker = { kind: 'heartbeat', version: '0.2' };
export const DISCONNECT: MdpToWorker = { kind: 'disconnect', version: '0.2' };

export class SessionRig {
  readonly session: MdpWorkerSession;
  now = 0;
  /** Everything since the last {@link take}. */
  #lines: string[] = [];

  /** `random` of 1 makes every back-off delay its full length. */
  constructor(options: Partial<MdpWorkerSessionOptions> = {}, random = () => 1) {
    this.session = new MdpWorkerSession({ ...OPTIONS, ...options }, random);
  }

  /** A session that has said READY on socket 1, with that written off. */
  static started(options: Partial<MdpWorkerSessionOptions> = {}): SessionRig {
    const rig = new SessionRig(options);
    rig.play({ kind: 'start' });
    rig.take();
    return rig;
  }

  /** Delivers events at the present time and returns what they caused, together with all that was not taken before. */
  play(...events: (MdpWorkerEvent | TimerEvent)[]): string[] {
    for (const event of events) {
      for (const effect of this.session.step(event, this.now)) this.#lines.push(describe(effect));
      this.session.assertInvariants();
    }
    return this.#lines;
  }

  receive(socket: number, ...commands: MdpToWorker[]): string[] {
    return this.play(...commands.map((command) => ({ kind: 'message', socket, command }) as const));
  }

  request(socket: number, client: string, ...body: string[]): string[] {
    const request = {
      kind: 'worker-request',
      version: this.version,
      client: frame(client),
      body: body.map(frame),
    } as const;
    return this.receive(socket, request);
  }

  partial(job: number, ...body: string[]): string[] {
    return this.play({ kind: 'partial', job, body: body.map(frame) });
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

  /** Moves time on while the broker goes on beating, `step` milliseconds apart. */
  advanceAlive(socket: number, ms: number, step = 100): string[] {
    for (let passed = 0; passed < ms; passed += step) {
      this.advance(Math.min(step, ms - passed));
      this.receive(socket, { kind: 'heartbeat', version: this.version });
    }
    return this.#lines;
  }

  /** Returns the lines written so far and begins anew. */
  take(): string[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }

  version: '0.1' | '0.2' = '0.2';
}

function describe(effect: MdpWorkerEffect): string {
  switch (effect.kind) {
    case 'open':
      return `open ${effect.socket} ${effect.endpoint}`;
    case 'send':
      return `send ${effect.socket} ${describeCommand(effect.command)}`;
    case 'close':
      return `close ${effect.socket}${effect.flush ? ' flush' : ''}`;
    case 'run':
      return `run ${effect.job} ${text(effect.body)}`;
    case 'cancel':
      return `cancel ${effect.job} ${effect.reason}`;
    case 'note':
      return `note ${describeNote(effect.note)}`;
    case 'ended':
      return 'ended';
  }
}

function describeCommand(command: MdpFromWorker): string {
  switch (command.kind) {
    case 'worker-ready':
      return `READY ${command.service}`;
    case 'worker-partial':
    case 'worker-final':
      return `${command.kind === 'worker-final' ? 'FINAL' : 'PARTIAL'} ${text([command.client])} ${text(command.body)}`;
    case 'heartbeat':
      return 'HEARTBEAT';
    case 'disconnect':
      return 'DISCONNECT';
  }
}

function describeNote(note: MdpWorkerNote): string {
  const { code, ...fields } = note;
  return [code, ...Object.values(fields).map(String)].join(' ');
}

const text = (frames: readonly Uint8Array[]): string => frames.map((one) => Buffer.from(one).toString()).join(',');
