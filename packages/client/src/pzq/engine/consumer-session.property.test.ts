import { fromLatin1, latin1 } from '@proj/frames';
import { decodePzqAtConsumer } from '@proj/frames/pzq';
import { arbitraries, passTime } from '@proj/testkit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PzqConsumerSession } from './consumer-session.js';
import type { PzqConsumerEffect, PzqConsumerEvent, PzqHanded, PzqVerdict } from './consumer-events.js';

const PREFETCH = 3;
const LEASE_MS = 100;
const PEER = { key: 'Q', id: fromLatin1('Q') };

/** Follows the effects like a socket and readers, and fails on any that neither could carry out. */
class World {
  readonly session: PzqConsumerSession;
  now = 0;
  readers = 0;
  paused = false;
  drained = 0;
  draining = false;
  /** Handed out and not settled. */
  readonly out = new Set<PzqHanded>();
  readonly acknowledged = new Set<string>();
  /** What was sent to the queue, such as `+key`. */
  readonly said: string[] = [];

  constructor() {
    const options = { prefetch: PREFETCH, dropExpired: true, dedupeMax: 1000 };
    this.session = new PzqConsumerSession(options, () => 1e15 + this.now * 1000);
  }

  deliver(key: string, agoMs: number): void {
    // A paused socket lets at most one through; here none, so that the bound is exact.
    if (this.paused) return;
    const sent = (1e15 + (this.now - agoMs) * 1000).toString();
    const message = decodePzqAtConsumer([key, sent, `${LEASE_MS * 1000}`, '', 'x'].map(fromLatin1));
    this.step({ kind: 'message', peer: PEER, message });
  }

  demand(): void {
    if (this.draining) return;
    this.readers++;
    this.step({ kind: 'demand' });
  }

  waive(): void {
    if (this.readers === 0) return;
    this.readers--;
    this.step({ kind: 'waive' });
  }

  settle(pick: number, verdict: PzqVerdict): void {
    const handed = [...this.out][pick % Math.max(this.out.size, 1)];
    if (handed === undefined) return;
    this.out.delete(handed);
    if (verdict === 'ack') this.acknowledged.add(keyOf(handed));
    const before = this.said.length;
    this.step({ kind: 'settle', handed, verdict });
    if (verdict === 'ack') expect(this.said[before]).toBe(`+${keyOf(handed)}`);
  }

  advance(ms: number): void {
    passTime(this, this.session, ms);
  }

  end(kind: 'drain' | 'close'): void {
    this.draining = true;
    this.readers = 0;
    this.step({ kind });
  }

  step(event: PzqConsumerEvent | { kind: 'timer'; lateMs: number }): void {
    for (const effect of this.session.step(event, this.now)) this.#perform(effect);
    this.session.assertInvariants();
    const { waiting, unsettled } = this.session.stats;
    expect(waiting + unsettled).toBeLessThanOrEqual(PREFETCH);
    expect(this.paused).toBe(this.draining || waiting + unsettled === PREFETCH);
  }

  #perform(effect: PzqConsumerEffect): void {
    switch (effect.kind) {
      case 'hand': {
        expect(--this.readers).toBeGreaterThanOrEqual(0);
        expect(this.acknowledged).not.toContain(keyOf(effect.handed));
        this.out.add(effect.handed);
        break;
      }
      case 'send': {
        const { kind } = effect.command;
        const key = latin1(effect.command.key);
        this.said.push(kind === 'lease-extension' ? key : `${effect.command.positive ? '+' : '-'}${key}`);
        // A message that is acknowledged without a reader was acknowledged before.
        if (kind === 'consumer-ack' && effect.command.positive) expect(this.acknowledged).toContain(key);
        break;
      }
      case 'pause':
      case 'resume':
        expect(this.paused).toBe(effect.kind === 'resume');
        this.paused = effect.kind === 'pause';
        break;
      case 'drained':
        expect(++this.drained).toBe(1);
        expect(this.draining).toBe(true);
        break;
      case 'clock-skew':
      case 'note':
        break;
    }
  }
}

const keyOf = (handed: PzqHanded): string => latin1(handed.delivery.key);

type Action = (world: World) => void;
const pick = fc.nat({ max: 9 });
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fc.constantFrom(...'abcdefgh'.split('')), fc.constantFrom(0, 0, 0, 50, 200)).map(
      ([key, agoMs]): Action =>
        (world) =>
          world.deliver(key, agoMs),
    ),
  },
  { weight: 4, arbitrary: fc.constant<Action>((world) => world.demand()) },
  fc.constant<Action>((world) => world.waive()),
  {
    weight: 4,
    arbitrary: fc.tuple(pick, fc.constantFrom('ack' as const, 'ack' as const, 'nack' as const, 'leave' as const)).map(
      ([which, verdict]): Action =>
        (world) =>
          world.settle(which, verdict),
    ),
  },
  pick.map((which): Action => {
    return (world) => {
      const handed = [...world.out][which % Math.max(world.out.size, 1)];
      if (handed !== undefined) world.step({ kind: 'extend', handed });
    };
  }),
  {
    weight: 3,
    arbitrary: fc.nat({ max: 150 }).map(
      (ms): Action =>
        (world) =>
          world.advance(ms),
    ),
  },
  arbitraries.message(3).map((frames): Action => {
    const message = decodePzqAtConsumer(frames);
    return (world) => world.step({ kind: 'message', peer: PEER, message });
  }),
);

it('rule 24: whatever happens, the bound holds, readers get each message once, and no acknowledged one again', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 100 }), fc.constantFrom('drain', 'close'), (actions, end) => {
      const world = new World();
      for (const act of actions) act(world);
      world.end(end);
      world.advance(10 * LEASE_MS);
      expect(world.drained).toBe(1);
      expect(world.session.stats.unsettled).toBe(0);
      if (end === 'drain') world.end('close');
      expect(world.session.stats.waiting).toBe(0);
      expect(world.session.deadline).toBe(Infinity);
    }),
    { numRuns: 1000 },
  );
});
