import { decodePppAtWorker, encodePpp } from '@proj/frames/ppp';
import type { PppStack, PppToWorker } from '@proj/frames/ppp';
import { arbitraries, passTime } from '@proj/testkit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { frame, OPTIONS } from '../../../test/ppp/session-rig.js';
import { PppWorkerSession } from './session.js';
import type { PppWorkerSessionOptions } from './session.js';
import type { PppWorkerEffect, PppWorkerEvent } from './events.js';

/** A step of a story; sockets and jobs are named by how long ago they were opened, so that most of them exist. */
type Act =
  | { readonly act: 'wait'; readonly ms: number; readonly late: boolean }
  | { readonly act: 'command'; readonly ago: number; readonly command: PppToWorker }
  | { readonly act: 'rejected' | 'lost'; readonly ago: number }
  | { readonly act: 'final' | 'failed'; readonly ago: number }
  | { readonly act: 'drain' | 'close' };

/** Mostly messages that keep a conversation going, besides any frames that a broken or hostile queue may send. */
const command: fc.Arbitrary<PppToWorker> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'heartbeat' } as const) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('request' as const),
      addresses: fc.array(arbitraries.routingId, { minLength: 1, maxLength: 3 }),
      content: arbitraries.body(2),
    }),
  },
  {
    weight: 2,
    arbitrary: arbitraries.mutated(arbitraries.pppToWorker.map(encodePpp)).map((frames) => decodePppAtWorker(frames)),
  },
  { weight: 1, arbitrary: arbitraries.message().map((frames) => decodePppAtWorker(frames)) },
);
const ago = fc.integer({ min: 0, max: 2 });
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.record({ act: fc.constant('wait'), ms: fc.integer({ min: 0, max: 400 }), late: fc.boolean() }),
  },
  { weight: 80, arbitrary: fc.record({ act: fc.constant('command'), ago, command }) },
  { weight: 25, arbitrary: fc.record({ act: fc.constantFrom('final', 'final', 'failed'), ago }) },
  { weight: 5, arbitrary: fc.record({ act: fc.constantFrom('rejected', 'lost'), ago }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constantFrom('drain', 'drain', 'close') }) },
);
const options: fc.Arbitrary<Partial<PppWorkerSessionOptions>> = fc.record({
  endpoints: fc.constantFrom(['tcp://a:1'], ['tcp://a:1', 'tcp://b:1', 'tcp://c:1']),
  drainMs: fc.constantFrom(150, 5000),
});

/** What must hold for the effects alone, whatever came in: a small model of the wire and of the handlers. */
class Witness {
  #open: number | undefined;
  #said = 0;
  #beatAt = -Infinity;
  /** Requests of the open connection that were neither answered nor dropped, in order. */
  readonly #owed: { readonly addresses: PppStack }[] = [];
  /** The running handler works for the open connection, on the first request of those. */
  #wanted = false;
  lastSocket = 0;
  lastJob = 0;
  running: number | undefined;
  ended = false;

  event(event: PppWorkerEvent): void {
    if (event.kind === 'message' && event.socket === this.#open && event.command.kind === 'request')
      this.#owed.push(event.command);
    if ((event.kind !== 'final' && event.kind !== 'failed') || event.job !== this.running) return;
    if (event.kind === 'failed' && this.#wanted) this.#owed.shift();
    this.running = undefined;
  }

  effect(effect: PppWorkerEffect, now: number): void {
    expect(this.ended).toBe(false);
    switch (effect.kind) {
      case 'open':
        expect(this.#open).toBeUndefined();
        expect(effect.socket).toBe(++this.lastSocket);
        this.#open = effect.socket;
        this.#said = 0;
        this.#beatAt = -Infinity;
        break;
      case 'close':
        expect(effect.socket).toBe(this.#open);
        this.#open = undefined;
        this.#wanted = false;
        this.#owed.length = 0;
        break;
      case 'run':
        expect(this.running).toBeUndefined();
        expect(effect.job).toBe(++this.lastJob);
        this.running = effect.job;
        this.#wanted = true;
        break;
      case 'cancel':
        expect(effect.job).toBe(this.running);
        break;
      case 'send':
        expect(effect.socket).toBe(this.#open);
        this.#sent(effect.command, now);
        break;
      case 'note':
        // The latest one.
        if (effect.note.code === 'request-dropped') expect(this.#owed.pop()).toBeDefined();
        break;
      case 'ended':
        expect(this.#open).toBeUndefined();
        this.ended = true;
        break;
    }
    expect(this.#owed.length).toBeLessThanOrEqual(18);
  }

  #sent(command: Extract<PppWorkerEffect, { kind: 'send' }>['command'], now: number): void {
    if (this.#said++ === 0) expect(command.kind).toBe('ready');
    if (command.kind === 'heartbeat') {
      expect(now - this.#beatAt).toBeGreaterThanOrEqual(OPTIONS.heartbeatIntervalMs);
      this.#beatAt = now;
    }
    if (command.kind !== 'reply') return;
    // In the order of the requests, under their own addresses.
    const owed = this.#owed.shift();
    expect(owed).toBeDefined();
    expect(command.addresses).toBe(owed?.addresses);
  }
}

function toEvent(one: Exclude<Act, { act: 'wait' }>, witness: Witness): PppWorkerEvent {
  switch (one.act) {
    case 'command':
      return { kind: 'message', socket: witness.lastSocket - one.ago, command: one.command };
    case 'rejected':
      return { kind: 'rejected', socket: witness.lastSocket - one.ago, reason: 'too-large' };
    case 'lost':
      return { kind: 'lost', socket: witness.lastSocket - one.ago, reason: 'undeliverable' };
    case 'final':
      return { kind: 'final', job: witness.lastJob - one.ago, body: [frame('r')] };
    case 'failed':
      return { kind: 'failed', job: witness.lastJob - one.ago };
    case 'drain':
    case 'close':
      return { kind: one.act };
  }
}

it('survives any order of events: READY first, one handler at a time, each request answered once, in order, by its addresses', () => {
  fc.assert(
    fc.property(options, fc.array(act, { maxLength: 120 }), (given, acts) => {
      const session = new PppWorkerSession({ ...OPTIONS, ...given }, () => 0.5);
      const witness = new Witness();
      const rig = {
        now: 0,
        step(event: Parameters<PppWorkerSession['step']>[0]): void {
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
