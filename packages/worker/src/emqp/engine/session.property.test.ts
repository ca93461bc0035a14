import assert from 'node:assert/strict';
import { decodeEmqpAtWorker, encodeEmqp, encodeEmqpHeaders } from '@proj/frames/emqp';
import type { EmqpToWorker } from '@proj/frames/emqp';
import { arbitraries, passTime } from '@proj/testkit';
import fc from 'fast-check';
import { it } from 'vitest';
import { countingEntropy, frame, OPTIONS } from '../../../test/emqp/session-rig.js';
import type { EmqpJobManagerEffect, EmqpJobManagerEvent, EmqpRunOutcome } from './events.js';
import { EmqpJobManagerSession } from './session.js';
import type { EmqpJobManagerSessionOptions } from './session.js';

/** A step of a story; sockets are named by how long ago they were opened, so that most of them exist. */
type Act =
  | { readonly act: 'wait'; readonly ms: number; readonly late: boolean }
  | { readonly act: 'ack' }
  | { readonly act: 'command'; readonly ago: number; readonly command: EmqpToWorker }
  | { readonly act: 'rejected' | 'lost'; readonly ago: number }
  | { readonly act: 'unsent' }
  /** A process starts, ends, or finishes its run. */
  | { readonly act: 'up' | 'gone' | 'stray'; readonly slot: number }
  | { readonly act: 'ran'; readonly slot: number; readonly outcome: EmqpRunOutcome }
  | { readonly act: 'drain' | 'close' };

const command: fc.Arbitrary<EmqpToWorker> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'heartbeat', id: 'h', time: '' } as const) },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('request' as const),
      id: fc.constantFrom('a', 'b', 'uuid'),
      queue: fc.constant('default'),
      headers: fc
        .record({
          replyRequested: fc.boolean(),
          guarantee: fc.boolean(),
          retryCount: fc.integer({ min: 0, max: 2 }),
          timeoutSeconds: fc.integer({ min: 0, max: 1 }),
        })
        .map(encodeEmqpHeaders),
      body: fc.constant(frame('')),
    }),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('KBYE' as const, 'KBAI' as const)
      .map((word) => ({ kind: 'bye' as const, id: 'x', word })),
  },
  {
    weight: 2,
    arbitrary: arbitraries
      .mutated(arbitraries.emqpToWorker.map(encodeEmqp))
      .map((frames) => decodeEmqpAtWorker(frames)),
  },
  { weight: 1, arbitrary: arbitraries.message().map((frames) => decodeEmqpAtWorker(frames)) },
);
const ago = fc.integer({ min: 0, max: 2 });
const slot = fc.integer({ min: 0, max: 2 });
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record({ act: fc.constant('wait'), ms: fc.integer({ min: 0, max: 400 }), late: fc.boolean() }),
  },
  { weight: 25, arbitrary: fc.record({ act: fc.constant('ack') }) },
  { weight: 70, arbitrary: fc.record({ act: fc.constant('command'), ago, command }) },
  {
    weight: 40,
    arbitrary: fc.record({ act: fc.constant('ran'), slot, outcome: fc.constantFrom('done', 'failed', 'refused') }),
  },
  { weight: 30, arbitrary: fc.record({ act: fc.constantFrom('up', 'up', 'up', 'gone', 'stray'), slot }) },
  { weight: 6, arbitrary: fc.record({ act: fc.constantFrom('rejected', 'lost'), ago }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('unsent') }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('drain', 'drain', 'close') }) },
);
const options: fc.Arbitrary<Partial<EmqpJobManagerSessionOptions>> = fc.record({
  endpoints: fc.constantFrom(['tcp://a:1'], ['tcp://a:1', 'tcp://b:1']),
  globalTimeoutMs: fc.constantFrom(0, 120),
  maxJobsPerProcess: fc.constantFrom(0, 2),
  killGraceMs: fc.constantFrom(150, 5000),
  onDisconnect: fc.constantFrom('stop', 'reconnect'),
});

/** A process as the host sees it. `killed`: it will end; `worn`: it will end in a moment. */
interface Process {
  isUp: boolean;
  job: number | undefined;
  fate: 'lives' | 'killed' | 'worn';
}

/** What must hold for the effects alone, whatever came in: a small model of the wire and of the processes. */
class Witness {
  readonly processes: Process[] = Array.from({ length: OPTIONS.concurrency }, () => ({
    isUp: false,
    job: undefined,
    fate: 'lives',
  }));
  lastSocket = 0;
  inform = '';
  ended = false;
  lastReply: Extract<EmqpJobManagerEvent, { kind: 'unsent' }>['reply'] | undefined;
  readonly #open = new Set<number>();
  /** READYs on the current connection that no request has used up. */
  #ready = 0;
  #isRegistered = false;
  #saidBye = false;
  /** Accepted requests, and how often each was answered or has started. */
  readonly #owed = new Map<string, number>();

