import { beforeEach, describe, expect, it } from 'vitest';
import { PlainStore } from '../../test/plain-store.js';
import { QueueUnderTest } from '../../test/queue-under-test.js';

let store: PlainStore;
let one: QueueUnderTest;
let two: QueueUnderTest;
beforeEach(() => {
  store = new PlainStore();
  one = new QueueUnderTest({}, { shared: true, store });
  two = new QueueUnderTest({}, { shared: true, store });
});

/** Time passes for both servers, in small steps. */
function wait(ms: number): void {
  for (let passed = 0; passed < ms; passed += 10) {
    one.advance(10);
    two.advance(10);
  }
}

function fill(count: number): void {
  for (let n = 1; n <= count; n++) one.produce('p', `${n}`, `${n}`);
}

const numbers = (server: QueueUnderTest) => server.delivered.map(Number);

describe('rules 25 and 30: a store that several servers share', () => {
  it('rule 30: one server delivers what another has stored', () => {
    fill(3);
    two.accept(3);
    wait(600);
    expect(numbers(two).sort()).toEqual([1, 2, 3]);
  });

  it('rule 30: no message is with two servers at a time', () => {
    fill(40);
    one.accept(15);
    two.accept(15);
    wait(500);
    expect([one.delivered.length, two.delivered.length]).toEqual([15, 15]);
    expect(new Set([...numbers(one), ...numbers(two)]).size).toBe(30);
  });

  it('rule 30: a server takes more at a time while its consumers take them, up to takeMax', () => {
    fill(40);
    one.advance(400);
    one.storeHeld = true;
    one.accept(50);
    const limits: number[] = [];
    for (let n = 0; n < 4; n++) {
      one.advance(250);
      limits.push(...one.asked.map((effect) => (effect.kind === 'take' ? effect.limit : 0)));
      one.answerStore();
    }
    expect(limits).toEqual([1, 2, 8, 8]);
  });

  it('rule 30: messages that no consumer takes go back at once, and stay in the store most of the time', () => {
    fill(3);
    const held = () => 3 - [...store.rows.values()].filter(({ leasedUntil }) => leasedUntil <= one.now).length;
    one.advance(1000);
    let heldMs = 0;
    for (let ms = 0; ms < 7000; ms++, one.advance(1)) heldMs += held();
    // One message for 100 ms, then nothing for 250.
    expect(heldMs).toBe(2000);
  });

  it('rule 30: an empty store is queried every 250 ms at most', () => {
    one.advance(1000);
    expect(one.engine.deadline - one.now).toBeLessThanOrEqual(250);
    let asked = 0;
    for (const until = one.now + 1000; one.engine.deadline <= until; asked++)
      one.advance(one.engine.deadline - one.now);
    expect(asked).toBe(4);
  });

  it('rule 30: messages of a dead server return after their leases', () => {
    fill(3);
    one.accept(3);
    wait(50);
    expect(one.delivered).toHaveLength(3);
    two.accept(5);
    for (let passed = 0; passed < 2900; passed += 10) two.advance(10);
    expect(numbers(two)).toEqual([]);
    two.advance(500);
    expect(numbers(two)).toEqual([1, 2, 3]);
  });

  it('rule 30: a negative acknowledgement and a timeout return the message to the store', () => {
    fill(2);
    one.accept(2);
    wait(50);
    one.nack(1);
    two.accept(1);
    wait(600);
    expect([numbers(one), numbers(two)]).toEqual([[1, 2], [1]]);
    wait(1000);
    two.accept(1);
    wait(600);
    expect(numbers(two)).toEqual([1, 2]);
  });

  it('rule 15: an acknowledgement may reach another server than the one that delivered', () => {
    fill(2);
    one.accept(2);
    wait(50);
    two.consumer({ kind: 'consumer-ack', key: one.keyOf(1), positive: true });
    two.consumer({ kind: 'consumer-ack', key: one.keyOf(2), positive: false });
    expect([...store.rows.keys()]).toEqual([2]);
    two.accept(1);
    wait(600);
    expect(numbers(two)).toEqual([2]);
  });

  it('rule 25: an extension also renews the lease in the store', () => {
    one = new QueueUnderTest({ extendLease: true }, { shared: true, store });
    fill(1);
    one.accept(1);
    one.storeHeld = true;
    one.extend(1);
    expect(one.asked).toEqual([{ kind: 'extend', seqs: [1], leaseMs: 3000 }]);
  });

  it('rule 30: no message is taken while in-flight messages are at their bound', () => {
    one = new QueueUnderTest({ maxInFlight: 2 }, { shared: true, store });
    fill(5);
    one.accept(5);
    one.advance(300);
    expect(one.delivered).toHaveLength(2);
    expect(store.take(9, 1000, 0, one.now).map(({ seq }) => seq)).toEqual([3, 4, 5]);
  });

  it('rule 30: an unreachable database is retried; messages held here stay', () => {
    one.storeHeld = true;
    one.advance(5);
    one.takeAsked('take');
    expect(one.step({ kind: 'take-failed', code: '57P01' })).toEqual(['note read-failed 57P01']);
    one.storeHeld = false;
    two.produce('p', 'a', '1');
    two.block();
    one.accept(1);
    one.advance(300);
    expect(numbers(one)).toEqual([1]);
  });

  it('rule 19: a draining server returns undelivered messages', () => {
    fill(20);
    one.accept(9);
    wait(20);
    one.block();
    one.step({ kind: 'drain' });
    two.accept(20);
    wait(400);
    expect(new Set([...numbers(one), ...numbers(two)]).size).toBe(20);
  });

  it('rule 34: deliveries are counted in the store', () => {
    one = new QueueUnderTest({ maxDeliveries: 2 }, { shared: true, store });
    two = new QueueUnderTest({ maxDeliveries: 2 }, { shared: true, store });
    fill(1);
    one.accept(1);
    wait(50);
    one.nack(1);
    two.accept(1);
    wait(600);
    expect(two.ack(1, false)).toEqual(['dead-letter #1 max-deliveries']);
  });
});
