import { fromLatin1, latin1 } from '@proj/frames';
import { decodePzqAtReceive, decodePzqAtSend, decodePzqKey } from '@proj/frames/pzq';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Observer } from '../../test/observer.js';
import { peerNamed, QueueUnderTest } from '../../test/queue-under-test.js';
import type { PzqSettings } from '../options.js';

type Action =
  | {
      readonly do: 'produce';
      readonly who: string;
      readonly count: number;
      readonly size: number;
      readonly bad: boolean;
    }
  | { readonly do: 'accept'; readonly count: number }
  | { readonly do: 'answer'; readonly which: number; readonly how: 'ack' | 'nack' | 'extend' }
  | { readonly do: 'wait'; readonly ms: number; readonly late: boolean }
  | { readonly do: 'store'; readonly held: boolean; readonly failing: string | undefined }
  | { readonly do: 'answer-store'; readonly count: number }
  | { readonly do: 'crash'; readonly written: boolean }
  | { readonly do: 'dead'; readonly how: 'revive' | 'discard' };

const settings: fc.Arbitrary<Partial<PzqSettings>> = fc.record({
  ackTimeoutMs: fc.constantFrom(100, 1000),
  maxMessages: fc.constantFrom(0, 0, 30),
  maxInFlight: fc.constantFrom(1, 5, 100),
  maxInFlightBytes: fc.constantFrom(100, 10_000),
  batchMax: fc.constantFrom(1, 3, 10),
  windowMax: fc.constantFrom(1, 4, 20),
  windowMaxBytes: fc.constantFrom(50, 5000),
  intakeMax: fc.constantFrom(3, 100),
  producerIntakeMax: fc.constantFrom(2, 100),
  maxDeliveries: fc.constantFrom(0, 0, 2),
  deadLettersMax: fc.constantFrom(2, 100),
  deadLetterSend: fc.boolean(),
  delayMs: fc.constantFrom(0, 0, 0, 300),
  nackDelayMs: fc.constantFrom(0, 0, 50),
  nackDelayMaxMs: fc.constant(150),
  extendLease: fc.boolean(),
});

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record({
      do: fc.constant('produce' as const),
      who: fc.constantFrom('p1', 'p2', 'p3'),
      count: fc.integer({ min: 1, max: 12 }),
      size: fc.constantFrom(0, 10, 90),
      bad: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    }),
  },
  { weight: 20, arbitrary: fc.record({ do: fc.constant('accept' as const), count: fc.integer({ min: 1, max: 9 }) }) },
  {
    weight: 40,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      which: fc.nat({ max: 1000 }),
      how: fc.constantFrom('ack' as const, 'ack' as const, 'nack' as const, 'extend' as const),
    }),
  },
  {
    weight: 25,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(0, 10, 60, 150, 400, 1200),
      late: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('store' as const),
      held: fc.boolean(),
      failing: fc.constantFrom(undefined, undefined, 'ENOSPC'),
    }),
  },
  {
    weight: 20,
    arbitrary: fc.record({ do: fc.constant('answer-store' as const), count: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('crash' as const), written: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('dead' as const),
      how: fc.constantFrom('revive' as const, 'revive' as const, 'discard' as const),
    }),
  },
);

/** A queue with its observer, to which producers and consumers do what the actions say. */
class World {
  readonly queue: QueueUnderTest;
  readonly observer: Observer;
  readonly #orderly: boolean;
  #revived = false;
  #next = 0;

  constructor(options: Partial<PzqSettings>) {
    this.queue = new QueueUnderTest(options);
    this.observer = new Observer(this.queue);
    this.#orderly = this.queue.settings.delayMs === 0;
  }

  see(lines: readonly string[]): void {
    this.observer.observe(lines, this.#orderly && !this.#revived);
    expect(this.queue.stats.storeState).not.toBe('corrupt');
  }

  perform(act: Action): void {
    const { queue } = this;
    switch (act.do) {
      case 'produce':
        for (let i = 0; i < act.count; i++) this.#produce(act);
        break;
      case 'accept':
        this.see(queue.accept(act.count));
        break;
      case 'answer':
        this.#answer(act.which, act.how);
        break;
      case 'wait':
        this.see(act.late ? queue.stall(act.ms) : queue.advance(act.ms));
        break;
      case 'store':
        queue.store.failing = act.failing;
        queue.storeHeld = act.held;
        if (!act.held) this.see(queue.answerStore());
        break;
      case 'answer-store':
        this.see(queue.answerStore(act.count));
        break;
      case 'crash':
        this.#crash(act.written);
        break;
      case 'dead':
        this.#onDead(act.how);
    }
  }

  /** The faults are over: all peers work until nothing is left to do. */
  settle(): void {
    const { queue } = this;
    queue.store.failing = undefined;
    queue.storeHeld = false;
    this.see(queue.answerStore());
    this.see(queue.advance(1000));
    for (let round = 0; round < 2000 && queue.store.counts.messages > 0; round++) {
      const before = queue.deliveries.length;
      this.see(queue.accept(5));
      for (const { command } of queue.deliveries.slice(before)) this.#settle(command.key, latin1(command.body[0]!));
      queue.room = 0;
      this.see(queue.advance(100));
    }
  }

  #produce({ who, size, bad }: Action & { do: 'produce' }): void {
    const id = `${this.#next++}`.padEnd(size, '.');
    const stalled = this.queue.stats.counters.dropped['producer-stalled'];
    this.observer.onProduce(who, id);
    const lines = this.queue.produceFrames(who, bad ? [id, ''] : [id, '', id]);
    if (this.queue.stats.counters.dropped['producer-stalled'] > stalled) this.observer.onDropped(who);
    this.see(lines);
  }