  event(event: EmqpJobManagerEvent): void {
    if (event.kind !== 'message' || event.socket !== this.lastSocket || !this.#open.has(event.socket)) return;
    if (event.command.kind === 'ack' && event.command.of === this.inform) this.#isRegistered = true;
    if (event.command.kind === 'request') {
      this.#ready = Math.max(0, this.#ready - 1);
      this.#owed.set(event.command.id, (this.#owed.get(event.command.id) ?? 0) + 1);
    }
  }

  effect(effect: EmqpJobManagerEffect): void {
    assert.ok(!this.ended);
    switch (effect.kind) {
      case 'open':
        assert.equal(effect.socket, ++this.lastSocket);
        this.#open.add(effect.socket);
        this.#ready = 0;
        this.#isRegistered = this.#saidBye = false;
        break;
      case 'close':
        assert.ok(this.#open.delete(effect.socket));
        break;
      case 'send':
        assert.ok(this.#open.has(effect.socket));
        this.#sent(effect.socket, effect.command);
        break;
      case 'run': {
        const process = this.processes[effect.slot]!;
        assert.ok(process.isUp && process.job === undefined && process.fate === 'lives');
        assert.ok(effect.job.run >= 1 && effect.job.run <= 3);
        process.job = effect.job.number;
        break;
      }
      case 'kill':
        assert.ok(this.processes[effect.slot]!.job !== undefined);
        this.processes[effect.slot]!.fate = 'killed';
        break;
      case 'recycle':
        assert.ok(this.processes[effect.slot]!.job === undefined);
        this.processes[effect.slot]!.fate = 'worn';
        break;
      case 'note':
        break;
      case 'ended':
        assert.equal(this.#open.size, 0);
        this.ended = true;
        break;
    }
  }

  #sent(socket: number, sent: Extract<EmqpJobManagerEffect, { kind: 'send' }>['command']): void {
    const isCurrent = socket === this.lastSocket;
    switch (sent.kind) {
      case 'inform-worker':
        this.inform = sent.id;
        break;
      case 'ready':
        assert.ok(isCurrent && this.#isRegistered && !this.#saidBye);
        // Never more than the processes that are up and idle.
        assert.ok(
          ++this.#ready <=
            this.processes.filter(({ isUp, job, fate }) => isUp && job === undefined && fate === 'lives').length,
        );
        break;
      case 'heartbeat':
        assert.ok(isCurrent && this.#isRegistered);
        break;
      case 'bye':
        this.#saidBye = true;
        break;
      case 'result': {
        const owed = this.#owed.get(sent.of!)!;
        assert.ok(owed > 0, 'a request was answered twice');
        this.#owed.set(sent.of!, owed - 1);
        this.lastReply = sent;
        break;
      }
    }
  }

  /** The reply was not sent after all. */
  unsent(id: string): void {
    this.#owed.set(id, this.#owed.get(id)! + 1);
    this.lastReply = undefined;
  }
}

function toEvents(one: Exclude<Act, { act: 'wait' }>, witness: Witness): EmqpJobManagerEvent[] {
  const process = 'slot' in one ? witness.processes[one.slot] : undefined;
  switch (one.act) {
    case 'ack':
      return [{ kind: 'message', socket: witness.lastSocket, command: { kind: 'ack', id: 'a', of: witness.inform } }];
    case 'command':
      return [{ kind: 'message', socket: witness.lastSocket - one.ago, command: one.command }];
    case 'rejected':
      return [{ kind: 'rejected', socket: witness.lastSocket - one.ago, reason: 'too-large' }];
    case 'lost':
      return [{ kind: 'lost', socket: witness.lastSocket - one.ago, reason: 'peer-gone' }];
    case 'unsent': {
      const reply = witness.lastReply;
      if (reply === undefined) return [];
      witness.unsent(reply.of!);
      return [{ kind: 'unsent', socket: witness.lastSocket, reply }];
    }
    case 'up':
      if (process === undefined || process.isUp) return [];
      Object.assign(process, { isUp: true, job: undefined, fate: 'lives' });
      return [{ kind: 'up', slot: one.slot }];
    case 'gone':
      if (process?.isUp !== true) return [];
      Object.assign(process, { isUp: false, job: undefined });
      return [{ kind: 'gone', slot: one.slot, reason: 'died' }];
    case 'ran': {
      if (process?.job === undefined) return [];
      const { job } = process;
      // A killed process may have ended before the signal came.
      if (process.fate === 'lives') process.job = undefined;
      return [{ kind: 'ran', slot: one.slot, job, outcome: one.outcome, result: frame('r') }];
    }
    case 'stray':
      return [{ kind: 'ran', slot: one.slot, job: 1_000_000, outcome: 'done', result: frame('r') }];
    case 'drain':
    case 'close':
      return [{ kind: one.act }];
  }
}

it('survives any order of events: INFORM first, no READY without an idle process, no job twice at a time, no answer twice', () => {
  fc.assert(
    fc.property(options, fc.array(act, { maxLength: 120 }), (given, acts) => {
      const session = new EmqpJobManagerSession(
        { ...OPTIONS, ...given },
        countingEntropy(() => 0.5),
      );
      const witness = new Witness();
      const rig = {
        now: 0,
        step(event: Parameters<EmqpJobManagerSession['step']>[0]): void {
          if (event.kind !== 'timer') witness.event(event);
          for (const effect of session.step(event, rig.now)) witness.effect(effect);
          session.assertInvariants();
          const { running, waiting, held } = session.stats;
          assert.ok(running + waiting + held <= OPTIONS.concurrency + OPTIONS.queueMax + 1);
        },
      };
      rig.step({ kind: 'start' });
      for (const one of acts) {
        if (one.act !== 'wait') for (const event of toEvents(one, witness)) rig.step(event);
        else if (one.late) rig.now += one.ms;
        else passTime(rig, session, one.ms);
        passTime(rig, session, 0);
      }
      rig.step({ kind: 'close' });
      for (const slot of witness.processes.keys())
        for (const event of toEvents({ act: 'gone', slot }, witness)) rig.step(event);
      assert.ok(witness.ended);
      assert.equal(session.deadline, Infinity);
    }),
    { numRuns: 3000 },
  );
});
