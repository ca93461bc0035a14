/** Rules 40 to 42: an operator's actions on a queue and its consumers. */
import { beforeEach, describe, expect, it } from 'vitest';
import { PlainStore } from '../../test/plain-store.js';
import { peerNamed, QueueUnderTest } from '../../test/queue-under-test.js';

let queue: QueueUnderTest;
beforeEach(() => {
  queue = new QueueUnderTest();
});

const fill = (count: number, from = 1) => {
  for (let n = from; n < from + count; n++) queue.produce('p', `${n}`, `${n}`);
};
const pause = (isPaused: boolean) => queue.step({ kind: 'pause', isPaused });
const purge = (id = 1) => queue.step({ kind: 'purge', id });
const service = () => queue.engine.detail('orders', queue.now).services[0];

describe('a paused queue', () => {
  it('rule 40: accepts messages from producers, and delivers none until it is resumed', () => {
    pause(true);
    queue.accept(5);
    expect(queue.produce('p', 'a', 'x')).toEqual(['-> p "a" 1']);
    queue.advance(5000);
    expect(queue.delivered).toEqual([]);
    expect(service()).toMatchObject({ waiting: 1, isPaused: true });
    expect(pause(false)).toEqual(['-> #1 "x"']);
    expect(service()).not.toHaveProperty('isPaused');
  });

  it('rule 40: accepts acknowledgements, and keeps what comes back', () => {
    fill(2);
    queue.accept(2);
    pause(true);
    queue.accept(5);
    queue.ack(1);
    queue.nack(2);
    expect(queue.delivered).toEqual(['1', '2']);
    expect(queue.stats).toMatchObject({ messages: 1, inFlight: 0 });
    pause(false);
    expect(queue.delivered).toEqual(['1', '2', '2']);
  });

  it('rule 40: leaves messages of a shared store to other servers', () => {
    const store = new PlainStore();
    const one = new QueueUnderTest({}, { shared: true, store });
    const two = new QueueUnderTest({}, { shared: true, store });
    one.produce('p', 'a', 'x');
    one.step({ kind: 'pause', isPaused: true });
    one.accept(1);
    two.accept(1);
    for (let passed = 0; passed < 600; passed += 10) for (const server of [one, two]) server.advance(10);
    expect([one.delivered, two.delivered]).toEqual([[], ['x']]);
  });
});

describe('a purge', () => {
  it('rule 41: removes what is ready, in memory and on disk, and reports how many once that is on disk', () => {
    fill(95); // the window holds 20
    queue.accept(3);
    // One more is offered: it is removed if no consumer takes it.
    expect(purge()).toEqual([]);
    expect(queue.stats).toMatchObject({ messages: 4, inFlight: 3 });
    expect(queue.step({ kind: 'blocked', outlet: 'queue' })).toEqual(['done 1 92']);
    expect([...queue.store.rows.keys()]).toEqual([1, 2, 3]);
    expect(queue.stats.counters.purged).toBe(92);
    expect(service()?.outcomes).toEqual({ purged: 92 });
  });

  it('rule 41: leaves the message whose offer a consumer takes meanwhile', () => {
    fill(2);
    expect(purge()).toEqual([]);
    expect(queue.accept(1)).toContain('done 1 1');
    expect(queue.stats).toMatchObject({ messages: 1, ready: 0, inFlight: 1 });
  });

  it('rule 41: leaves what is delayed, and what comes later', () => {
    queue = new QueueUnderTest({ headers: true });
    queue.produceFrames('p', ['a', 'PZQ-DELAY-MS:100', '', 'late']);
    pause(true);
    fill(2);
    queue.storeHeld = true;
    purge();
    fill(1, 3);
    queue.storeHeld = false;
    expect(queue.answerStore()).toContain('done 1 2');
    pause(false);
    queue.accept(2);
    queue.advance(100);
    expect(queue.delivered).toEqual(['3', 'late']);
  });

  it('rule 41: ends at once if nothing is ready, and two count as one', () => {
    expect(purge()).toEqual(['done 1 0']);
    pause(true);
    fill(50);
    queue.storeHeld = true;
    purge(2);
    purge(3);
    queue.storeHeld = false;
    expect(queue.answerStore().filter((line) => line.startsWith('done'))).toEqual(['done 2 50', 'done 3 50']);
  });

  it("rule 41: fails with the store's error code, and ends with the server", () => {
    pause(true);
    fill(5);
    queue.store.failing = 'ENOSPC';
    expect(purge()).toContain('done 1 ENOSPC');
    queue.store.failing = undefined;
    queue.advance(1000);
    expect(queue.stats.messages).toBe(0);
    fill(50, 10);
    queue.storeHeld = true;
    purge(2);
    expect(queue.step({ kind: 'drain' })).not.toContain('done 2 CLOSED');
    expect(queue.advance(2000).join()).toContain('done 2 CLOSED');
  });

  it('rule 41: removes what is ready from a shared store, paused or not', () => {
    queue = new QueueUnderTest({}, { shared: true });
    pause(true);
    fill(40);
    purge();
    queue.advance(3000);
    expect(queue.stats.counters.purged).toBe(40);
    expect(queue.store.rows.size).toBe(0);
  });
});

describe('a purge of a paused server that shares its store', () => {
  it('rule 41: gives later messages to other servers as soon as it is over', () => {
    const store = new PlainStore();
    const one = new QueueUnderTest({}, { shared: true, store });
    const two = new QueueUnderTest({}, { shared: true, store });
    one.step({ kind: 'pause', isPaused: true });
    for (let n = 1; n <= 3; n++) one.produce('p', `${n}`, `${n}`);
    one.step({ kind: 'purge', id: 1 });
    one.advance(1);
    two.advance(1);
    two.produce('p', 'late', 'late');
    for (let passed = 0; passed < 500; passed += 10) one.advance(10);
    expect(one.stats.counters.purged).toBe(3);
    two.accept(1);
    for (let passed = 0; passed < 600; passed += 10) for (const server of [one, two]) server.advance(10);
    expect(two.delivered).toEqual(['late']);
  });
});

describe('a drained consumer', () => {
  it('rule 42: gets nothing more, and may still acknowledge', () => {
    for (const name of ['c1', 'c2']) queue.step({ kind: 'consumer-came', outlet: 'queue', peer: peerNamed(name) });
    expect(queue.engine.named('c1')).toBe(1);
    expect(queue.step({ kind: 'dismiss', consumer: 'c1' })).toEqual(['hold c1']);
    fill(1);
    queue.step({ kind: 'delivered', outlet: 'queue', peer: peerNamed('c1') });
    expect(queue.ack(1)).toEqual([]);
    expect(queue.stats.messages).toBe(0);
    expect(queue.engine.named('c3')).toBe(0);
  });
});
