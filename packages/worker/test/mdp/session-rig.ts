/** Plays events to an MDP worker session and writes down its effects as short lines, checking invariants at each step. */
import type { MdpToWorker } from '@proj/frames/mdp';
import { MdpWorkerSession } from '../../src/mdp/engine/session.js';
import type { MdpWorkerSessionOptions } from '../../src/mdp/engine/session.js';
import type { MdpFromWorker, MdpWorkerEffect, MdpWorkerEvent } from '../../src/mdp/engine/events.js';
import { describeEffect, frame, WorkerRig, text } from '../rig.js';

export { frame } from '../rig.js';

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

export const HEARTBEAT: MdpToWorker = { kind: 'heartbeat', version: '0.2' };
export const DISCONNECT: MdpToWorker = { kind: 'disconnect', version: '0.2' };

export class SessionRig extends WorkerRig<MdpToWorker, MdpWorkerEvent, MdpWorkerEffect> {
  readonly session: MdpWorkerSession;
  version: '0.1' | '0.2' = '0.2';

  /** `random` of 1 makes every back-off delay its full length. */
  constructor(options: Partial<MdpWorkerSessionOptions> = {}, random = () => 1) {
    super();
    this.session = new MdpWorkerSession({ ...OPTIONS, ...options }, random);
  }

  /** A session that has said READY on socket 1, with that written off. */
  static started(options: Partial<MdpWorkerSessionOptions> = {}): SessionRig {
    const rig = new SessionRig(options);
    rig.play({ kind: 'start' });
    rig.take();
    return rig;
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

  protected heartbeat(): MdpToWorker {
    return { kind: 'heartbeat', version: this.version };
  }

  protected describe(effect: MdpWorkerEffect): string {
    return describeEffect(effect, describeCommand);
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