  #answer(which: number, how: 'ack' | 'nack' | 'extend'): void {
    const { deliveries } = this.queue;
    if (deliveries.length === 0) return;
    // Mostly recent deliveries.
    const { command, outlet } = deliveries[Math.max(0, deliveries.length - 1 - (which % 12))]!;
    if (how === 'extend') this.see(this.queue.consumer({ kind: 'lease-extension', key: command.key }, outlet));
    else if (how === 'ack') this.#settle(command.key, latin1(command.body[0]!));
    else this.see(this.queue.consumer({ kind: 'consumer-ack', key: command.key, positive: false }, outlet));
  }

  #settle(key: Uint8Array, id: string): void {
    this.observer.onSettle(id);
    this.see(this.queue.consumer({ kind: 'consumer-ack', key, positive: true }));
  }

  #crash(written: boolean): void {
    const { queue } = this;
    const commit = queue.asked.find(({ kind }) => kind === 'commit');
    if (written && commit?.kind === 'commit' && queue.store.failing === undefined) queue.store.commit(commit.batch);
    this.observer.onCrash();
    this.see(queue.restart());
  }

  #onDead(how: 'revive' | 'discard'): void {
    const letters = this.queue.store.dead(0, 2, 1000);
    const seqs = letters.map(({ seq }) => seq);
    this.#revived = true;
    if (how === 'revive') {
      this.see(this.queue.step({ kind: 'revive', id: 1, seqs }));
      return;
    }
    // Only if it is written at once: a failed one leaves them to come again.
    if (this.queue.storeHeld || this.queue.store.failing !== undefined || this.queue.stats.storeState !== 'ok') return;
    for (const { body } of letters) this.observer.onSettle(latin1(body[0]!));
    this.see(this.queue.step({ kind: 'discard', id: 2, letters }));
  }
}

it('loses nothing, repeats no settled message, answers in order, keeps its bounds', () => {
  fc.assert(
    fc.property(settings, fc.array(action, { maxLength: 120, size: 'max' }), (options, actions) => {
      const world = new World(options);
      for (const each of actions) world.perform(each);
    }),
    { numRuns: 250 },
  );
});

it('comes to rest: when the faults are over everything is delivered and the queue is empty', () => {
  fc.assert(
    fc.property(settings, fc.array(action, { maxLength: 80, size: 'max' }), (options, actions) => {
      const world = new World({ ...options, deadLetterSend: false });
      for (const each of actions) world.perform(each);
      world.settle();
      world.queue.advance(60_000);
      expect(world.queue.store.counts.messages).toBe(0);
      const dead = world.queue.store.dead(0, 1000, 1e6).map(({ body }) => latin1(body[0]!));
      expect([...world.observer.owed].filter((id) => !dead.includes(id))).toEqual([]);
      expect(world.queue.stats).toMatchObject({ inFlight: 0, window: 0, producerAcksPending: 0 });
      expect(world.queue.engine.deadline).toBe(Infinity);
    }),
    { numRuns: 120 },
  );
});

it('is deterministic: equal events give equal effects', () => {
  fc.assert(
    fc.property(settings, fc.array(action, { maxLength: 60, size: 'max' }), (options, actions) => {
      const [one, two] = [new World(options), new World(options)];
      for (const each of actions) one.perform(each);
      for (const each of actions) two.perform(each);
      expect(one.queue.stats).toEqual(two.queue.stats);
      expect(one.queue.delivered).toEqual(two.queue.delivered);
    }),
    { numRuns: 50 },
  );
});

it('survives any frames from any peer', () => {
  const word = fc.oneof(
    fc.constantFrom('', '1', '0', 'MONITOR', 'PZQ-DELAY-MS:1', 'PZQ-TTL-MS:x', 'REPLICA:'),
    fc.uint8Array({ maxLength: 60 }).map(latin1),
  );
  const frames = fc.array(word, { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), frames), { maxLength: 60, size: 'max' }), (said) => {
      const queue = new QueueUnderTest({ headers: true, extendLease: true });
      queue.room = 20;
      for (const [produces, message] of said) {
        const bytes = message.map(fromLatin1);
        queue.now++;
        if (produces) {
          const command = decodePzqAtReceive(bytes);
          queue.step({ kind: 'produce', peer: peerNamed('p'), command, acksWaiting: 0 });
        } else queue.consumer(decodePzqAtSend(bytes));
        const last = queue.deliveries.at(-1)?.command.key;
        if (last !== undefined && decodePzqKey(last) !== undefined)
          queue.consumer(decodePzqAtSend([last, ...bytes.slice(0, 1)]));
      }
    }),
    { numRuns: 300 },
  );
});
