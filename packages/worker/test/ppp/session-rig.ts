/** Plays events to a PPP worker session and writes down its effects as short lines, checking invariants at each step. */
import type { PppToWorker } from '@proj/frames/ppp';
import { PppWorkerSession } from '../../src/ppp/engine/session.js';
import type { PppWorkerSessionOptions } from '../../src/ppp/engine/session.js';
import type { PppFromWorker, PppWorkerEffect, PppWorkerEvent } from '../../src/ppp/engine/events.js';
import { describeEffect, frame, WorkerRig, text } from '../rig.js';

export { frame } from '../rig.js';

export const OPTIONS: PppWorkerSessionOptions = {
  endpoints: ['tcp://a:1'],
  heartbeatIntervalMs: 100,
  liveness: 3,
  reconnectMinMs: 50,
  reconnectMaxMs: 800,
  minUptimeMs: 1000,
  drainMs: 5000,
};

export const HEARTBEAT: PppToWorker = { kind: 'heartbeat' };

export class SessionRig extends WorkerRig<PppToWorker, PppWorkerEvent, PppWorkerEffect> {
  readonly session: PppWorkerSession;

  /** `random` of 1 makes every back-off delay its full length. */
  constructor(options: Partial<PppWorkerSessionOptions> = {}, random = () => 1) {
    super();
    this.session = new PppWorkerSession({ ...OPTIONS, ...options }, random);
  }

  /** A session that has said READY on socket 1, with that written off. */
  static started(options: Partial<PppWorkerSessionOptions> = {}): SessionRig {
    const rig = new SessionRig(options);
    rig.play({ kind: 'start' });
    rig.take();
    return rig;
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

  protected heartbeat(): PppToWorker {
    return HEARTBEAT;
  }

  protected describe(effect: PppWorkerEffect): string {
    return describeEffect(effect, describeCommand);
  }
}

function describeCommand(command: PppFromWorker): string {
  if (command.kind !== 'reply') return command.kind.toUpperCase();
  return `REPLY ${command.addresses === undefined ? 'bare' : text(command.addresses, '/')} ${text(command.content)}`;
}
