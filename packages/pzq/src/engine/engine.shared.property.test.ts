import { latin1 } from '@proj/frames';
import { decodePzqKey } from '@proj/frames/pzq';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PlainStore } from '../../test/plain-store.js';
import { QueueUnderTest } from '../../test/queue-under-test.js';

type Action =
  | { readonly do: 'produce' | 'accept'; readonly who: number; readonly count: number }
  | { readonly do: 'ack' | 'nack'; readonly who: number; readonly to: number; readonly which: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'fail'; readonly failing: boolean }
  | { readonly do: 'crash'; readonly who: number };

const who = fc.nat({ max: 1 });
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('produce' as const), who, count: fc.integer({ min: 1, max: 9 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('accept' as const), who, count: fc.integer({ min: 1, max: 9 }) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('ack' as const, 'ack' as const, 'nack' as const),
      who,
      to: who,
      which: fc.nat({ max: 9 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(10, 60, 300, 1200, 3500) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), failing: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const), who }) },
);

/** Two servers on one store, each with its producers and consumers. */
class World {
  readonly store = new PlainStore();
  readonly servers = [0, 1].map(() => new QueueUnderTest({ maxInFlight: 5 }, { shared: true, store: this.store }));
  /** Acknowledged `1` and not settled by a consumer. */
  readonly owed = new Set<string>();
  readonly #settled = new Set<string>();
  #next = 0;

  perform(act: Action): void {
    switch (act.do) {
      case 'produce':
        for (let i = 0; i < act.count; i++) this.#produce(this.server(act.who));
        break;
      case 'accept':
        this.server(act.who).accept(act.count);
        break;
      case 'ack':
      case 'nack': {
        const { deliveries } = this.server(act.who);
        const delivery = deliveries[deliveries.length - 1 - act.which];
        // The answer may reach the other server.
        if (delivery !== undefined) this.answer(delivery.command, act.do === 'ack', act.to);
        break;
      }
      case 'wait':
        this.wait(act.ms);
        break;
      case 'fail':
        this.store.failing = act.failing ? '57P01' : undefined;
        break;
      case 'crash':
        this.server(act.who).restart();
    }
    const stored = new Set([...this.store.rows.values()].map(({ message }) => latin1(message.body[0]!)));
    for (const id of this.owed) if (!stored.has(id)) throw new Error(`${id} was acknowledged, and is lost`);
  }

  server(index: number): QueueUnderTest {
    return this.servers[index]!;
  }

  /** Time passes for both, in small steps. */
  wait(ms: number): void {
    for (let passed = 0; passed < ms; passed += 10) for (const server of this.servers) server.advance(10);
  }

  answer(
    { key, body }: { readonly key: Uint8Array; readonly body: readonly Uint8Array[] },
    positive: boolean,
    to: number,
  ): void {
    if (positive) this.#settle(latin1(body[0]!));
    this.server(to).consumer({ kind: 'consumer-ack', key, positive });
  }

  /** The faults are over: consumers of both take all messages and acknowledge them. */
  settle(): void {
    this.store.failing = undefined;
    this.wait(1000);
    for (let round = 0; round < 300 && this.store.counts.messages > 0; round++) {
      for (const [index, server] of this.servers.entries()) {
        const before = server.deliveries.length;
        server.accept(3);
        for (const { command } of server.deliveries.slice(before)) this.answer(command, true, index);
        server.room = 0;
      }
      this.wait(100);
    }
  }

  #produce(server: QueueUnderTest): void {
    const id = `${this.#next++}`;
    if (server.produce('p', id, id).includes(`-> p "${id}" 1`) && !this.#settled.has(id)) this.owed.add(id);
  }

  #settle(id: string): void {
    this.#settled.add(id);
    this.owed.delete(id);
  }
}

it('rule 30: two servers lose nothing, and together empty the store when the faults are over', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60, size: 'max' }), (actions) => {
      const world = new World();
      for (const each of actions) world.perform(each);
      world.settle();
      expect([world.store.counts.messages, [...world.owed]]).toEqual([0, []]);
    }),
    { numRuns: 60 },
  );
});

it('rule 30: without failures no message is delivered twice before its lease is over', () => {
  const calm = action.filter(
    (act) => act.do === 'produce' || act.do === 'accept' || act.do === 'ack' || act.do === 'wait',
  );
  fc.assert(
    fc.property(fc.array(calm, { maxLength: 40, size: 'max' }), (actions) => {
      const world = new World();
      let passed = 0;
      for (const each of actions) {
        if (each.do === 'wait' && (passed += Math.min(each.ms, 60)) >= 1000) break;
        world.perform(each.do === 'wait' ? { do: 'wait', ms: Math.min(each.ms, 60) } : each);
      }
      const seqs = world.servers.flatMap(({ deliveries }) =>
        deliveries.map(({ command }) => decodePzqKey(command.key)!.seq),
      );
      expect(seqs).toEqual([...new Set(seqs)]);
    }),
    { numRuns: 100 },
  );
});
