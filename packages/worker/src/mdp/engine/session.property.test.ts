import { decodeMdpAtWorker, encodeMdp } from '@proj/frames/mdp';
import type { MdpToWorker } from '@proj/frames/mdp';
import { arbitraries, passTime } from '@proj/testkit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { frame, OPTIONS } from '../../../test/mdp/session-rig.js';
import { MdpWorkerSession } from './session.js';
import type { MdpWorkerSessionOptions } from './session.js';
import type { MdpWorkerEffect, MdpWorkerEvent } from './events.js';

/** A step of a story; sockets and jobs are named by how long ago they were opened, so that most of them exist. */
type Act =
  | { readonly act: 'wait'; readonly ms: number; readonly late: boolean }
  | { readonly act: 'command'; readonly ago: number; readonly command: MdpToWorker }
  | { readonly act: 'rejected' | 'lost'; readonly ago: number }
  | { readonly act: 'partial' | 'final' | 'failed'; readonly ago: number }
  | { readonly act: 'drain' | 'close' };

const version = fc.constantFrom('0.2' as const, '0.2' as const, '0.2' as const, '0.1' as const);
/** Mostly messages that keep a conversation going, besides any frames that a broken or hostile broker may send. */
const command: fc.Arbitrary<MdpToWorker> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('heartbeat'), version }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('worker-request'),
      version,
      client: fc.uint8Array({ minLength: 1, maxLength: 3 }),
      body: fc.array(fc.uint8Array({ maxLength: 3 }), { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('disconnect'), version }) },
  {
    weight: 2,
    arbitrary: arbitraries.mutated(arbitraries.mdpToWorker.map(encodeMdp)).map((frames) => decodeMdpAtWorker(frames)),
  },
  { weight: 1, arbitrary: arbitraries.message().map((frames) => decodeMdpAtWorker(frames)) },
);
const ago = fc.integer({ min: 0, max: 2 });
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.record({ act: fc.constant('wait'), ms: fc.integer({ min: 0, max: 400 }), late: fc.boolean() }),
  },
  { weight: 60, arbitrary: fc.record({ act: fc.constant('command'), ago, command }) },
  { weight: 30, arbitrary: fc.record({ act: fc.constantFrom('final', 'final', 'partial', 'failed'), ago }) },
  { weight: 5, arbitrary: fc.record({ act: fc.constantFrom('rejected', 'lost'), ago }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('drain', 'close') }) },
);
const options: fc.Arbitrary<Partial<MdpWorkerSessionOptions>> = fc.record({
  endpoints: fc.constantFrom(['tcp://a:1'], ['tcp://a:1', 'tcp://b:1', 'tcp://c:1']),
  sayGoodbye: fc.boolean(),
  drainFinishes: fc.boolean(),
  preferFirst: fc.boolean(),
  drainMs: fc.constantFrom(150, 5000),
});

/** What must hold for the effects alone, whatever came in: a small model of the wire and of the handlers. */
class Witness {
  readonly #sockets = new Map<number, string[]>();
  readonly #beatAt = new Map<number, number>();
  readonly #requests: Uint8Array[] = [];
  lastSocket = 0;
  lastJob = 0;
  running: number | undefined;
  ended = false;

  event(event: MdpWorkerEvent): void {
    if (event.kind === 'message' && event.command.kind === 'worker-request') this.#requests.push(event.command.client);
    if ((event.kind === 'final' || event.kind === 'failed') && event.job === this.running) this.running = undefined;
  }

  effect(effect: MdpWorkerEffect, now: number): void {
    expect(this.ended).toBe(false);
    switch (effect.kind) {
      case 'open':
        expect(effect.socket).toBe(++this.lastSocket);
        this.#sockets.set(effect.socket, []);
        // The conversation and, with preferFirst, the probe of the first endpoint.
        expect(this.#sockets.size).toBeLessThanOrEqual(2);
        break;
      case 'close':
        expect(this.#sockets.delete(effect.socket)).toBe(true);
        break;
      case 'run':
        expect(this.running).toBeUndefined();
        expect(effect.job).toBe(++this.lastJob);
        this.running = effect.job;
        break;
      case 'cancel':
        expect(effect.job).toBe(this.running);
        break;
      case 'send':
        this.#sent(effect.socket, effect.command, now);
        break;
      case 'ended':
        expect(this.#sockets.size).toBe(0);
        this.ended = true;
        break;
      case 'note':
        break;
    }
  }

  #sent(socket: number, command: Extract<MdpWorkerEffect, { kind: 'send' }>['command'], now: number): void {
    const log = this.#sockets.get(socket);
    if (log === undefined) throw new Error(`${command.kind} on closed socket ${socket}`);
    expect(log).not.toContain('disconnect');
    // A socket opens with READY, or is a probe of one heartbeat.
    if (command.kind === 'worker-ready') expect(log).toEqual([]);
    else if (log[0] !== 'worker-ready') expect([...log, command.kind]).toEqual(['heartbeat']);
    if (command.kind === 'heartbeat') {
      expect(now - (this.#beatAt.get(socket) ?? -Infinity)).toBeGreaterThanOrEqual(OPTIONS.heartbeatIntervalMs);
      this.#beatAt.set(socket, now);
    }
    if (command.kind === 'worker-final' || command.kind === 'worker-partial')
      expect(this.#requests).toContain(command.client);
    log.push(command.kind);
  }
}

function toEvent(one: Exclude<Act, { act: 'wait' }>, witness: Witness): MdpWorkerEvent {
  switch (one.act) {
    case 'command':
      return { kind: 'message', socket: witness.lastSocket - one.ago, command: one.command };
    case 'rejected':
      return { kind: 'rejected', socket: witness.lastSocket - one.ago, reason: 'too-large' };
    case 'lost':
      return { kind: 'lost', socket: witness.lastSocket - one.ago, reason: 'undeliverable' };
    case 'partial':
    case 'final':
      return { kind: one.act, job: witness.lastJob - one.ago, body: [frame('r')] };
    case 'failed':
      return { kind: 'failed', job: witness.lastJob - one.ago };
    case 'drain':
    case 'close':
      return { kind: one.act };
  }
}

it('survives any order of events: one handler at a time, READY first, nothing after DISCONNECT or the end', () => {
  fc.assert(
    fc.property(options, fc.array(act, { maxLength: 120 }), (given, acts) => {
      const session = new MdpWorkerSession({ ...OPTIONS, ...given }, () => 0.5);
      const witness = new Witness();
      const rig = {
        now: 0,
        step(event: Parameters<MdpWorkerSession['step']>[0]): void {
          if (event.kind !== 'timer') witness.event(event);
          for (const effect of session.step(event, rig.now)) witness.effect(effect, rig.now);
          session.assertInvariants();
        },
      };
      rig.step({ kind: 'start' });
      for (const one of acts) {
        if (one.act !== 'wait') rig.step(toEvent(one, witness));
        else if (one.late) rig.now += one.ms;
        else passTime(rig, session, one.ms);
        passTime(rig, session, 0);
      }
      rig.step({ kind: 'close' });
      expect(witness.ended).toBe(true);
      expect(session.deadline).toBe(Infinity);
    }),
    { numRuns: 2000 },
  );
});
